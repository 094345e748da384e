"""Programs to differentiate, as in derivative_cases.py: convolution, pooling, padding, resizing, unfolding."""

from __future__ import annotations

from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import ops, tensor
from tests.autograd.derivative_cases import Case, generic, ints, positive


def convolution_cases() -> list[Case]:
    return [
        ("convolution", lambda x, w, b: ops.conv1d(x, w, b, 2, 1), [generic(2, 2, 5), generic(3, 2, 3), generic(3)]),
        ("convolution", lambda x, w: ops.conv1d(x, w, padding="same"), [generic(1, 1, 4), generic(1, 1, 2)]),
        ("convolution", lambda x, w: ops.conv2d(x, w, groups=2), [generic(2, 2, 3, 3), generic(4, 1, 2, 2)]),
        ("convolution", lambda x, w: ops.conv2d(x, w), [generic(2, 3, 3), generic(1, 2, 1, 1)]),
        ("convolution", lambda x, w: ops.conv3d(x, w, None, 2, 1), [generic(1, 1, 3, 3, 2), generic(2, 1, 2, 2, 2)]),
        (
            "convolution_input_grad",
            lambda x, w, b: ops.conv_transpose1d(x, w, b, 2, 1, 1),
            [generic(2, 2, 3), generic(2, 1, 3), generic(1)],
        ),
        (
            "convolution_input_grad",
            lambda x, w: ops.conv_transpose2d(x, w, None, 1, 1, 1, 2, 2),
            [generic(1, 2, 2, 3), generic(2, 1, 2, 2)],
        ),
        ("convolution_input_grad", ops.conv_transpose3d, [generic(1, 1, 2, 2, 1), generic(1, 1, 2, 1, 2)]),
    ]


def pooling_cases() -> list[Case]:
    return [
        ("max_pool_with_indices", lambda x: ops.max_pool1d(x, 2), [generic(2, 1, 5)]),
        ("max_pool_with_indices", lambda x: ops.max_pool2d(x, 2), [generic(1, 2, 4, 4)]),
        ("max_pool_with_indices", lambda x: ops.max_pool2d(x, 3, 2, 1), [generic(1, 4, 5)]),
        ("max_pool_with_indices", lambda x: ops.max_pool2d(x, 2, 2, 0, 1, True), [generic(1, 1, 3, 3)]),
        ("max_pool_with_indices", lambda x: ops.max_pool3d(x, 2, 1), [generic(1, 1, 3, 2, 3)]),
        (
            "max_pool_with_indices_backward",
            lambda g: ops.max_pool_with_indices_backward(g, ints([[[0, 3], [4, 4]]]), (1, 1, 3, 3)),
            [generic(1, 1, 2, 2)],
        ),
        ("avg_pool", lambda x: ops.avg_pool1d(x, 2, 1, 1), [generic(2, 1, 4)]),
        ("avg_pool", lambda x: ops.avg_pool2d(x, 3, 2, 1, True, False), [generic(1, 2, 4, 4)]),
        ("avg_pool", lambda x: ops.avg_pool2d(x, (2, 1), divisor_override=3), [generic(1, 4, 3)]),
        ("avg_pool", lambda x: ops.avg_pool3d(x, 2, 1), [generic(1, 1, 3, 2, 3)]),
        (
            "avg_pool_backward",
            lambda g: ops.avg_pool_backward(g, (1, 1, 4, 3), (3, 2), (2, 1), (1, 0), True, True, None),
            [generic(1, 1, 3, 2)],
        ),
        ("avg_pool", lambda x: F.lp_pool2d(x, 3, 2), [positive(1, 1, 4, 4)]),
        ("mean", lambda x: ops.adaptive_avg_pool2d(x, 1), [generic(1, 1, 2, 3)]),
        ("resample", lambda x: ops.adaptive_avg_pool2d(x, (2, 4)), [generic(1, 2, 3, 3)]),
        ("gather", lambda x: ops.adaptive_max_pool2d(x, (2, 4))[0], [generic(1, 2, 3, 3)]),
        ("index_put", lambda x: F.max_unpool1d(x, ints([0, 3]), 2), [generic(1, 2)]),
    ]


def padding_cases() -> list[Case]:
    return [
        ("constant_pad_nd", lambda x: ops.pad(x, (1, -1, 0, 2), value=3.0), [generic(2, 3)]),
        ("cat", lambda x: ops.pad(x, (2, 1, 1, 0), "reflect"), [generic(1, 2, 3)]),
        ("cat", lambda x: ops.pad(x, (2, 1, -1, 2), "replicate"), [generic(1, 2, 3)]),
        ("cat", lambda x: ops.pad(x, (2, 1, 1, 1), "circular"), [generic(1, 2, 3)]),
    ]


def column_cases() -> list[Case]:
    return [
        ("im2col", lambda x: F.unfold(x, (2, 1), (1, 2), (1, 0), (2, 1)), [generic(1, 2, 3, 3)]),
        ("col2im", lambda x: F.fold(x, (3, 3), (2, 1), 1, (1, 0), (2, 1)), [generic(2, 4, 6)]),
        ("permute", lambda x: ops.pixel_shuffle(x, 2), [generic(1, 4, 1, 2)]),
        ("permute", lambda x: ops.pixel_unshuffle(x, 2), [generic(1, 2, 4)]),
        ("permute", lambda x: ops.channel_shuffle(x, 2), [generic(1, 4, 2)]),
    ]


def resizing_cases() -> list[Case]:
    return [
        ("resample", lambda x: F.interpolate(x, size=5), [generic(1, 2, 3)]),
        ("resample", lambda x: F.interpolate(x, size=(5, 2), mode="bilinear"), [generic(1, 1, 3, 3)]),
        (
            "resample",
            lambda x: F.interpolate(x, size=(4, 6), mode="bicubic", align_corners=True),
            [generic(1, 1, 2, 3)],
        ),
        (
            "resample",
            lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear", antialias=True),
            [generic(1, 1, 4, 4)],
        ),
        ("resample", lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), [generic(1, 1, 1, 2, 1)]),
    ]


def sampling_cases() -> list[Case]:
    image, grid = generic(1, 1, 3, 2), generic(1, 2, 1, 2) * 0.7
    return [
        ("gather", lambda x, g: F.grid_sample(x, g, align_corners=False), [image, grid]),
        ("gather", lambda x, g: F.grid_sample(x, g, padding_mode="border"), [image, grid]),
        ("gather", lambda x, g: F.grid_sample(x, g, "bicubic", "reflection"), [image, grid]),
        ("gather", lambda x: F.grid_sample(x, tensor(grid), "nearest", "reflection", True), [image]),
        ("gather", lambda x, g: F.grid_sample(x, g), [generic(1, 1, 2, 2, 2), generic(1, 1, 1, 2, 3) * 0.7]),
        ("bmm", lambda theta: F.affine_grid(theta, (2, 1, 2, 3)), [generic(2, 2, 3)]),
        ("bmm", lambda theta: F.affine_grid(theta, (1, 1, 2, 1, 2), True), [generic(1, 3, 4)]),
    ]


def cases() -> list[Case]:
    return (
        convolution_cases() + pooling_cases() + padding_cases() + column_cases() + resizing_cases() + sampling_cases()
    )
