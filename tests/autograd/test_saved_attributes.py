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
