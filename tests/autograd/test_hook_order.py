"""When hooks run, with which gradient, and which tensor they belong to. The expectations are PyTorch 2.13's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.autograd.graph import register_multi_grad_hook


def leaf() -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def noting(log: list[Any], word: str, factor: float = 1) -> Callable[[Any], Any]:
    def hook(grad: Any) -> Any:
        log.append(word)
        return (grad[0] * factor,) if isinstance(grad, tuple) else grad * factor

    return hook


# ------------------------------------------------------------------------------------------ the order of kinds


def test_hooks_of_a_tensor_come_before_those_of_its_node() -> None:
    log: list[Any] = []
    x = leaf()
    y = x * 2
    y.grad_fn.register_prehook(noting(log, "node", 10))
    y.register_hook(noting(log, "tensor", 2))
    y.grad_fn.register_hook(lambda _into, _out: log.append("after"))
    y.retain_grad()
    y.register_hook(noting(log, "tensor too"))
    y.sum().backward()
    assert log == ["tensor", "tensor too", "node", "after"]
    assert (y.grad.tolist(), x.grad.tolist()) == ([2, 2], [40, 40])


def test_hooks_around_a_leafs_accumulation() -> None:
    log: list[Any] = []
    x = leaf()
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(noting(log, "node"))
    node.register_hook(lambda _into, _out: log.append("after"))
    x.register_post_accumulate_grad_hook(lambda x: log.append(x.grad is not None))
    x.register_hook(noting(log, "tensor"))
    y.sum().backward()
    assert log == ["tensor", "node", True, "after"]


def test_only_the_tensors_hooks_run_where_a_gradient_is_only_captured() -> None:
    log: list[Any] = []
    x = leaf()
    y = x * 2
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        node.register_prehook(noting(log, "node"))
        node.register_hook(lambda _into, _out: log.append("after"))
    y.register_hook(noting(log, "y", 3))
    x.register_hook(noting(log, "x", 7))
    x.register_post_accumulate_grad_hook(lambda _x: log.append("accumulated"))
    z = y.sum()
    assert torch.autograd.grad(z, y, retain_graph=True)[0].tolist() == [3, 3]
    assert log == ["y"]
    assert torch.autograd.grad(z, x)[0].tolist() == [42, 42]
    assert log == ["y", "y", "node", "after", "x"]


def test_what_is_captured_on_the_way_is_not_yet_changed_by_hooks() -> None:
    x = leaf()
    y = x * 2
    y.register_hook(lambda grad: grad * 2)
    assert [g.tolist() for g in torch.autograd.grad(y.sum(), [y, x])] == [[1, 1], [4, 4]]


def test_leaves_of_one_operation_come_in_its_order() -> None:
    log: list[Any] = []
    x, y, z = leaf(), leaf(), leaf()
    for word, tensor in (("z", z), ("y", y), ("x", x)):
        tensor.register_post_accumulate_grad_hook(lambda _x, word=word: log.append(word))
    a, b, c = leaf(), leaf(), leaf()
    out = torch.addcmul(a, b, c)
    for word, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(noting(log, word))
    out.sum().backward()
    assert log == ["a", "b", "c"]


# ------------------------------------------------------------------------------------------ what hooks return


@pytest.mark.parametrize(
    ("replacement", "error"),
    [(5, TypeError), (torch.ones(3), RuntimeError), (torch.ones(2, dtype=torch.float64), RuntimeError)],
)
def test_a_gradient_is_replaced_by_its_like(replacement: Any, error: type[Exception]) -> None:
    x = leaf()
    x.register_hook(lambda _grad: replacement)
    with pytest.raises(error, match="hook"):
        (x * 2).sum().backward()
    assert x.grad is None


def test_hooks_of_a_node_return_as_many_gradients_as_there_are() -> None:
    y = leaf() * 2
    y.grad_fn.register_hook(lambda into, _out: (into[0],))
    with pytest.raises(RuntimeError, match="incorrect number of values"):
        y.sum().backward()


def test_a_hook_may_take_the_gradient_away() -> None:
    x = leaf()
    y = x * 2
    y.grad_fn.register_prehook(lambda _grads: (None,))
    y.sum().backward()
    assert x.grad is None


# ------------------------------------------------------------------------------------------ retain_grad


def written_whole(y: Any) -> None:
    y.mul_(3)


def written_twice(y: Any) -> None:
    y.mul_(3)
    y.retain_grad()
    y.mul_(5)


def written_through_a_view(y: Any) -> None:
    y[0].mul_(3)


def set_at_an_index(y: Any) -> None:
    y[0] = 5.0


@pytest.mark.parametrize("write", [written_whole, written_twice, written_through_a_view, set_at_an_index])
def test_a_retained_gradient_is_that_of_the_value_written_last(write: Callable[[Any], None]) -> None:
    y = leaf() * 2
    y.retain_grad()
    write(y)
    assert y.retains_grad
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]


def test_a_view_retains_the_gradient_of_what_its_base_became() -> None:
    y = leaf() * 2
    view = y[:1]
    view.retain_grad()
    y.mul_(3)
    (view * 5).sum().backward()
    assert view.grad.tolist() == [5]


def test_hooks_stay_with_the_value_they_were_registered_on() -> None:
    seen = []
    y = leaf() * 2
    y.register_hook(lambda grad: seen.append(("before", grad.tolist())))
    y.mul_(3)
    y.register_hook(lambda grad: seen.append(("after", grad.tolist())))
    y.sum().backward()
    assert seen == [("after", [1, 1]), ("before", [3, 3])]


def test_inputs_that_are_no_leaves_retain_their_gradient_once() -> None:
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 2)
    (y * 3).sum().backward(inputs=[y])
    assert (y.grad.tolist(), x.grad) == ([6, 6], None)
    assert not x.retains_grad


# ------------------------------------------------------------------------------------------ hooks of several tensors


def lists(grads: list[Any]) -> list[Any]:
    return [None if grad is None else grad.tolist() for grad in grads]


def test_the_call_has_none_for_tensors_that_this_pass_does_not_reach() -> None:
    calls: list[Any] = []
    a, b, c = leaf(), leaf(), leaf()
    register_multi_grad_hook((a, b, c), lambda grads: calls.append(lists(grads)))
    (a * 2 + c).sum().backward()
    (b * 2).sum().backward()
    (a + b + c).sum().backward()
    assert calls == [[[2, 2], None, [1, 1]], [None, [2, 2], None], [[1, 1], [1, 1], [1, 1]]]


def test_the_call_counts_only_the_inputs_asked_for() -> None:
    calls: list[Any] = []
    a, b = leaf(), leaf()
    register_multi_grad_hook((a, b), lambda grads: calls.append(lists(grads)))
    (a * 2 + b).sum().backward(inputs=[a])
    assert calls == [[[2, 2], None]]


def test_the_call_for_results_in_the_middle() -> None:
    calls: list[Any] = []
    a, b = leaf(), leaf()
    y, z = a * 2, b * 3
    register_multi_grad_hook((y, z, a), lambda grads: calls.append(lists(grads)))
    y.sum().backward()
    assert calls == [[[1, 1], None, [2, 2]]]


def test_any_gradient_is_the_first_of_each_pass() -> None:
    calls: list[Any] = []
    a, b = leaf(), leaf()
    register_multi_grad_hook((a, b), lambda grad: calls.append(grad.tolist()), mode="any")
    (a * 2).sum().backward()
    (b * 3).sum().backward()
    (a + b).sum().backward()
    assert calls == [[2, 2], [3, 3], [1, 1]]


def test_leaves_of_a_multi_grad_hook_need_a_pass_that_fills_grad() -> None:
    a, b = leaf(), leaf()
    register_multi_grad_hook((a, b), print)
    with pytest.raises(RuntimeError, match="autograd.grad"):
        torch.autograd.grad((a * 2 + b).sum(), [b])


def test_tensors_of_a_multi_grad_hook_require_grad() -> None:
    with pytest.raises(AssertionError):
        register_multi_grad_hook((torch.ones(2),), print)
