"""Convolutions that slide over shifted planes, against a sum over windows in float64."""

import itertools

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.compiler import inspect
from minitorch_compile.inductor.kernels.convolution import KERNELS, convolution_kernel, extent_of, plan_of
from minitorch_compile.inductor.machine import named, using
from minitorch_compile.kernel_library.convolution_plan import PLANS, Shape

PC = "x86_64-unknown-linux-gnu"
AVX2, AVX512 = named("haswell", triple=PC), named("skylake-avx512", triple=PC)


def geometry(images, channels, image, filters, kernel, stride, padding, dilation, groups):
    out = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in zip(image, padding, dilation, kernel, stride)
    )
    return Shape(images, channels, image, filters, kernel, out, stride, padding, dilation, groups)


SHAPES = {
    "3x3": geometry(2, 3, (9, 11), 5, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "wide": geometry(1, 2, (4, 70), 9, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "many filters": geometry(3, 17, (8, 8), 37, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "stride 2": geometry(2, 3, (9, 10), 8, (3, 3), (2, 2), (1, 1), (1, 1), 1),
    "stride beyond the kernel": geometry(2, 3, (9, 10), 8, (1, 2), (2, 3), (0, 0), (1, 1), 1),
    "two strides": geometry(2, 2, (12, 13), 3, (5, 4), (2, 3), (2, 1), (1, 1), 1),
    "dilation": geometry(2, 3, (12, 13), 4, (3, 3), (1, 1), (2, 2), (2, 3), 1),
    "stride and dilation": geometry(2, 3, (14, 13), 4, (3, 3), (2, 2), (2, 3), (3, 2), 1),
    "groups": geometry(2, 6, (9, 9), 8, (3, 3), (1, 1), (1, 1), (1, 1), 2),
    "depthwise": geometry(3, 7, (9, 9), 7, (3, 3), (2, 2), (1, 1), (1, 1), 7),
    "patches": geometry(2, 3, (16, 16), 10, (4, 4), (4, 4), (0, 0), (1, 1), 1),
    "1x1": geometry(2, 5, (6, 7), 19, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    "1x1 of groups": geometry(2, 6, (6, 7), 40, (1, 1), (1, 1), (0, 0), (1, 1), 2),
    "1x1, wide": geometry(2, 5, (16, 17), 19, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    "1x1 with stride": geometry(2, 5, (6, 7), 4, (1, 1), (2, 2), (0, 0), (1, 1), 1),
    "more padding than kernel": geometry(2, 2, (5, 5), 3, (2, 2), (1, 1), (3, 4), (1, 1), 1),
    "border wider than the image": geometry(2, 3, (3, 2), 9, (3, 3), (1, 1), (4, 4), (4, 4), 1),
    "border on one side only": geometry(2, 3, (6, 7), 9, (4, 4), (1, 1), (1, 1), (1, 1), 1),
    "single place": geometry(2, 3, (3, 3), 9, (3, 3), (1, 1), (0, 0), (1, 1), 1),
    "wide with stride": geometry(1, 2, (5, 71), 4, (3, 3), (2, 2), (1, 1), (1, 1), 1),
    "depthwise 5x5": geometry(2, 4, (6, 35), 4, (5, 5), (1, 1), (2, 2), (1, 1), 4),
    "one line": geometry(2, 4, (1, 40), 6, (1, 5), (1, 1), (0, 2), (1, 1), 1),
    "rows that the kernel never meets": geometry(1, 2, (10, 10), 3, (2, 2), (3, 3), (0, 0), (1, 1), 1),
}


def windows(x, shape):
    """x[n, c, y, x, ky, kx] as the windows see it."""
    (py, px), (sy, sx), (dy, dx) = shape.padding, shape.stride, shape.dilation
    padded = np.pad(x, ((0, 0), (0, 0), (py, py), (px, px)))
    seen = np.empty((*x.shape[:2], *shape.out, *shape.kernel))
    for ky, kx in itertools.product(*map(range, shape.kernel)):
        part = padded[:, :, ky * dy :, kx * dx :][:, :, ::sy, ::sx]
        seen[..., ky, kx] = part[:, :, : shape.out[0], : shape.out[1]]
    return seen


def expected(x, w, grad, shape):
    """The results of the three kernels, in float64."""
    n, groups = shape.images, shape.groups
    part, rows = shape.channels // groups, shape.filters // groups
    seen = windows(x, shape).reshape(n, groups, part, *shape.out, *shape.kernel)
    weight = w.reshape(groups, rows, part, *shape.kernel)
    grads = grad.reshape(n, groups, rows, *shape.out)
    out = np.einsum("ngcyxij,gfcij->ngfyx", seen, weight).reshape(n, -1, *shape.out)
    weight_grad = np.einsum("ngcyxij,ngfyx->gfcij", seen, grads).reshape(w.shape)
    into = np.einsum("ngfyx,gfcij->ngcyxij", grads, weight).reshape(n, -1, *shape.out, *shape.kernel)
    return {"convolution": out, "convolution_weight_grad": weight_grad, "convolution_input_grad": folded(into, shape)}


def folded(into, shape):
    """What goes into each place of the windows, added up on the image."""
    (py, px), (sy, sx), (dy, dx) = shape.padding, shape.stride, shape.dilation
    height, width = shape.image
    image = np.zeros((*into.shape[:2], height + 2 * py, width + 2 * px))
    for ky, kx in itertools.product(*map(range, shape.kernel)):
        for y, x in itertools.product(*map(range, shape.out)):
            image[:, :, y * sy + ky * dy, x * sx + kx * dx] += into[:, :, y, x, ky, kx]
    return image[:, :, py : py + height, px : px + width]


def run(name, element, first, second, result, shape, cuts=()):
    """A kernel's result, computed in the ranges between these cuts."""
    numbers, elements = plan_of(name, shape)
    scratch = np.full(elements + 32, np.nan, element)
    scratch = scratch[-(scratch.ctypes.data // scratch.itemsize) % 16 :]
    out = np.full(result.shape, np.nan, element)
    ends = [0, *cuts, extent_of(name, shape)]
    for lo, hi in itertools.pairwise(ends):
        convolution_kernel(name, element)(lo, hi, first, second, out, scratch, np.array(numbers, np.int64))
    return out


@pytest.mark.parametrize("element", ["float32", "float64"])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.heavy
def test_each_kernel_computes_its_sum(name, element):
    shape = SHAPES[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((shape.images, shape.channels, *shape.image)).astype(element)
    w = rng.standard_normal((shape.filters, shape.channels // shape.groups, *shape.kernel)).astype(element)
    grad = rng.standard_normal((shape.images, shape.filters, *shape.out)).astype(element)
    inputs = {"convolution": (x, w), "convolution_weight_grad": (grad, x), "convolution_input_grad": (grad, w)}
    tolerance = 1e-5 if element == "float32" else 1e-13
    for kernel, wanted in expected(x.astype("f8"), w.astype("f8"), grad.astype("f8"), shape).items():
        found = run(kernel, element, *inputs[kernel], wanted, shape)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 40, err_msg=kernel)


@pytest.mark.parametrize("channels, filters, parts", [(4, 70, 2), (70, 16, 4)])
def test_parts_of_the_range_have_the_same_bits_as_all_of_it(channels, filters, parts):
    shape = geometry(3, channels, (20, 20), filters, (3, 3), (1, 1), (1, 1), (1, 1), 1)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(size, np.float32) for size in ((3, channels, 20, 20), (filters, channels, 3, 3)))
    grad = rng.standard_normal((3, filters, 20, 20), np.float32)
    for kernel, first, second, like in (
        ("convolution", x, w, grad),
        ("convolution_input_grad", grad, w, x),
        ("convolution_weight_grad", grad, x, w),
    ):
        whole = run(kernel, "float32", first, second, like, shape)
        assert np.array_equal(whole, run(kernel, "float32", first, second, like, shape, cuts=(1, 2)))
    assert extent_of("convolution_weight_grad", shape) == parts


def test_no_images_make_a_weight_gradient_of_zeros():
    for kernel in ((3, 3), (1, 1)):
        shape = geometry(0, 3, (5, 5), 4, kernel, (1, 1), (0, 0), (1, 1), 1)
        grad, x = np.empty((0, 4, *shape.out), np.float32), np.empty((0, 3, 5, 5), np.float32)
        found = run("convolution_weight_grad", "float32", grad, x, np.empty((4, 3, *kernel)), shape)
        assert not found.any()


def test_one_image_is_cut_into_ranges_of_filters():
    shape = geometry(1, 64, (28, 28), 64, (3, 3), (1, 1), (1, 1), (1, 1), 1)
    for machine in (AVX2, AVX512):
        with using(machine):
            assert [extent_of(kernel, shape) for kernel in KERNELS] == [8, 4, 8]


def test_every_kernel_has_a_plan():
    assert KERNELS.keys() == PLANS.keys()


@pytest.mark.parametrize(
    "images, channels, filters, side, stride, groups",
    [(16, 16, 16, 12, 1, 1), (3, 8, 8, 9, 2, 8), (1, 64, 64, 28, 1, 1), (2, 12, 24, 9, 1, 4), (1, 64, 60, 28, 1, 1)],
)
def test_what_follows_a_convolution_runs_on_each_block_of_its_result(images, channels, filters, side, stride, groups):
    def block(x, w, scale, shift, shortcut):
        y = torch.nn.functional.conv2d(x, w, None, stride, 1, 1, groups)
        return torch.relu(y * scale[:, None, None] + shift[:, None, None] + shortcut)

    torch.manual_seed(0)
    x = torch.randn(images, channels, side, side, dtype=torch.float64)
    w = torch.randn(filters, channels // groups, 3, 3, dtype=torch.float64)
    scale, shift = torch.randn(2, filters, dtype=torch.float64)
    shortcut = torch.randn(images, filters, -(-side // stride), -(-side // stride), dtype=torch.float64)
    inputs = x, w, scale, shift, shortcut
    torch.testing.assert_close(torch.compile(block)(*inputs), block(*inputs))
    steps = [type(step).__name__ for step in inspect(block, *inputs).schedule.steps]
    assert steps == (["FusedCall"] if filters != 60 else ["ExternCall", "Group"])  # 60: the last range is smaller
