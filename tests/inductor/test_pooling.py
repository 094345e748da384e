"""Maximum pooling by vectors of windows, against the definition; shares of means, against differences."""

import itertools

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.inductor.kernels.pooling import max_pool_kernel
from minitorch_compile.kernel_library.pooling_sizes import PoolingSizes

WINDOWS = {
    "tiles": PoolingSizes(2, 8, 70, 4, 35, 2, 2, 2, 2),
    "overlapping": PoolingSizes(2, 9, 40, 9, 40, 3, 3, 1, 1, 1, 1, 1, 1),
    "every other": PoolingSizes(3, 9, 41, 5, 21, 3, 3, 2, 2, 1, 1, 1, 1),
    "stride 3": PoolingSizes(2, 9, 20, 3, 6, 3, 4, 3, 3, 0, 1, 1, 1),
    "dilation": PoolingSizes(2, 9, 20, 5, 16, 3, 3, 1, 1, 0, 1, 2, 3),
    "wider than the image": PoolingSizes(2, 3, 2, 2, 1, 4, 4, 1, 1, 1, 1, 1, 1),
    "beyond the end": PoolingSizes(1, 5, 5, 3, 3, 2, 2, 2, 2),
}


def expected(x, window):
    """The first of the largest elements of each window, or the last NaN."""
    shape = window.planes, window.out_y, window.out_x
    values, places = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    dilation = max(window.dilation_y, 1), max(window.dilation_x, 1)
    for plane, oy, ox in np.ndindex(*shape):
        best, place = -np.inf, None
        for ky, kx in itertools.product(range(window.kernel_y), range(window.kernel_x)):
            y = oy * window.stride_y - window.padding_y + ky * dilation[0]
            column = ox * window.stride_x - window.padding_x + kx * dilation[1]
            if 0 <= y < window.height and 0 <= column < window.width:
                value = x[plane, y, column]
                if place is None or value > best or value != value:
                    best, place = value, y * window.width + column
        values[plane, oy, ox], places[plane, oy, ox] = best, place
    return values, places


@pytest.mark.parametrize("element", ["float32", "float64"])
@pytest.mark.parametrize("name", WINDOWS)
def test_a_maximum_is_the_first_of_equals_or_the_last_nan(name, element):
    window = WINDOWS[name]._replace(
        dilation_y=max(WINDOWS[name].dilation_y, 1), dilation_x=max(WINDOWS[name].dilation_x, 1)
    )
    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, (window.planes, window.height, window.width)).astype(element)
    x[rng.random(x.shape) < 0.2] = -np.inf
    x[rng.random(x.shape) < 0.05] = np.nan
    values, places = expected(x, window)
    found, where = np.full_like(values, 7), np.full_like(places, -7)
    max_pool_kernel(element)(0, window.planes, x, found, where, np.array(window, np.int64))
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(where, places)


@pytest.mark.parametrize("kernel, stride, padding", [(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 3, 0), (5, 2, 2)])
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_the_gradient_of_a_mean_gives_each_element_its_share_of_every_window(kernel, stride, padding, ceil_mode):
    def mean(x):
        return torch.nn.functional.avg_pool2d(x, kernel, stride, padding, ceil_mode, count_include_pad=False)

    x = torch.zeros(1, 1, 7, 8, dtype=torch.float64, requires_grad=True)
    out = torch.compile(mean)(x)
    grad = torch.arange(1.0, out.numel() + 1, dtype=torch.float64).reshape(out.shape)
    out.backward(grad)
    units = torch.eye(56, dtype=torch.float64).reshape(56, 1, 7, 8)  # the mean is linear: its columns, one by one
    wanted = (mean(units) * grad).sum((1, 2, 3)).reshape(1, 1, 7, 8)
    torch.testing.assert_close(x.grad, wanted)
