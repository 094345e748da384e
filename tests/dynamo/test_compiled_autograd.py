"""backward() as one graph, as PyTorch 2.13's torch._dynamo.compiled_autograd makes it."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile._dynamo import compiled_autograd


class Kept:
    """A compiler that keeps the graphs it is given, and runs them."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def __call__(self, graph_module: Any) -> Any:
        self.graphs.append(graph_module)
        return graph_module


def test_the_backward_of_three_graphs_is_one() -> None:
    @torch.compile(backend="aot_eager")
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        torch._dynamo.graph_break()
        y = y.sin()
        torch._dynamo.graph_break()
        return y.sum()

    x = torch.tensor([0.5, -1.0], requires_grad=True)
    loss = program(x)
    loss.backward(retain_graph=True)
    plain, x.grad = x.grad, None
    torch._dynamo.utils.counters.clear()
    with compiled_autograd.enable(torch.compile(backend="aot_eager")):
        loss.backward()
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
    assert x.grad.tolist() == plain.tolist() == (2 * (2 * x).cos()).tolist()


def test_hooks_are_in_the_graph_and_gradients_are_added_up() -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: gradient + 10)
    kept = Kept()
    for expected in (11.0, 22.0):
        with compiled_autograd.enable(kept):
            x.sum().backward()
        assert x.grad.tolist() == [expected] * 2
    assert len(kept.graphs) == 2 and "add" in kept.graphs[0].code


def test_leaves_that_share_a_gradient_get_one_each() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with compiled_autograd.enable(Kept()):
        (x + y).sum().backward()
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0]


def test_only_the_inputs_that_are_asked_for() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with compiled_autograd.enable(Kept()):
        (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [1.0, 1.0] and y.grad is None


def test_what_was_freed_stays_freed_and_disable_walks_plainly() -> None:
    kept = Kept()
    loss = torch.ones(2, requires_grad=True).exp().sum()
    with compiled_autograd.enable(kept), compiled_autograd.disable():
        loss.backward(retain_graph=True)
    assert not kept.graphs
    with compiled_autograd.enable(kept):
        loss.backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            loss.backward()
        with pytest.raises(RuntimeError, match="does not support create_graph"):
            torch.ones(1, requires_grad=True).exp().backward(create_graph=True)
