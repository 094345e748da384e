"""checkpoint(f, x) in compiled code: one graph, eager gradients, and of f only what enters it is saved."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import config, nn
from minitorch_compile.aot import default_partition, min_cut_partition
from minitorch_compile.aot.partitioning.recomputation import region_of
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.testing import assert_close
from minitorch_compile.utils.checkpoint import checkpoint, checkpoint_sequential

BOTH = pytest.mark.parametrize("use_reentrant", [False, True])
PARTITIONERS = pytest.mark.parametrize("partitioner", ["default", "min_cut"])
BACKENDS = pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "inductor"])


class Blocks(nn.Module):
    """Three residual blocks with dropout, each checkpointed."""

    def __init__(self, use_reentrant: bool = False) -> None:
        super().__init__()
        self.use_reentrant = use_reentrant
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Dropout(0.5), nn.Linear(16, 4)) for _ in range(3)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = x + checkpoint(block, x, use_reentrant=self.use_reentrant)
        return x


def run(model: nn.Module, call: Any) -> list[torch.Tensor]:
    """The output, all gradients and the random state afterwards."""
    model.zero_grad()
    torch.manual_seed(1)
    x = torch.linspace(-1, 1, 32).view(8, 4).requires_grad_()
    out = call(x)
    out.square().sum().backward()
    return [out.detach(), x.grad, *(p.grad for p in model.parameters()), torch.rand(1)]


@BOTH
@PARTITIONERS
@BACKENDS
def test_gradients_and_dropout_are_those_of_the_eager_program(use_reentrant, partitioner, backend):
    model = Blocks(use_reentrant)
    expected = run(model, model)
    with config.patch(partitioner=partitioner):
        got = run(model, torch.compile(model, backend=backend, fullgraph=True))
    for a, b in zip(got, expected, strict=True):
        assert_close(a, b, rtol=1e-4, atol=1e-5)


def saved_by(partition_function: Any, model: Any, *inputs: torch.Tensor) -> Any:
    with config.patch(partitioner=partition_function):
        return torch.compiler.inspect(model, *inputs).partition


@pytest.mark.parametrize("partition_function", [default_partition, min_cut_partition])
def test_only_what_enters_the_regions_is_saved(partition_function):
    x = torch.randn(8, 4, requires_grad=True)
    partition = saved_by(partition_function, Blocks(), x)
    assert [node.name for node in partition.saved if node.op != "placeholder"] == ["add_3", "add_8"]
    assert {"erf", "philox_uniform", "mm"} <= {node.target.name for node in partition.report.recomputed}


def test_regions_are_computed_again_one_after_the_other():
    """Not all at once: then nothing would be won."""
    backward = saved_by("min_cut", Blocks(), torch.randn(8, 4, requires_grad=True)).backward
    numbers = [region_of(node) for node in backward.graph.nodes if getattr(node.target, "name", "") == "erf"]
    assert numbers == sorted(numbers, reverse=True) and len(set(numbers)) == 3
    order = [node.meta.get("backward", False) for node in backward.graph.find_nodes(op="call_function")]
    assert order != sorted(order)  # some of it after gradients of later regions


def test_what_leaves_a_region_is_saved_for_others_that_read_it():
    def program(x, w):
        return checkpoint(lambda a: torch.tanh(a @ w), x, use_reentrant=False).sin()

    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
    assert [node.name for node in saved_by("default", program, x, w).saved] == ["tanh", "x", "w"]
    assert [node.name for node in saved_by("min_cut", program, x, w).saved] == ["cos", "x", "w"]  # the sine's factor


def test_matrix_products_in_a_region_are_computed_again():
    def program(x, w):
        return checkpoint(lambda a: torch.relu(a @ w) @ w, x, use_reentrant=False)

    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
    report = saved_by("min_cut", program, x, w).report
    assert report.bytes == report.argument_bytes and report.recomputed[0].target.name == "mm"


def test_an_inner_region_belongs_to_the_outer_one():
    def outer(x):
        return checkpoint(lambda a: a.sin().exp(), x.cos(), use_reentrant=False).sigmoid()

    counter = CompileCounter()
    torch.compile(lambda x: checkpoint(outer, x, use_reentrant=False) * 2, backend=counter)(torch.ones(2))
    numbers = [region_of(node) for node in counter.graphs[0].graph.nodes if node.op.startswith("call")]
    assert numbers[:4] == [numbers[0]] * 4 and numbers[0] is not None and numbers[4:] == [None]


@BOTH
def test_checkpoint_sequential(use_reentrant):
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh())
    expected = run(model, lambda x: checkpoint_sequential(model, 2, x, use_reentrant=use_reentrant))
    program = lambda x: checkpoint_sequential(model, 2, x, use_reentrant=use_reentrant)
    for a, b in zip(run(model, torch.compile(program, fullgraph=True)), expected, strict=True):
        assert_close(a, b)


# ------------------------------------------------------------------------------------------ what isn't captured


class Counting(nn.Module):
    """Counts its calls: eager checkpointing calls it twice."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x.sin()


