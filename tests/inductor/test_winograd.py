"""Convolutions in Winograd's way: the error bound that `extern.winograd` states, and who chooses it."""

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.compiler import inspect
from minitorch_compile.inductor.kernels.winograd import plan_of, suits, winograd_kernel
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import call_of
from minitorch_compile.inductor.tuning import autotune
from minitorch_compile.inductor.tuning.autotune import tuned_schedule
from minitorch_compile.kernel_options import Options
from tests.inductor.test_convolution import expected, geometry

SHAPES = {
    "whole tiles": geometry(2, 16, (8, 8), 32, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "cut tiles": geometry(1, 32, (7, 9), 48, (3, 3), (1, 1), (0, 2), (1, 1), 1),
    "no border": geometry(2, 16, (3, 3), 16, (3, 3), (1, 1), (0, 0), (1, 1), 1),
    "several bands": geometry(2, 32, (30, 33), 32, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "one pixel": geometry(1, 16, (1, 1), 16, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "wide": geometry(2, 16, (5, 230), 16, (3, 3), (1, 1), (2, 0), (1, 1), 1),
    "many channels": geometry(1, 256, (7, 7), 64, (3, 3), (1, 1), (1, 1), (1, 1), 1),
}


def run(first, second, like, shape, last, back):
    """The kernel's result, its operands and its result channels last or not."""
    turned = (lambda a: np.ascontiguousarray(a.transpose(0, 2, 3, 1))) if last else lambda a: a
    numbers, elements = plan_of(shape, last, back)
    scratch = np.full(elements + 32, np.nan, np.float32)
    scratch = scratch[-(scratch.ctypes.data // 4) % 16 :]
    out = np.full(turned(like).shape, np.nan, np.float32)
    for n in range(shape.images):
        winograd_kernel("float32")(n, n + 1, turned(first), turned(second), out, scratch, np.array(numbers, np.int64))
    return out.transpose(0, 3, 1, 2) if last else out


@pytest.mark.slow
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_the_error_is_within_the_stated_bound(name, last):
    shape = SHAPES[name]
    assert suits(shape)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((shape.images, shape.channels, *shape.image), np.float32)
    w = rng.standard_normal((shape.filters, shape.channels, 3, 3), np.float32)
    grad = rng.standard_normal((shape.images, shape.filters, *shape.out), np.float32)
    wanted = expected(x.astype("f8"), w.astype("f8"), grad.astype("f8"), shape)
    for kernel, source, terms in (("convolution", x, shape.channels), ("convolution_input_grad", grad, shape.filters)):
        found = run(source, w, wanted[kernel], shape, last, back=source is grad)
        bound = 2.0**-21 * np.sqrt(9 * terms) * np.abs(source).max() * np.abs(w).max()
        assert np.abs(found - wanted[kernel]).max() <= bound


@pytest.mark.parametrize(
    "change",
    [{"stride": (2, 2)}, {"dilation": (2, 1)}, {"groups": 2}, {"kernel": (3, 1)}, {"padding": (3, 1)}, {"channels": 3}],
)
def test_other_convolutions_have_no_such_way(change):
    assert not suits(SHAPES["whole tiles"]._replace(**change))


def residual(x, w, scale):
    return torch.relu(torch.nn.functional.conv2d(x, w, None, 1, 1) * scale[:, None, None] + x)


def operands(last):
    torch.manual_seed(0)
    x, w = torch.randn(3, 32, 12, 12), torch.randn(32, 32, 3, 3) / 17
    order = torch.channels_last if last else torch.contiguous_format
    return x.to(memory_format=order), w.to(memory_format=order), torch.rand(32)


@pytest.fixture
def preferred(monkeypatch):
    """In the place of timing: Winograd's way, wherever there is one. The titles of what is computed so."""
    titles = []

    def fastest(title, graph, makers):
        if "Winograd" not in makers:
            return next(iter(makers))
        titles.append(title)
        return "Winograd"

    monkeypatch.setattr(autotune, "fastest", fastest)
    return titles


@pytest.mark.slow
@pytest.mark.parametrize("last", [False, True])
def test_max_autotune_may_choose_it_and_values_stay_close(preferred, last):
    inputs = [t.requires_grad_() for t in operands(last)]
    grad = torch.randn(3, 32, 12, 12)
    results = []
    for function in (residual, torch.compile(residual, mode="max-autotune")):
        out = function(*inputs)
        results.append([out, *torch.autograd.grad(out, inputs, grad)])
    for eager, compiled in zip(*results):
        assert compiled.stride() == eager.stride()
        torch.testing.assert_close(compiled, eager, rtol=1e-4, atol=1e-4)
    order = "channels_last_" if last else ""
    assert [title.split()[0] for title in preferred] == [f"{order}convolution", f"{order}convolution_input_grad"]


@pytest.mark.parametrize("last", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_follows_is_its_epilogue(preferred, last):
    graph = lower(inspect(residual, *operands(last)).forward_graph)
    (step,) = tuned_schedule(graph, Options(max_autotune=True)).steps
    assert call_of(step).kernel == ("winograd_channels_last_convolution" if last else "winograd_convolution")
    assert type(step).__name__ == "FusedCall"


def test_nobody_else_chooses_it():
    seen = inspect(residual, *operands(last=False))
    calls = [call_of(step) for step in seen.schedule.steps if not isinstance(step, Group)]
    assert [call.kernel for call in calls] == ["convolution"]


@pytest.mark.slow
def test_both_ways_are_timed_and_the_answer_is_remembered(monkeypatch, tmp_path):
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path))
    asked = []
    timed = autotune.timed

    def watched(names, run, known):
        asked.append((list(names), known is not None))
        return timed(names, run, known)

    monkeypatch.setattr(autotune, "timed", watched)
    for _ in range(2):
        inspect(torch.compile(residual, mode="max-autotune"), *operands(last=False))
    assert [known for names, known in asked if names == ["direct", "Winograd"]] == [False, True]
