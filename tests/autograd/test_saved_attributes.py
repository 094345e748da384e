"""What nodes keep, under PyTorch's names; and gradients of several rows at once."""

import pytest

import minitorch_compile as torch


def test_a_node_shows_what_it_keeps():
    x = torch.randn(3, requires_grad=True)
    product, exponential, total = x * x, x.exp(), x.sum(dim=0)
    assert product.grad_fn._saved_self is x
    assert product.grad_fn._saved_other is x
    torch.testing.assert_close(exponential.grad_fn._saved_result, exponential)
    assert (total.grad_fn._saved_dim, total.grad_fn._saved_keepdim) == (0, False)
    assert not hasattr(exponential.grad_fn, "_saved_self")
    assert not hasattr(exponential.grad_fn, "_anything")


def test_what_was_freed_is_gone():
    x = torch.ones(2, requires_grad=True)
    y = x * x
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time|already been freed"):
        _ = y.grad_fn._saved_self


def test_gradients_come_in_batches():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (rows,) = torch.autograd.grad(x * x, x, torch.eye(3), is_grads_batched=True)
    assert rows.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    with pytest.raises(RuntimeError, match="we interpret the first dimension of each grad_output as the batch"):
        torch.autograd.grad(x * x, x, torch.eye(4), is_grads_batched=True)


def test_hooks_of_one_saved_tensor():
    """As in PyTorch 2.13: packed at once, unpacked whenever it is read."""
    x, calls = torch.tensor([1.0, 2.0], requires_grad=True), []

    def pack(t):
        calls.append("pack")
        return t.clone()

    def unpack(t):
        calls.append("unpack")
        return t * 10

    y = x.pow(2)
    saved = y.grad_fn._raw_saved_self
    assert saved.register_hooks(pack, unpack) is None and calls == ["pack"]
    assert y.grad_fn._saved_self.tolist() == [10, 20] and calls == ["pack", "unpack"]
    with pytest.raises(RuntimeError, match="on a saved tensor whose hooks have already been set"):
        saved.register_hooks(pack, unpack)
    y.sum().backward()
    assert x.grad.tolist() == [20, 40] and calls == ["pack", "unpack", "unpack"]
    with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor after it has been freed"):
        saved.register_hooks(pack, unpack)


def test_hooks_of_a_saved_result_and_of_one_of_two_arguments():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t * 0)
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]
    product = x * x
    product.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t * 3)
    product.sum().backward()
    assert x.grad.tolist() == [4, 8]  # 3 x for the one, x for the other
    with torch.no_grad():
        z = x * 1
    w = (x + 0) * z
    w.grad_fn._raw_saved_other.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(AttributeError, match="'AddBackward0' object has no attribute '_raw_saved_self'"):
        (x + 1).grad_fn._raw_saved_self


def test_what_is_kept_is_listed():
    x = torch.tensor([1.0], requires_grad=True)
    assert [name for name in dir((x * x).grad_fn) if "saved" in name] == [
        "_raw_saved_other",
        "_raw_saved_self",
        "_saved_other",
        "_saved_self",
    ]
    assert [name for name in dir(x.exp().grad_fn) if "saved" in name] == ["_raw_saved_result", "_saved_result"]


def test_what_hooks_packed_is_unpacked_where_it_is_read():
    x = torch.tensor([2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.item(), torch.tensor):
        y, z = x.exp(), x.pow(2)
    assert y.grad_fn._saved_result.item() == y.item() and z.grad_fn._saved_self.item() == 2