def test_a_function_that_changes_something_runs_twice_as_in_the_plain_program():
    model, x = Counting(), torch.ones(2, requires_grad=True)
    torch.compile(lambda x: checkpoint(model, x * 2, use_reentrant=False) + 1)(x).sum().backward()
    assert model.calls == 2


def test_running_statistics_are_updated_twice_as_in_the_plain_program():
    norm, twin, x = nn.BatchNorm1d(3), nn.BatchNorm1d(3), torch.randn(5, 3, requires_grad=True)
    checkpoint(twin, x, use_reentrant=False).sum().backward()
    torch.compile(lambda x: checkpoint(norm, x, use_reentrant=False))(x).sum().backward()
    assert norm.num_batches_tracked.item() == twin.num_batches_tracked.item() == 2
    assert_close(norm.running_mean, twin.running_mean)


@pytest.mark.parametrize(
    "settings",
    [{}, {"use_reentrant": False, "preserve_rng_state": False}, {"use_reentrant": False, "determinism_check": "none"}],
)
def test_other_forms_break_the_graph(settings):
    counter, x = CompileCounter(), torch.ones(2, requires_grad=True)
    program = lambda x: checkpoint(torch.sin, x * 2, **settings) + 1
    with pytest.warns(UserWarning, match="use_reentrant") if not settings else torch.enable_grad():
        got = torch.compile(program, backend=counter)(x)
    assert counter.frame_count == 2
    assert_close(got, (x * 2).sin() + 1)


def test_the_reentrant_form_without_gradients_warns_as_in_the_plain_program():
    layer = nn.Linear(2, 2)
    program = torch.compile(lambda x: checkpoint(layer, x, use_reentrant=True), backend="eager")
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not program(torch.ones(2)).requires_grad


def test_a_list_of_its_own_may_be_filled():
    def block(x):
        parts = []
        for i in range(3):
            parts.append(x * i)
        parts[0].add_(1)
        return torch.cat(parts)

    x = torch.ones(2, requires_grad=True)
    program = lambda x: checkpoint(block, x * 2, use_reentrant=False).sum()
    (expected,) = torch.autograd.grad(program(x), x)
    (got,) = torch.autograd.grad(torch.compile(program, fullgraph=True)(x), x)
    assert_close(got, expected)


def test_a_compiled_function_can_be_checkpointed_from_outside():
    compiled = torch.compile(lambda x: F.dropout(x.sin(), 0.5) * x, backend="aot_eager")
    x = torch.ones(50, requires_grad=True)
    torch.manual_seed(0)
    plain = torch.autograd.grad(compiled(x).sum(), x)
    torch.manual_seed(0)
    again = torch.autograd.grad(checkpoint(compiled, x, use_reentrant=False).sum(), x)
    assert_close(again, plain)
