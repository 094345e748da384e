"""Padding, resizing, unfolding, shuffling and sampling: small cases by hand, NumPy, and numbers of PyTorch 2.13."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import from_numpy

SQUARES = torch.tensor([0.0, 1.0, 4.0, 9.0])
SIGNAL, IMAGE = SQUARES.view(1, 1, 4), SQUARES.view(1, 1, 2, 2)
LARGER = (torch.arange(8.0) ** 2).view(1, 1, 2, 4)


def random(*sizes: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=sizes)


# ------------------------------------------------------------------------------------------ padding

NUMPY_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", NUMPY_MODES)
@pytest.mark.parametrize("pad", [(1, 2), (2, 1, 0, 2), (1, 1, 2, 0, 0, 1), (0, 0)])
def test_borders(mode, pad):
    x = random(2, *(4, 3, 5)[-(len(pad) // 2) :])
    around = [*zip(pad[0::2], pad[1::2], strict=True), (0, 0)]
    expected = np.pad(x, around[::-1], mode=NUMPY_MODES[mode])
    np.testing.assert_array_equal(F.pad(from_numpy(x), pad, mode).numpy(), expected)


@pytest.mark.parametrize("mode", NUMPY_MODES)
def test_negative_borders_take_away_first(mode):
    x = torch.arange(5.0).view(1, 1, 5)
    assert torch.equal(F.pad(x, (-1, 2), mode), F.pad(x[:, :, 1:], (0, 2), mode))


def test_any_number_of_dimensions_has_constant_borders():
    x = torch.ones(2, 3)
    assert F.pad(x, (0, 1, 1, 0), value=7).tolist() == [[7, 7, 7, 7], [1, 1, 1, 7], [1, 1, 1, 7]]
    assert F.pad(x, (-2, -1)).shape == (2, 0)
    assert F.pad(torch.tensor([True]), (1, 0)).tolist() == [False, True]
    assert F.pad(torch.tensor([1]), (1, 0), value=2.7).tolist() == [2, 1]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_borders_wider_than_what_negative_ones_leave(mode):
    with pytest.raises(RuntimeError, match=r"pad: .* dimension 2"):
        F.pad(torch.ones(1, 1, 2), (3, -2), mode)


def test_padding_is_a_copy_even_of_nothing():
    x = torch.ones(1, 1, 3)
    for mode in NUMPY_MODES:
        assert F.pad(x, (0, 0), mode).data_ptr() != x.data_ptr()


# ------------------------------------------------------------------------------------------ resizing

RESIZED = [
    (SIGNAL, {"size": 6}, [0.0, 0.0, 1.0, 4.0, 4.0, 9.0]),
    (SIGNAL, {"size": 6, "mode": "nearest-exact"}, [0.0, 1.0, 1.0, 4.0, 9.0, 9.0]),
    (SIGNAL, {"scale_factor": 1.6}, [0.0, 0.0, 1.0, 1.0, 4.0, 9.0]),
    (SIGNAL, {"size": 6, "mode": "linear"}, [0.0, 0.5, 1.5, 3.5, 6.5, 9.0]),
    (SIGNAL, {"size": 6, "mode": "linear", "align_corners": True}, [0.0, 0.6, 1.6, 3.4, 6.0, 9.0]),
    (SIGNAL, {"size": 2, "mode": "linear"}, [0.5, 6.5]),
    (SIGNAL, {"scale_factor": 1.6, "mode": "linear"}, [0.0, 0.4375, 1.1875, 3.0625, 5.5625, 8.6875]),
    (
        SIGNAL,
        {"scale_factor": 1.6, "mode": "linear", "recompute_scale_factor": True},
        [0.0, 0.5, 1.5, 3.5, 6.5, 9.0],
    ),
    (SIGNAL, {"size": 3, "mode": "area"}, [0.5, 2.5, 6.5]),
    (IMAGE, {"size": (3, 2), "mode": "bilinear"}, [0.0, 1.0, 2.0, 5.0, 4.0, 9.0]),
    (IMAGE, {"size": (2, 3), "mode": "bicubic"}, [-0.08681, 0.5, 1.08681, 3.56597, 6.5, 9.43403]),
    (
        IMAGE,
        {"size": (2, 4), "mode": "bicubic", "align_corners": True},
        [0.0, 0.31481, 0.68519, 1.0, 4.0, 5.57407, 7.42593, 9.0],
    ),
    (LARGER, {"size": (1, 2), "mode": "bilinear", "antialias": True}, [11.85714, 22.85714]),
    (
        LARGER,
        {"size": (2, 3), "mode": "bicubic", "antialias": True},
        [0.07551, 2.3592, 7.93593, 17.59497, 30.35919, 46.41648],
    ),
    (
        IMAGE[None],
        {"scale_factor": (2, 1, 2), "mode": "trilinear"},
        [0.0, 0.25, 0.75, 1.0, 4.0, 5.25, 7.75, 9.0] * 2,
    ),
]


@pytest.mark.parametrize(("x", "how", "expected"), RESIZED, ids=[str(how) for _, how, _ in RESIZED])
def test_resized_as_in_pytorch(x, how, expected):
    for element, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-4), (torch.float16, 2e-2)):
        actual = F.interpolate(x.to(element), **how)
        assert actual.dtype is element
        assert actual.flatten().tolist() == pytest.approx(expected, abs=tolerance)


def test_places_are_rounded_once_as_by_pytorchs_fused_multiplication():
    """Two pixels that differ by 10,000 show where between them PyTorch 2.13 looks."""
    stripes = torch.tensor([[[0.0, 1e4] * 60]])
    wider = F.interpolate(stripes, size=163, mode="linear").flatten()
    assert wider[[87, 2]].tolist() == pytest.approx([828.208923, 6595.091797], abs=2e-3)
    smoothed = F.interpolate(stripes[None], size=(1, 77), mode="bilinear", antialias=True).flatten()
    assert smoothed[[50, 60, 70]].tolist() == pytest.approx([4514.426758, 4538.259766, 5154.939941], abs=2e-3)


def test_a_scale_factor_that_changes_no_size():
    """PyTorch's modes differ in whether it counts then."""
    x = torch.arange(4.0).view(1, 1, 4) ** 2
    assert F.interpolate(x, scale_factor=1.1, mode="linear").tolist() == x.tolist()
    assert F.interpolate(x[None], scale_factor=(1, 1.1)).tolist() == x[None].tolist()
    assert F.interpolate(x, scale_factor=1.1).tolist() == [[[0, 0, 1, 4]]]


