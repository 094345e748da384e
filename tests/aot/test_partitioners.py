"""Choosing a partitioner, and that the choice changes no gradient: models, dropout, unknown sizes."""

from __future__ import annotations

import random

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import config, logs
from minitorch_compile.aot import aot_function, default_partition, interpret, lookup_partitioner, min_cut_partition
from minitorch_compile.aot.partitioning.partition import Sides, cut
from minitorch_compile.testing import assert_close
from tests.aot.compare import captured
from tests.aot.partitions import LEVELS, compare
from tests.aot.test_models import MODELS as SMALL_MODELS
from tests.aot.test_models import parameters
from tests.as_torch.measure import model_files

FILES = {file.stem: file for file in model_files()}
# Some of all families; `make partitions` runs the others.
MODELS = ("deepfm", "gat", "linear_attention", "mlp_mixer", "nerf", "vae")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.heavy
def test_both_partitioners_give_the_same_gradients(name, level):
    different, default_bytes, min_cut_bytes = compare(FILES[name], level)
    assert different == []
    assert min_cut_bytes <= default_bytes


# ------------------------------------------------------------------------------------------ choosing


def bend(x):
    return (x.exp() + 1).log().sin().sum()


def saved_by(**options):
    with logs.capture("partition") as records:
        x = torch.ones(3, requires_grad=True)
        torch.compile(bend, **options)(x).backward()
    (record,) = records
    return record.text


def test_compile_uses_the_minimum_cut():
    text = saved_by()
    assert text.startswith("saves 1 tensors, 12 bytes, 12 of them arguments (without recomputation")
    assert "computes again: exp" in text


def test_an_option_chooses_another():
    assert "computes again" not in saved_by(options={"partitioner": "default"})


def test_the_config_chooses_for_all():
    with config.patch(partitioner="default"):
        assert "computes again" not in saved_by()
        assert "computes again" not in saved_by(backend="aot_eager_decomp_partition")


def test_a_function_of_the_users_is_a_partitioner():
    seen = []

    def everything(joint):
        sides = Sides(joint)
        seen.append(cut(joint, sides, [n for n in sides.order if n in sides.forward and n.op == "call_function"]))
        return seen[-1]

    saved_by(options={"partitioner": everything})
    assert "x" not in [node.name for node in seen[0].saved]


def test_an_unknown_partitioner_is_an_error_that_lists_them():
    with pytest.raises(
        ValueError, match="no partitioner named 'mincut'. Choose one of: default, min_cut, min_traffic; or pass"
    ):
        torch.compile(bend, options={"partitioner": "mincut"})
    with pytest.raises(TypeError, match="expected a name or a function of a joint graph, got int"):
        torch.compile(bend, options={"partitioner": 3})


def test_a_partitioner_that_returns_something_else_is_an_error():
    with pytest.raises(Exception, match="to return a Partition, as partition.cut makes it, but it returned NoneType"):
        torch.compile(bend, options={"partitioner": lambda joint: None})(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SMALL_MODELS)
def test_whatever_is_saved_the_gradients_are_the_same(name, seed):
    """A random half of the forward pass, too little or too much; what is missing is computed again."""
    model, shapes, data = SMALL_MODELS[name]

    def random_half(joint):
        sides = Sides(joint)
        values = [n for n in sides.order if n in sides.forward and not isinstance(n.meta["val"], tuple)]
        return cut(joint, sides, {*sides.inputs, *random.Random(seed).sample(values, len(values) // 2)})

    def gradients(partition_function):
        arguments = [*data(), *parameters(*shapes)]
        function = aot_function(captured(model, len(arguments)), arguments, interpret, None, partition_function)
        function(*arguments).backward()
        return [x.grad for x in arguments if x.requires_grad]

    for got, want in zip(gradients(random_half), gradients(default_partition), strict=True):
        assert_close(got, want)


# ------------------------------------------------------------------------------------------ inspecting


def test_the_cut_can_be_looked_at_from_outside():
    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
    seen = torch.compiler.inspect(torch.compile(lambda x, w: (x @ w).sin().exp().cos().sum()), x, w)
    assert "computes again:" in str(seen.partition)
    assert {frame.label for frame in seen.partition.draw().drawing.clusters} == {"forward pass", "backward pass"}


def test_a_compiled_function_is_inspected_with_its_own_options():
    def recomputed(**options):
        x = torch.ones(3, requires_grad=True)
        return torch.compiler.inspect(torch.compile(bend, **options), x).partition.report.recomputed

    assert recomputed() != []
    assert recomputed(options={"partitioner": "default"}) == []


# ------------------------------------------------------------------------------------------ dropout and sizes


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "inductor"])
def test_a_dropout_that_is_computed_again_has_the_same_mask(backend):
    """Only arguments are saved, seed and offset among them: every random number is drawn a second time."""

    def save_arguments(joint):
        sides = Sides(joint)
        return cut(joint, sides, sides.inputs)

    def program(x):
        for _ in range(3):
            x = F.dropout(x.exp(), 0.5).sin() + torch.rand(20) * x
        return x

    found = []
    with config.patch(partitioner=save_arguments):
        for f in (program, torch.compile(program, backend=backend)):
            torch.manual_seed(3)
            x = torch.linspace(-1, 1, 20).requires_grad_()
            out = f(x)
            out.sum().backward()
            found.append((out.detach(), x.grad, torch.rand(2)))
    for a, b in zip(*found, strict=True):
        assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_unknown_sizes_count_by_their_hint():
    seen = []

    def keep(joint):
        seen.append(min_cut_partition(joint))
        return seen[-1]

    def program(x):
        return (x.sum(0, keepdim=True).exp() * x).sin()

    backend = lambda graph, inputs: aot_function(graph, inputs, interpret, None, keep)
    torch.compile(program, backend=backend, dynamic=True)(torch.randn(100, 4, requires_grad=True))
    assert seen[0].report.bytes == 4 * (100 * 4 + 4)  # x, and the sum or its exponential


@pytest.mark.parametrize("partitioner", ["default", "min_cut"])
def test_a_constant_of_unknown_size_is_made_again(partitioner):
    def program(x):
        return x.sin() * torch.full((x.shape[0], 4), 2.0)

    with logs.capture("partition") as records:
        function = torch.compile(program, dynamic=True, backend=lambda graph, inputs: aot_function(
            graph, inputs, interpret, None, lookup_partitioner(partitioner)))  # fmt: skip
        function(torch.randn(5, 4, requires_grad=True)).sum().backward()
    assert records[0].text.startswith("saves 1 tensors, 80 bytes, 80 of them arguments")


def test_temporaries_that_are_reused_do_not_hold_what_is_saved():
    f = torch.compile(lambda x, w: (x @ w).exp().sin().sum(), mode="reduce-overhead")
    w = torch.randn(4, 4)
    first, second = (torch.randn(4, 4, requires_grad=True) for _ in range(2))
    losses = [f(first, w), f(second, w)]
    for loss in losses:
        loss.backward()
    for x in (first, second):
        (expected,) = torch.autograd.grad((x @ w).exp().sin().sum(), x)
        assert_close(x.grad, expected, rtol=1e-4, atol=1e-4)
