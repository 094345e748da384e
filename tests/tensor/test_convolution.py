"""Convolution in one to three dimensions against a loop over windows, and transposed convolution against the matrix of
the convolution it transposes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import from_numpy, ops

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
SIZES = {1: (9,), 2: (7, 6), 3: (4, 5, 3)}


def random(*sizes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=sizes)


def naive(x, w, stride, padding, dilation, groups):
    """The definition: for each filter and place, the sum over the window."""
    ndim, kernel = x.ndim - 2, w.shape[2:]
    x = np.pad(x, [(0, 0), (0, 0), *((padding, padding) for _ in kernel)])
    out = [(n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(x.shape[2:], kernel, strict=True)]
    result = np.zeros((x.shape[0], w.shape[0], *out))
    channels, filters = x.shape[1] // groups, w.shape[0] // groups
    for f, at in itertools.product(range(w.shape[0]), itertools.product(*map(range, out))):
        first = f // filters * channels
        places = [slice(i * stride, i * stride + dilation * (k - 1) + 1, dilation) for i, k in zip(at, kernel)]
        seen = x[:, first : first + channels][(slice(None), slice(None), *places)]
        result[(slice(None), f, *at)] = (seen * w[f]).sum(axis=tuple(range(1, ndim + 2)))
    return result


GEOMETRIES = [  # stride, padding, dilation, groups
    (1, 0, 1, 1),
    (2, 1, 1, 2),
    (1, 2, 2, 1),
    (3, 1, 1, 4),
]


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("kernel", [1, 2])
def test_convolution_is_a_sum_over_windows(ndim, geometry, kernel):
    groups = geometry[3]
    x, w = random(2, 4, *SIZES[ndim]), random(8, 4 // groups, *(kernel,) * ndim, seed=1)
    actual = CONV[ndim](from_numpy(x), from_numpy(w), None, *geometry)
    np.testing.assert_allclose(actual.numpy(), naive(x, w, *geometry), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize(("stride", "padding", "groups", "dilation"), [(1, 0, 1, 1), (2, 1, 2, 1), (2, 0, 1, 2)])
def test_a_transposed_convolution_is_the_transposed_matrix(ndim, stride, padding, groups, dilation):
    """<conv(x), y> = <x, conv_transpose(y)> for all x and y says just that."""
    x, w = random(1, 4, *SIZES[ndim]), random(2, 4 // groups, *(3,) * ndim, seed=1)
    if dilation == 2 and ndim == 3:
        w = w[:, :, :2, :2, :2].copy()
    forth = CONV[ndim](from_numpy(x), from_numpy(w), None, stride, padding, dilation, groups)
    y = random(*forth.shape, seed=2)
    extra = [
        n - ((m - 1) * stride - 2 * padding + dilation * (k - 1) + 1)
        for n, m, k in zip(x.shape[2:], y.shape[2:], w.shape[2:], strict=True)
    ]
    back = TRANSPOSED[ndim](from_numpy(y), from_numpy(w), None, stride, padding, extra, groups, dilation)
    assert back.shape == x.shape
    assert (forth.numpy() * y).sum() == pytest.approx((x * back.numpy()).sum())


def test_output_padding_beyond_the_stride():
    """With a dilation larger than the stride, PyTorch allows an output padding that no convolution could have."""
    w = torch.ones(1, 1, 2)
    plain = F.conv_transpose1d(torch.ones(1, 1, 3), w, dilation=3, padding=1)
    longer = F.conv_transpose1d(torch.ones(1, 1, 3), w, dilation=3, padding=1, output_padding=2)
    assert plain.tolist() == [[[1, 1, 1, 1]]]
    assert longer.tolist() == [[[1, 1, 1, 1, 1, 0]]]


class TestPadding:
    def test_same_keeps_the_size_and_puts_the_odd_one_behind(self):
        out = F.conv1d(torch.arange(4.0).view(1, 1, 4), torch.tensor([[[1.0, 10.0]]]), padding="same")
        assert out.tolist() == [[[10, 21, 32, 3]]]

    def test_valid_is_none(self):
        assert F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 3), padding="valid").shape == (1, 1, 2)

    def test_same_with_a_stride_is_refused(self):
        with pytest.raises(RuntimeError, match="padding='same' is not supported for strided convolutions"):
            F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 3), stride=2, padding="same")


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_without_a_batch_dimension(ndim):
    x, w = torch.randn(4, *SIZES[ndim]), torch.randn(3, 4, *(2,) * ndim)
    assert torch.equal(CONV[ndim](x, w), CONV[ndim](x[None], w)[0])
    assert torch.equal(TRANSPOSED[ndim](x, w.transpose(0, 1)), TRANSPOSED[ndim](x[None], w.transpose(0, 1))[0])


def test_an_empty_batch_has_a_gradient():
    x, w = torch.ones(0, 2, 4, 4, requires_grad=True), torch.ones(3, 2, 2, 2, requires_grad=True)
    F.conv2d(x, w).sum().backward()
    assert x.grad.shape == x.shape
    assert not w.grad.any()


@pytest.mark.parametrize("kernel", [1, 2])
def test_no_channels(kernel):
    x, w = torch.ones(2, 0, 3, 3, requires_grad=True), torch.ones(4, 0, kernel, kernel, requires_grad=True)
    out = F.conv2d(x, w)
    assert out.shape == (2, 4, 4 - kernel, 4 - kernel)
    assert not out.any()
    out.sum().backward()
    assert x.grad.shape == x.shape
    assert w.grad.shape == w.shape


@pytest.mark.parametrize("element", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_sums_in_single(element):
    x, w = torch.ones(1, 4096, 1, 1, dtype=element), torch.ones(1, 4096, 1, 1, dtype=element)
    out = F.conv2d(x, w)
    assert out.dtype is element
    assert out.item() == 4096  # summed in half precision, it would stop at 2048, or earlier


def test_integers():
    x, w = torch.arange(9).view(1, 1, 3, 3), torch.ones(1, 1, 2, 2).long()
    assert F.conv2d(x, w).tolist() == [[[[8, 12], [20, 24]]]]


def test_complex_gradients_are_conjugated():
    z, w = torch.tensor([[[1 + 2j, 3 - 1j]]], requires_grad=True), torch.tensor([[[2 + 1j]]], requires_grad=True)
    F.conv1d(z, w).real.sum().backward()
    assert z.grad.tolist() == [[[2 - 1j, 2 - 1j]]]
    assert w.grad.tolist() == [[[4 - 1j]]]


@pytest.mark.parametrize("which", ["input", "weight"])
def test_channels_last_stays_channels_last(which):
    x, w = torch.randn(2, 4, 5, 6), torch.randn(3, 4, 3, 3)
    expected = F.conv2d(x, w)
    changed = {"input": x, "weight": w}
    changed[which] = changed[which].to(memory_format=torch.channels_last)
    actual = F.conv2d(changed["input"], changed["weight"])
    assert actual.is_contiguous(memory_format=torch.channels_last)
    assert torch.allclose(actual, expected, atol=1e-5)


def test_many_images_are_convolved_a_few_at_a_time():
    """More elements than one chunk of columns holds."""
    x, w = random(40, 16, 16, 16).astype("f"), random(2, 16, 3, 3, seed=1).astype("f")
    whole = F.conv2d(from_numpy(x), from_numpy(w), padding=1)
    assert torch.allclose(whole[-1:], F.conv2d(from_numpy(x[-1:]), from_numpy(w), padding=1), atol=1e-5)
    grad = ops.convolution_weight_grad(whole, from_numpy(x), (2, 16, 3, 3), (1, 1), (1, 1), (1, 1), 1)
    halves = [
        ops.convolution_weight_grad(whole[s], from_numpy(x[s]), (2, 16, 3, 3), (1, 1), (1, 1), (1, 1), 1)
        for s in (np.s_[:20], np.s_[20:])
    ]
    assert torch.allclose(grad, halves[0] + halves[1], rtol=1e-3, atol=1e-2)


X, W = torch.ones(2, 4, 6, 6), torch.ones(8, 4, 3, 3)
REFUSED = {
    "three strides for two dimensions": (lambda: F.conv2d(X, W, stride=[2, 2, 2]), "expected stride to be"),
    "a negative padding": (lambda: F.conv2d(X, W, padding=-1), "negative padding"),
    "stride 0": (lambda: F.conv2d(X, W, stride=0), "non-positive stride"),
    "dilation 0": (lambda: F.conv2d(X, W, dilation=0), "non-positive dilation"),
    "no groups": (lambda: F.conv2d(X, W, groups=0), "non-positive groups"),
    "filters not divisible": (lambda: F.conv2d(X, W, groups=3), "divisible by 3 at dimension 0"),
    "a padding of another name": (lambda: F.conv2d(X, W, padding="full"), "Invalid padding string: 'full'"),
    "an input of two dimensions": (lambda: F.conv2d(X[0, 0], W), "Expected 3D .unbatched. or 4D .batched. input"),
    "a weight of three dimensions": (lambda: F.conv2d(X, W[0]), "expected a 4D weight"),
    "other channels": (lambda: F.conv2d(X[:, :3], W), "to have 4 channels, but got 3 channels"),
    "an image smaller than the kernel": (lambda: F.conv2d(X[:, :, :2], W), "Kernel size can't be greater"),
    "a bias of another size": (lambda: F.conv2d(X, W, torch.ones(3)), "expected bias to be 1-dimensional with 8"),
    "a weight of another dtype": (lambda: F.conv2d(X, W.double()), "should be the same"),
    "a bias of another dtype": (lambda: F.conv2d(X, W, torch.ones(8).double()), "bias type .* should be the same"),
    "too much output padding": (
        lambda: F.conv_transpose2d(X, W.transpose(0, 1), stride=2, output_padding=2),
        "output padding must be smaller than either stride or dilation",
    ),
    "an empty transposed result": (
        lambda: F.conv_transpose2d(X[:, :, :1], W.transpose(0, 1), padding=2),
        "Output size is too small",
    ),
    "other channels, transposed": (lambda: F.conv_transpose2d(X, W), "to have 8 channels"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(RuntimeError, match=message):
        call()


def test_a_fraction_is_no_padding():
    with pytest.raises(TypeError, match="argument 'padding' must be an int or a tuple of ints"):
        F.conv2d(X, W, padding=1.0)


def test_a_list_is_no_tensor():
    with pytest.raises(TypeError, match=r"conv2d\(\): argument 'weight' \(position 2\) must be Tensor, not list"):
        F.conv2d(X, [1])