def test_bytes_are_rounded_and_kept_in_range():
    x = torch.tensor([[[[0, 255, 0]]]], dtype=torch.uint8)
    assert F.interpolate(x, size=(1, 6)).tolist() == [[[[0, 0, 255, 255, 0, 0]]]]
    assert F.interpolate(x, size=(1, 6), mode="bicubic").dtype is torch.uint8


# As PyTorch 2.13 makes a 3 x 7 image of BYTES: by 16-bit weights, and in bytes between the dimensions.
BYTES = [[37 * (5 * row + column) % 256 for column in range(5)] for row in range(4)]
RESIZED_BYTES = {
    ("bilinear", True): "55 76 81 53 79 106 127 150 171 161 96 122 94 42 64 85 112 138 164 158 136",
    ("bilinear", False): "31 52 66 62 88 115 136 150 171 161 96 122 94 42 55 76 103 129 155 164 160",
    ("bicubic", True): "49 73 79 46 69 108 137 156 186 173 96 128 91 30 54 74 108 145 177 167 141",
    ("bicubic", False): "27 50 66 61 83 118 142 170 207 183 96 131 88 15 49 70 102 130 160 169 165",
}


@pytest.mark.parametrize(("mode", "antialias"), RESIZED_BYTES)
def test_resized_bytes_are_pytorchs_to_the_last(mode, antialias):
    x = torch.tensor([[BYTES]], dtype=torch.uint8)
    found = F.interpolate(x, size=(3, 7), mode=mode, antialias=antialias)
    assert found.flatten().tolist() == [int(byte) for byte in RESIZED_BYTES[mode, antialias].split()]


def test_the_same_size_is_a_copy():
    out = F.interpolate(IMAGE, size=2)
    assert torch.equal(out, IMAGE)
    assert out.data_ptr() != IMAGE.data_ptr()


def test_a_nan_stays_where_it_is():
    x = torch.tensor([[[0.0, float("nan"), 1.0, 2.0]]])
    assert F.interpolate(x, scale_factor=2, mode="linear").isnan().tolist() == [[[*[True] * 5, *[False] * 3]]]


