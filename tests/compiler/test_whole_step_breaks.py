"""Training steps that can't be one graph, or only just: a break with its reason, always what the plain step does."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn, optim
from minitorch_compile.autograd.graph import saved_tensors_hooks
from minitorch_compile.dynamo.eval_frame import region_of

AUTOGRAD = "MTC-B13"


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def outcome(function: Callable[..., Any], make: Callable[[], Any], calls: int) -> list[Any]:
    """What each call returns or raises, and the gradients that it leaves behind."""
    arguments = make()
    found: list[Any] = []
    for _ in range(calls):
        try:
            result = function(*arguments)
            found.append((result.detach().numpy().copy(), result.requires_grad) if torch.is_tensor(result) else result)
        except RuntimeError as error:
            found.append(str(error).split("\n")[0])
        found += [
            None if x.grad is None else x.grad.detach().numpy().copy()
            for x in arguments
            if torch.is_tensor(x) and x.is_leaf
        ]
        found += [x.detach().numpy().copy() for x in arguments if torch.is_tensor(x)]
    return found


def same(function: Callable[..., Any], make: Callable[[], Any], codes: list[str], calls: int = 3) -> None:
    """The compiled function does what the plain one does, with breaks for these reasons."""
    compiled = torch.compile(function, backend="aot_eager")
    for a, b in zip(outcome(compiled, make, calls), outcome(function, make, calls), strict=True):
        np.testing.assert_equal(a, b)
    assert sorted({b.code for b in region_of(compiled).breaks}) == codes


def squares(w: Any, x: Any) -> Any:
    loss = (w * x).square().sum()
    loss.backward()
    return loss


def test_a_hook_on_a_leaf_runs():
    def make() -> Any:
        w = leaf(1.0, 2.0)
        w.register_hook(lambda g: g * 10)
        return w, torch.ones(2)

    same(squares, make, [AUTOGRAD])


def test_a_hook_after_accumulation_runs():
    def make() -> Any:
        w = leaf(1.0, 2.0)
        w.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(10))
        return w, torch.ones(2)

    same(squares, make, [AUTOGRAD])


def test_a_hook_that_is_registered_later_is_seen():
    compiled = torch.compile(squares, backend="aot_eager")
    w = leaf(1.0, 2.0)
    compiled(w, torch.ones(2))
    handle = w.register_hook(lambda g: g * 10)
    compiled(w, torch.ones(2))
    handle.remove()
    compiled(w, torch.ones(2))
    assert w.grad.tolist() == [2.0 + 20.0 + 2.0, 4.0 + 40.0 + 4.0]


def test_a_history_that_begins_outside():
    w = leaf(1.0, 2.0)

    def make() -> Any:
        w.grad = None
        return w * 3, torch.ones(2)

    def step(h: Any, x: Any) -> Any:
        loss = (h * x).square().sum()
        loss.backward(retain_graph=True)
        return w.grad * 1

    same(step, make, [AUTOGRAD])


@pytest.mark.parametrize("program", ["a view", "a linear result", "kept graph", "other loss"])
def test_a_history_that_lives_on(program):
    def step(w: Any, x: Any) -> Any:
        loss = (w * x).square().sum()
        if program == "a view":
            loss.backward()
            return w.view(2, 1)
        if program == "a linear result":
            y = w + x
            (y.square().sum()).backward()
            return y
        if program == "other loss":
            loss.backward()
            return (w * x).exp().sum()
        loss.backward(retain_graph=True)
        return loss

    same(step, lambda: (leaf(1.0, 2.0), torch.tensor([2.0, 3.0])), [AUTOGRAD])


def test_what_lives_on_can_be_differentiated_again():
    def step(w: Any, x: Any) -> Any:
        loss = (w * x).square().sum()
        loss.backward(retain_graph=True)
        return loss

    w = leaf(1.0, 2.0)
    torch.compile(step, backend="aot_eager")(w, torch.ones(2)).backward()
    assert w.grad.tolist() == [4.0, 8.0]


def test_going_back_a_second_time_raises_as_plainly():
    results = []
    for function in (squares, torch.compile(squares, backend="aot_eager", fullgraph=True)):
        w = leaf(1.0, 2.0)
        loss = function(w, torch.ones(2))
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            loss.backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            torch.autograd.grad(loss * 2, w, allow_unused=True)
        results.append((w.grad.tolist(), loss.grad_fn.name(), loss.is_leaf))
    assert results[0] == results[1]


def test_twice_in_the_function_raises_as_plainly():
    def step(w: Any) -> Any:
        loss = w.square().sum()
        loss.backward()
        loss.backward()

    same(step, lambda: (leaf(1.0, 2.0),), [])


def test_a_loss_without_history_raises_as_plainly():
    same(lambda x: x.sum().backward(), lambda: (torch.ones(2),), [])
    same(lambda w: (w * 2).backward(), lambda: (leaf(1.0, 2.0),), [])


def test_a_saved_value_that_is_overwritten_raises_as_plainly():
    def step(w: Any, x: Any) -> Any:
        y = w * x
        loss = y.square().sum()
        x.add_(1)
        loss.backward()
        return loss

    same(step, lambda: (leaf(1.0, 2.0), torch.ones(2)), [])


def test_anomaly_mode_and_hooks_on_saved_tensors():
    compiled = torch.compile(squares, backend="aot_eager")
    w = leaf(1.0, 2.0)
    compiled(w, torch.ones(2))
    with torch.autograd.detect_anomaly():
        compiled(w, torch.ones(2))
    seen = []
    with saved_tensors_hooks(lambda x: seen.append(x) or x, lambda x: x):
        compiled(w, torch.ones(2))
    assert seen
    assert w.grad.tolist() == [6.0, 12.0]
    assert {b.code for b in region_of(compiled).breaks} == {AUTOGRAD}


def test_gradients_with_a_history():
    def step(w: Any) -> Any:
        (w**3).sum().backward(create_graph=True)
        penalty = w.grad.square().sum()
        w.grad = None
        penalty.backward()
        return penalty

    def kept(w: Any) -> Any:
        (w**3).sum().backward(create_graph=True)

    same(step, lambda: (leaf(1.0, 2.0),), [])
    same(kept, lambda: (leaf(1.0, 2.0),), [AUTOGRAD], calls=1)


def test_a_custom_function():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 30 * x**2

    def step(w: Any, x: Any) -> Any:
        loss = Cube.apply(w * x).sum()
        loss.backward()
        return loss

    same(step, lambda: (leaf(1.0, 2.0), torch.tensor([2.0, 3.0])), [])


def test_a_checkpointed_part():
    def step(w: Any, x: Any) -> Any:
        loss = torch.utils.checkpoint.checkpoint(lambda w: (w * x).sin().exp(), w, use_reentrant=False).sum()
        loss.backward()
        return loss.detach()

    same(step, lambda: (leaf(1.0, 2.0), torch.tensor([2.0, 3.0])), [])


def test_inside_a_transform():
    def step(w: Any, x: Any) -> Any:
        def inner(x: Any) -> Any:
            (w * x).sum().backward()
            return x

        return torch.func.vmap(inner)(x)

    same(step, lambda: (leaf(1.0, 2.0), torch.ones(3, 2)), [])  # it raises


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.heavy
def test_an_index_out_of_range_leaves_everything_as_it_was(backend):
    def run(compiled: bool) -> list[Any]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(4, 3), nn.Flatten(), nn.BatchNorm1d(6), nn.Linear(6, 2))
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        function = torch.compile(step, backend=backend) if compiled else step
        good, bad = torch.tensor([[0, 1], [2, 3]]), torch.tensor([[0, 1], [2, 9]])
        labels = torch.tensor([0, 1])
        found: list[Any] = []
        for x in (good, good, bad, good):
            try:
                found.append(round(function(x, labels).item(), 5))
            except IndexError as error:
                found.append(re.sub(r"\d+", "N", str(error))[:20])
            found += [p.grad is None for p in model.parameters()]
            found += [np.round(value.numpy(), 4).tolist() for value in model.state_dict().values()]
        return found

    np.testing.assert_equal(run(True), run(False))


def test_an_exception_between_backward_and_the_update():
    def step(w: Any, x: Any, fail: bool) -> Any:
        loss = (w * x).square().sum()
        loss.backward()
        if fail:
            raise RuntimeError("stop here")
        with torch.no_grad():
            w -= 0.1 * w.grad
        return loss

    same(step, lambda: (leaf(1.0, 2.0), torch.ones(2), True), [])
    same(step, lambda: (leaf(1.0, 2.0), torch.ones(2), False), [])


def test_a_value_that_is_printed_splits_the_step_there():
    def step(w: Any, x: Any) -> Any:
        loss = (w * x).square().sum()
        loss.backward()
        seen = loss.item()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        return seen

    same(step, lambda: (leaf(1.0, 2.0), torch.ones(2)), ["MTC-B07"])


def test_gradients_share_no_memory():
    def step(a: Any, b: Any) -> Any:
        (a + b).sum().backward()

    compiled = torch.compile(step, backend="aot_eager")
    a, b = leaf(1.0, 2.0), leaf(1.0, 2.0)
    compiled(a, b)
    a.grad.zero_()
    assert b.grad.tolist() == [1.0, 1.0]


def test_the_gradient_of_a_transposed_leaf_has_its_layout():
    def make() -> Any:
        w = torch.arange(6.0).view(2, 3).t().requires_grad_()
        return w, torch.arange(6.0).view(3, 2)

    strides = []
    for function in (squares, torch.compile(squares, backend="aot_eager")):
        w, x = make()
        function(w, x)
        strides.append(w.grad.stride())
    assert strides[0] == strides[1]


def test_explain_shows_one_graph():
    model = nn.Linear(3, 2)
    optimizer = optim.AdamW(model.parameters())

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    shown = torch.compiler.explain(step)(torch.ones(4, 3), torch.tensor([0, 1, 1, 0]))
    assert (shown.graph_count, shown.graph_break_count) == (1, 0)


@pytest.mark.parametrize("first", ["zero_grad", "look up"])
def test_old_gradients_are_there_if_the_program_fails_before_it_drops_them(first):
    def step(w: Any, x: Any, index: Any) -> Any:
        if first == "zero_grad":
            w.grad = None
        loss = (w * x)[index].square().sum()
        if first == "look up":
            w.grad = None
        loss.backward()
        return loss

    def run(function: Callable[..., Any]) -> list[Any]:
        w, left = leaf(1.0, 2.0), []
        for index in (0, 1, 7):
            try:
                function(w, torch.ones(2), torch.tensor([index]))
            except IndexError:
                left.append("IndexError")
            left.append(None if w.grad is None else w.grad.tolist())
        return left

    assert run(torch.compile(step, backend="aot_eager", fullgraph=True)) == run(step)


def test_old_gradients_are_freed_before_the_graph_runs():
    alive = []

    def backend(graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            alive.append(old() is not None)
            return graph(*args)

        return run

    @torch.compile(backend=backend)
    def step(w: Any) -> Any:
        w.grad = None
        w.square().sum().backward()

    w = leaf(1.0, 2.0)
    w.grad = torch.ones(2)
    old = weakref.ref(w.grad)
    step(w)
    assert alive == [False]
    assert w.grad.tolist() == [2.0, 4.0]


def test_a_written_argument_that_gets_a_history():
    def step(w: Any, x: Any, seen: Any) -> Any:
        h = (w * x).exp()
        seen.copy_(h)
        h.sum().backward()
        return seen.requires_grad

    def make() -> Any:
        return leaf(1.0, 2.0), torch.ones(2), torch.zeros(2)

    same(step, make, [AUTOGRAD], calls=1)


def test_what_a_module_remembers_is_freed():
    class Remembering(nn.Linear):
        def forward(self, x: Any) -> Any:
            self.last = super().forward(x).tanh()
            return self.last

    module = Remembering(3, 2)

    @torch.compile(backend="aot_eager", fullgraph=True)
    def step(x: Any) -> Any:
        module(x).square().sum().backward()

    step(torch.ones(4, 3))
    assert (module.last.requires_grad, module.last.is_leaf) == (True, False)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        module.last.sum().backward()
