"""Hooks that a compiled function registers: on tensors from outside after the graph, on others by a node of it.

Graphs and operations are as in PyTorch 2.13; where a hook changes a list, or is removed, PyTorch has no graph.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.tensor import Tensor, ones, tensor

SEEN: list[float] = []


def double(grad: Tensor) -> Tensor:
    return grad * 2


def look(grad: Tensor) -> None:
    SEEN.append(grad.sum().item())


def on_an_input(x: Tensor) -> Tensor:
    x.register_hook(double)
    return (x * 3).sum()


def with_a_lambda(x: Tensor) -> Tensor:
    factor = 5
    x.register_hook(lambda grad: grad * factor)
    return (x * 3).sum()


def with_a_partial(x: Tensor) -> Tensor:
    x.register_hook(functools.partial(lambda factor, grad: grad * factor, 3))
    return (x * 3).sum()


def that_reads_what_was_computed(x: Tensor) -> Tensor:
    y = x * 2
    x.register_hook(lambda grad: grad * y.detach())
    return y.sum()


def that_only_looks(x: Tensor) -> Tensor:
    x.register_hook(look)
    return (x * 3).sum()


def removed_again(x: Tensor) -> Tensor:
    handle = x.register_hook(double)
    handle.remove()
    return (x * 3).sum()


def given_back(x: Tensor) -> Any:
    handle = x.register_hook(double)
    return (x * 3).sum(), handle


def after_accumulation(x: Tensor) -> Tensor:
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.mul_(4))
    return (x * 3).sum()


def on_what_is_computed(x: Tensor) -> Tensor:
    y = x * 2
    y.register_hook(double)
    return (y * y).sum()


def two_on_what_is_computed(x: Tensor) -> Tensor:
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.register_hook(lambda grad: grad + 1)
    return (y * 3).sum()


def that_looks_at_what_is_computed(x: Tensor) -> Tensor:
    x.register_hook(double)
    y = x * x
    y.register_hook(look)
    return (y * 3).sum()


def on_the_result(x: Tensor) -> Tensor:
    y = (x * 3).sum()
    y.register_hook(double)
    return y


def written_after_its_hook(x: Tensor) -> Tensor:
    y = x * 2
    y.register_hook(double)
    y.mul_(5)
    return (y * 3).sum()


def given_back_with_what_is_computed(x: Tensor) -> Any:
    y = x * 2
    handle = y.register_hook(double)
    return (y * 3).sum(), handle


def two_hooks(x: Tensor) -> Tensor:
    x.register_hook(double)
    x.register_hook(look)
    x.register_hook(hook=lambda grad: grad + 1)
    return (x * 3).sum()


def two_after_accumulation(x: Tensor) -> Tensor:
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.mul_(4))
    x.register_hook(double)
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.add_(1))
    return (x * 3).sum()


def with_a_value_of_its_own(x: Tensor) -> Tensor:
    factor = 5
    y = x * 2
    y.register_hook(lambda grad: grad * factor)
    return (y * 3).sum()


def with_a_value_that_changes(x: Tensor) -> Tensor:
    factor = 5
    y = x * 2
    y.register_hook(lambda grad: grad * factor)
    factor = 7
    return (y * 3).sum()


def with_tensors_of_its_own(x: Tensor) -> Tensor:
    y, held = x * 2, {"parts": [x.detach() * 4], "more": 2.0}
    y.register_hook(lambda grad: grad * held["parts"][0] * held["more"] + y.detach() * x.detach())
    return (y * 3).sum()


def with_a_list_of_its_own(x: Tensor) -> Any:
    seen: list[Tensor] = []
    y = x * 2
    y.register_hook(seen.append)
    y.register_hook(lambda grad: seen.append(grad * 2))
    return (y * 3).sum(), seen


def with_defaults(x: Tensor) -> Tensor:
    y = x * 2
    for i in range(3):
        y.register_hook(lambda grad, i=i: grad * (i + 1))
    return (y * 3).sum()


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, grad: Tensor) -> Tensor:
        return grad * self.factor


OUTSIDE = Scale(3.0)


def with_objects(x: Tensor) -> Tensor:
    y, made = x * 2, Scale(5.0)
    y.register_hook(OUTSIDE)
    y.register_hook(OUTSIDE.__call__)
    y.register_hook(made)
    y.register_hook(functools.partial(Scale.__call__, made))
    return (y * 3).sum()


def with_functions_of_the_library(x: Tensor) -> Tensor:
    y = x * 2
    y.register_hook(torch.neg)
    y.register_hook(operator.neg)
    y.register_hook(torch.square)
    return (y * 3).sum()


def taken_away_from_what_is_computed(x: Tensor) -> Tensor:
    y = x * 2
    y.register_hook(double).remove()
    return (y * 3).sum()


def on_a_view(x: Tensor) -> Tensor:
    y = x.view(2)
    y.register_hook(double)
    return (y * 3).sum()


WHOLE = [
    on_an_input, with_a_lambda, with_a_partial, that_reads_what_was_computed, that_only_looks, removed_again,
    given_back, after_accumulation, on_what_is_computed, two_on_what_is_computed, that_looks_at_what_is_computed,
    on_the_result, written_after_its_hook, given_back_with_what_is_computed, two_hooks, two_after_accumulation,
    with_a_value_of_its_own, with_a_value_that_changes, with_tensors_of_its_own, with_a_list_of_its_own, with_defaults,
    with_objects, with_functions_of_the_library, taken_away_from_what_is_computed, on_a_view,
]  # fmt: skip


def whose_gradient_is_kept(x: Tensor) -> Tensor:
    y = x * 2
    y.retain_grad()
    return (y * 3).sum()


def on_the_node(x: Tensor) -> Tensor:
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    return (y * 3).sum()


BROKEN = [whose_gradient_is_kept, on_the_node]


def gradients(function: Callable[..., Any], x: Tensor) -> Any:
    """The gradient of two calls with one leaf, and what was seen."""
    SEEN.clear()
    for _ in range(2):
        result = function(x)
        (result[0] if isinstance(result, tuple) else result).backward()
    assert x.grad is not None
    lists = [y.tolist() for y in result[1]] if isinstance(result, tuple) and isinstance(result[1], list) else []
    return x.grad.tolist(), list(SEEN), lists


@pytest.mark.parametrize("backend", ["eager", "inductor"])
@pytest.mark.parametrize("function", [*WHOLE, *BROKEN], ids=lambda f: f.__name__)
def test_gradients_are_those_of_the_plain_function(function: Callable[..., Any], backend: str) -> None:
    plain, compiled = (tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    fast = torch.compile(function, backend=backend, fullgraph=function in WHOLE)
    assert gradients(fast, compiled) == gradients(function, plain)


def test_each_call_has_hooks_of_its_own() -> None:
    def f(x: Tensor, factor: float) -> Tensor:
        y = x * 2
        y.register_hook(lambda grad: grad * factor)
        return y.sum()

    compiled = torch.compile(f, fullgraph=True)
    first, second = (ones(1, requires_grad=True) for _ in range(2))
    losses = compiled(first, 3.0), compiled(second, 5.0)
    for loss in losses:
        loss.backward()
    assert (first.grad.item(), second.grad.item()) == (6.0, 10.0)


@pytest.mark.parametrize("function", [given_back, given_back_with_what_is_computed])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_handle_takes_the_hook_away(function: Callable[..., Any], backend: str) -> None:
    x = ones(1, requires_grad=True)
    result, handle = torch.compile(function, backend=backend, fullgraph=True)(x)
    handle.remove()
    result.backward()
    assert x.grad is not None and x.grad.item() == result.item()


def test_a_backward_pass_in_the_graph_runs_the_hook_with_a_break() -> None:
    def step(x: Tensor) -> Any:
        x.register_hook(double)
        (x * 3).sum().backward()
        return x.grad

    def step_through(x: Tensor) -> Any:
        y = x * 3
        y.register_hook(double)
        y.sum().backward()
        return x.grad

    for function in (step, step_through):
        with pytest.raises(Unsupported, match="autograd"):
            torch.compile(function, backend="eager", fullgraph=True)(ones(1, requires_grad=True))
        assert torch.compile(function, backend="eager")(ones(1, requires_grad=True)).item() == 6


def test_a_tensor_that_is_written_to_after_its_hook_breaks_the_graph() -> None:
    def f(x: Tensor) -> Tensor:
        x.register_hook(double)
        x.mul_(2)
        return x.sum()

    def grad(function: Callable[..., Any]) -> Any:
        leaf = ones(1, requires_grad=True)
        function(leaf * 3).backward()
        assert leaf.grad is not None
        return leaf.grad.item()

    assert grad(torch.compile(f, backend="eager")) == grad(f)
    with pytest.raises(Unsupported):
        torch.compile(f, backend="eager", fullgraph=True)(ones(1, requires_grad=True) * 3)


def test_a_tensor_without_gradients_takes_no_hook() -> None:
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.compile(on_an_input, backend="eager")(ones(2))