RESIZING_REFUSED = {
    "no size": ({}, ValueError, "either size or scale_factor"),
    "two sizes": ({"size": 2, "scale_factor": 2}, ValueError, "only one of size or scale_factor"),
    "corners of the nearest": ({"size": 2, "align_corners": True}, ValueError, "align_corners option"),
    "a mode for sequences": ({"size": 2, "mode": "linear"}, NotImplementedError, "linear mode needs 3D input"),
    "an unknown mode": ({"size": 2, "mode": "quintic"}, NotImplementedError, r"\(got quintic\)"),
    "three sizes": ({"size": (2, 2, 2)}, ValueError, "same number of spatial dimensions"),
    "three factors": ({"scale_factor": (2, 2, 2)}, ValueError, "same number of spatial dimensions"),
    "nothing": ({"size": 0}, RuntimeError, "should be greater than 0"),
    "a factor of a size": ({"size": 2, "recompute_scale_factor": True}, ValueError, "not meaningful"),
    "antialiased nearest": ({"size": 2, "antialias": True}, ValueError, "Anti-alias option is restricted"),
}


@pytest.mark.parametrize("case", RESIZING_REFUSED)
def test_resizing_that_is_refused(case):
    how, error, message = RESIZING_REFUSED[case]
    with pytest.raises(error, match=message):
        F.interpolate(IMAGE, **how)


def test_integers_are_not_resized():
    with pytest.raises(NotImplementedError, match="not implemented for torch.int64"):
        F.interpolate(IMAGE.long(), size=3)


# ------------------------------------------------------------------------------------------ blocks and pixels


@pytest.mark.parametrize(
    ("kernel", "dilation", "padding", "stride"), [(2, 1, 0, 1), ((3, 2), 1, 1, 2), (2, 2, 1, (1, 2)), (3, 1, 0, 3)]
)
def test_a_convolution_is_a_product_with_unfolded_blocks(kernel, dilation, padding, stride):
    x, w = torch.randn(2, 3, 7, 6), torch.randn(4, 3, *((kernel, kernel) if isinstance(kernel, int) else kernel))
    blocks = F.unfold(x, kernel, dilation, padding, stride)
    expected = F.conv2d(x, w, None, stride, padding, dilation)
    assert torch.allclose((w.flatten(1) @ blocks).view(expected.shape), expected, atol=1e-5)
    counts = F.fold(torch.ones_like(blocks), (7, 6), kernel, dilation, padding, stride)
    assert torch.allclose(F.fold(blocks, (7, 6), kernel, dilation, padding, stride), counts * x, atol=1e-5)
    assert torch.equal(F.unfold(x[0], kernel, dilation, padding, stride), blocks[0])


def test_pixel_shuffle_and_its_inverse():
    x = torch.randn(2, 12, 2, 3)
    shuffled = F.pixel_shuffle(x, 2)
    assert shuffled.shape == (2, 3, 4, 6)
    assert torch.equal(shuffled[:, 1, 1::2, 0::2], x[:, 4 + 2])
    assert torch.equal(F.pixel_unshuffle(shuffled, 2), x)


def test_channels_are_dealt_out():
    x = torch.arange(6.0).view(1, 6, 1)
    assert F.channel_shuffle(x, 2).flatten().tolist() == [0, 3, 1, 4, 2, 5]


BLOCKS_REFUSED = {
    "a kernel larger than the image": (lambda: F.unfold(IMAGE, 3), "its components must be at least one"),
    "stride 0": (lambda: F.unfold(IMAGE, 2, stride=0), "stride should be greater than zero"),
    "blocks of another number": (lambda: F.fold(torch.ones(1, 4, 8), (4, 4), 2), r"sliding blocks 3 \* 3 = 9"),
    "channels not divisible": (lambda: F.fold(torch.ones(1, 5, 9), (4, 4), 2), "divisible by the product"),
    "four dimensions": (lambda: F.fold(torch.ones(1, 1, 4, 9), (4, 4), 2), "Expected 2D or 3D"),
    "channels that are no squares": (lambda: F.pixel_shuffle(IMAGE, 2), "not divisible by 4"),
    "a factor of 0": (lambda: F.pixel_shuffle(IMAGE, 0), "positive upscale_factor"),
    "pixels not divisible": (lambda: F.pixel_unshuffle(IMAGE, 4), "expects height to be divisible"),
    "groups not divisible": (lambda: F.channel_shuffle(LARGER, 2), "divisible by groups"),
    "no channels": (lambda: F.pixel_shuffle(SQUARES, 2), "at least 3 dimensions"),
}


@pytest.mark.parametrize("case", BLOCKS_REFUSED)
def test_blocks_and_pixels_that_are_refused(case):
    call, message = BLOCKS_REFUSED[case]
    with pytest.raises(RuntimeError, match=message):
        call()


# ------------------------------------------------------------------------------------------ sampling

