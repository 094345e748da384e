"""Convolutions of channels-last images, read where they lie: kernels against float64, programs against eager."""

import itertools

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.compiler import inspect
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.kernels.channels_last import KERNELS, PLANS, channels_last_kernel, extent_of, plan_of
from minitorch_compile.inductor.kernels.channels_last_plan import suits
from minitorch_compile.inductor.machine import named, using
from minitorch_compile.inductor.schedule.schedule import call_of
from tests.inductor.test_convolution import SHAPES, expected, geometry

functional = torch.nn.functional
MORE_SHAPES = {
    "many depthwise channels": geometry(2, 40, (7, 9), 40, (3, 3), (1, 1), (1, 1), (1, 1), 40),
    "depthwise without a border": geometry(2, 16, (7, 9), 16, (3, 3), (1, 1), (0, 0), (1, 1), 16),
    "several filters a channel": geometry(2, 4, (7, 9), 8, (3, 3), (1, 1), (1, 1), (1, 1), 4),
    "three panels": geometry(1, 20, (5, 6), 70, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "step beyond a lonely border": geometry(1, 2, (1, 1), 8, (1, 1), (100, 100), (4, 4), (1, 1), 1),
}


def turned(x):
    """(N, C, H, W) as it lies in channels-last memory."""
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def run(name, element, first, second, like, shape, cuts=()):
    """A kernel's result, computed in the ranges between these cuts."""
    numbers, elements = plan_of(name, shape)
    scratch = np.full(elements + 32, np.nan, element)
    scratch = scratch[-(scratch.ctypes.data // scratch.itemsize) % 16 :]
    out = np.full(turned(like).shape, np.nan, element)
    for lo, hi in itertools.pairwise([0, *cuts, extent_of(name, shape)]):
        kernel = channels_last_kernel(name, element)
        kernel(lo, hi, turned(first), turned(second), out, scratch, np.array(numbers, np.int64))
    return out.transpose(0, 3, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("element", ["float32", "float64"])
@pytest.mark.parametrize("name", [*SHAPES, *MORE_SHAPES])
@pytest.mark.heavy
def test_each_kernel_computes_its_sum(name, element):
    shape = {**SHAPES, **MORE_SHAPES}[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((shape.images, shape.channels, *shape.image)).astype(element)
    w = rng.standard_normal((shape.filters, shape.part, *shape.kernel)).astype(element)
    grad = rng.standard_normal((shape.images, shape.filters, *shape.out)).astype(element)
    inputs = {"convolution": (x, w), "convolution_weight_grad": (grad, x), "convolution_input_grad": (grad, w)}
    tolerance = 1e-5 if element == "float32" else 1e-13
    for kernel, wanted in expected(x.astype("f8"), w.astype("f8"), grad.astype("f8"), shape).items():
        found = run(kernel, element, *inputs[kernel], wanted, shape)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 40, err_msg=kernel)


@pytest.mark.slow
@pytest.mark.parametrize("stride", [1, 2])
def test_parts_of_the_range_have_the_same_bits_as_all_of_it(stride):
    shape = geometry(1, 48, (24, 24), 70, (3, 3), (stride, stride), (1, 1), (1, 1), 1)
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((1, 48, 24, 24), np.float32), rng.standard_normal((70, 48, 3, 3), np.float32)
    grad = rng.standard_normal((1, 70, *shape.out), np.float32)
    inputs = {
        "convolution": (x, w, grad),
        "convolution_input_grad": (grad, w, x),
        "convolution_weight_grad": (grad, x, w),
    }
    for kernel, arrays in inputs.items():
        assert extent_of(kernel, shape) > 3
        whole = run(kernel, "float32", *arrays, shape)
        assert np.array_equal(whole, run(kernel, "float32", *arrays, shape, cuts=(1, 3)))


def test_every_kernel_has_a_plan():
    assert KERNELS.keys() == PLANS.keys()


@pytest.mark.parametrize("cpu, is_filled", [("skylake-avx512", False), ("haswell", False), ("x86-64", True)])
def test_a_gradient_of_three_channels_would_leave_vectors_empty_unless_they_hold_four(cpu, is_filled):
    shape = geometry(8, 3, (32, 32), 32, (3, 3), (1, 1), (1, 1), (1, 1), 1)
    with using(named(cpu, triple="x86_64-unknown-linux-gnu")):
        assert [suits(kernel, shape) for kernel in KERNELS] == [True, True, is_filled]


# ------------------------------------------------------------------------------------------------ programs


def channels_last(*sizes):
    return torch.randn(*sizes, dtype=torch.float64).to(memory_format=torch.channels_last)


def bottleneck(x, narrow, spread, wide, scale):
    y = torch.relu(functional.conv2d(x, narrow) * scale[:, None, None])
    y = torch.relu(functional.conv2d(y, spread, None, 1, 1, 1, y.shape[1]))
    return torch.relu(functional.conv2d(y, wide, None, 1, 1) + x)


def operands_of_bottleneck():
    torch.manual_seed(0)
    weights = channels_last(16, 32, 1, 1), channels_last(16, 1, 3, 3), channels_last(32, 16, 3, 3)
    return channels_last(3, 32, 10, 12), *weights, torch.randn(16, dtype=torch.float64)


@pytest.mark.slow
def test_a_chain_of_convolutions_stays_channels_last_and_copies_nothing():
    steps = inspect(bottleneck, *operands_of_bottleneck()).schedule.steps
    calls = [call_of(step).kernel for step in steps if type(step).__name__ != "Group"]
    assert calls == ["pack_panels", "packed_product", "channels_last_convolution", "channels_last_convolution"]
    assert [type(step).__name__ for step in steps] == ["ExternCall"] + ["FusedCall"] * 3


@pytest.mark.slow
def test_compiled_convolutions_have_the_values_and_strides_of_eager_ones():
    operands = [x.requires_grad_() for x in operands_of_bottleneck()]
    grad = channels_last(3, 32, 10, 12)
    results = []
    for function in (bottleneck, torch.compile(bottleneck)):
        out = function(*operands)
        results.append([out, *torch.autograd.grad(out, operands, grad)])
    for eager, compiled in zip(*results):
        assert eager.stride() == compiled.stride()
        torch.testing.assert_close(compiled, eager)


@pytest.mark.slow
def test_a_part_of_an_image_is_laid_out_first():
    torch.manual_seed(0)
    x, w = channels_last(2, 24, 9, 9), channels_last(16, 16, 3, 3)
    function = lambda x, w: functional.conv2d(x[:, 4:20, 1:], w)
    torch.testing.assert_close(torch.compile(function)(x, w), function(x, w))


@pytest.mark.slow
def test_what_is_kept_for_the_backward_pass_stays_channels_last():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.spread, self.norm = nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False), nn.BatchNorm2d(16)
            self.wide = nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False)

        def forward(self, x):
            return self.wide(torch.relu(self.norm(self.spread(x))))

    torch.manual_seed(0)
    block = Block().to(memory_format=torch.channels_last, dtype=torch.float64)
    x = channels_last(4, 16, 12, 12).requires_grad_()
    backward = inspect(block, x).backward_schedule
    calls = [step.kernel for step in backward.steps if isinstance(step, ExternCall)]
    assert calls and all(kernel.startswith("channels_last_") for kernel in calls)


# Of (input, weight, gradient): whether each lies channels last. PyTorch 2.13 goes by the first two.
@pytest.mark.parametrize("x_last, w_last, grad_last", list(itertools.product((False, True), repeat=3)))
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.heavy
def test_results_lie_channels_last_if_the_input_or_the_weight_does(compiled, x_last, w_last, grad_last):
    torch.manual_seed(0)
    x, w = channels_last(2, 4, 5, 6), channels_last(8, 4, 3, 3)
    x, w = (t if last else t.contiguous() for t, last in ((x, x_last), (w, w_last)))
    operands = [x.requires_grad_(), w.requires_grad_()]
    function = lambda x, w: functional.conv2d(x, w, None, 1, 1)
    out = (torch.compile(function) if compiled else function)(*operands)
    grad = channels_last(*out.shape) if grad_last else channels_last(*out.shape).contiguous()
    for result in (out, *torch.autograd.grad(out, operands, grad)):
        assert result.is_contiguous(memory_format=torch.channels_last) == (x_last or w_last)
        assert result.is_contiguous() == (not (x_last or w_last))
