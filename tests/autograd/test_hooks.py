"""Hooks on gradients."""

import pytest

from minitorch_compile import ones, tensor


def leaf(*values):
    return tensor(list(values), requires_grad=True)


def test_a_hook_sees_the_complete_gradient_once():
    x = leaf(2.0)
    y = x * 3
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * y + y).backward()
    assert seen == [[13]]


def test_what_a_hook_returns_goes_on():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.backward()
    assert x.grad.tolist() == [30]


def test_a_hook_on_a_leaf_changes_what_is_accumulated():
    x = leaf(2.0)
    x.register_hook(lambda g: -g)
    (x * 3).backward()
    assert x.grad.tolist() == [-3]


def test_a_removed_hook_is_silent():
    x = leaf(2.0)
    handle = x.register_hook(lambda g: -g)
    handle.remove()
    handle.remove()
    (x * 3).backward()
    assert x.grad.tolist() == [3]


def test_what_a_hook_keeps_is_not_changed_later():
    x = leaf(2.0)
    kept = []
    x.register_hook(kept.append)
    (x * 3).backward()
    (x * 3).backward()
    assert [g.tolist() for g in kept] == [[3], [3]]


def test_retain_grad():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    (y * y).backward()
    assert y.grad.tolist() == [24]
    assert x.grad.tolist() == [72]


def test_a_retained_gradient_is_a_copy():
    a, b = leaf(2.0, 3.0) * 1, leaf(2.0, 3.0) * 1
    a.retain_grad()
    b.retain_grad()
    given = ones(2)
    (a + b).backward(given)
    a.grad.mul_(5)
    assert (a.grad.tolist(), b.grad.tolist(), given.tolist()) == ([5, 5], [1, 1], [1, 1])
    c = leaf(2.0, 3.0) * 1
    c.retain_grad()
    c.sum().backward()  # of which one number is the gradient of all
    assert c.grad.zero_().tolist() == [0, 0]


def test_after_accumulation():
    x = leaf(2.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 3).backward()
    (x * 4).backward()
    assert seen == [[3], [7]]


def test_tensors_that_do_not_require_grad_have_no_hooks():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        ones(1).register_hook(print)
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        ones(1).retain_grad()
    with pytest.raises(RuntimeError, match="non-leaf"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)