PLACES = torch.tensor([[[[-1.0, -1.0], [0.2, -0.3], [1.4, 0.5], [-0.6, 1.9]]]])
SAMPLED = {
    ("bilinear", "zeros", False): [0.0, 9.94, 0.0, 0.0],
    ("bilinear", "zeros", True): [0.0, 14.04, 15.59999, 11.77],
    ("bilinear", "border", False): [0.0, 9.94, 49.0, 18.7],
    ("bilinear", "border", True): [0.0, 14.04, 39.0, 21.4],
    ("bilinear", "reflection", False): [0.0, 9.94, 45.1, 11.34],
    ("bilinear", "reflection", True): [0.0, 14.04, 32.4, 12.04],
    ("nearest", "zeros", False): [0.0, 4.0, 0.0, 0.0],
    ("nearest", "zeros", True): [0.0, 4.0, 0.0, 25.0],
    ("nearest", "border", False): [0.0, 4.0, 49.0, 16.0],
    ("nearest", "border", True): [0.0, 4.0, 49.0, 25.0],
    ("nearest", "reflection", False): [0.0, 4.0, 49.0, 16.0],
    ("nearest", "reflection", True): [0.0, 4.0, 36.0, 25.0],
    ("bicubic", "zeros", False): [-0.72656, 10.05424, -5.40225, -2.13357],
    ("bicubic", "zeros", True): [0.0, 15.31657, 18.54057, 14.1052],
    ("bicubic", "border", False): [-1.52344, 8.89753, 49.00002, 17.99125],
    ("bicubic", "border", True): [0.0, 13.00945, 40.74301, 22.36513],
    ("bicubic", "reflection", False): [-2.90625, 8.89753, 45.89276, 11.06389],
    ("bicubic", "reflection", True): [0.0, 11.47301, 37.45801, 11.39832],
}


@pytest.mark.parametrize("how", SAMPLED, ids=str)
def test_sampled_as_in_pytorch(how):
    actual = F.grid_sample(LARGER, PLACES, *how)
    assert actual.shape == (1, 1, 1, 4)
    assert actual.flatten().tolist() == pytest.approx(SAMPLED[how], abs=1e-4)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (2, 3, 2, 4, 1)])
def test_the_identity_samples_every_pixel(sizes, align_corners):
    x, ndim = torch.randn(*sizes), len(sizes) - 2
    theta = torch.eye(ndim, ndim + 1).expand(2, ndim, ndim + 1)
    grid = F.affine_grid(theta, sizes, align_corners=align_corners)
    assert torch.allclose(F.grid_sample(x, grid, align_corners=align_corners), x, atol=1e-5)


def test_nowhere_is_no_place():
    nowhere = torch.full((1, 1, 1, 2), float("nan"))
    assert F.grid_sample(IMAGE, nowhere, align_corners=False).isnan().all()


def test_the_nearest_pixel_has_a_zero_gradient_in_the_grid():
    grid = PLACES.clone().requires_grad_()
    F.grid_sample(LARGER, grid, "nearest", align_corners=False).sum().backward()
    assert grid.grad.shape == grid.shape
    assert not grid.grad.any()


SAMPLING_REFUSED = {
    "an unknown mode": (lambda: F.grid_sample(LARGER, PLACES, "linear"), ValueError, "expected mode to be"),
    "an unknown border": (lambda: F.grid_sample(LARGER, PLACES, "nearest", "wrap"), ValueError, "padding_mode to be"),
    "another batch": (lambda: F.grid_sample(LARGER, PLACES.expand(2, 1, 4, 2)), RuntimeError, "same batch size"),
    "three coordinates": (lambda: F.grid_sample(LARGER, torch.ones(1, 1, 4, 3)), RuntimeError, "size 2 in last"),
    "another dtype": (lambda: F.grid_sample(LARGER, PLACES.double()), RuntimeError, "expected grid of scalar type"),
    "a matrix for volumes": (lambda: F.affine_grid(torch.ones(1, 3, 4), (1, 1, 2, 3)), ValueError, "shape Nx2x3"),
    "integers": (lambda: F.affine_grid(torch.ones(1, 2, 3).long(), (1, 1, 2, 3)), ValueError, "floating point"),
    "sequences": (lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2)), NotImplementedError, "4D and 5D sizes"),
    "no pixels": (lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 0)), ValueError, "non-zero, positive"),
}


@pytest.mark.parametrize("case", SAMPLING_REFUSED)
def test_sampling_that_is_refused(case):
    call, error, message = SAMPLING_REFUSED[case]
    with pytest.raises(error, match=message):
        call()
