"""Layers for images and sequences: how they print, what they keep and compute; text and sizes of PyTorch 2.13."""

from __future__ import annotations

import math

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.nn import functional as F

PRINTED = {
    "Conv1d(1, 2, kernel_size=(3,), stride=(1,))": nn.Conv1d(1, 2, 3),
    "Conv2d(2, 4, kernel_size=(3, 5), stride=(2, 2), padding=(1, 1), dilation=(2, 2), groups=2, bias=False,"
    " padding_mode=reflect)": nn.Conv2d(2, 4, (3, 5), 2, 1, 2, 2, False, "reflect"),
    "Conv3d(1, 1, kernel_size=(1, 1, 1), stride=(1, 1, 1), padding=same)": nn.Conv3d(1, 1, 1, padding="same"),
    "ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), dilation=(3, 3), output_padding=(1, 1),"
    " groups=2)": nn.ConvTranspose2d(2, 4, 3, 2, 1, 1, 2, True, 3),
    "ConvTranspose1d(1, 2, kernel_size=(3,), stride=(1,))": nn.ConvTranspose1d(1, 2, 3),
    "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)": nn.MaxPool1d(2),
    "MaxPool3d(kernel_size=(2, 3, 1), stride=(2, 3, 1), padding=0, dilation=2, ceil_mode=True)": nn.MaxPool3d(
        (2, 3, 1), dilation=2, ceil_mode=True
    ),
    "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))": nn.AvgPool1d(2),
    "AvgPool2d(kernel_size=3, stride=2, padding=0)": nn.AvgPool2d(3, 2, divisor_override=2),
    "AdaptiveAvgPool1d(output_size=3)": nn.AdaptiveAvgPool1d(3),
    "AdaptiveMaxPool2d(output_size=(None, 3))": nn.AdaptiveMaxPool2d((None, 3)),
    "LPPool2d(norm_type=1.5, kernel_size=3, stride=None, ceil_mode=True)": nn.LPPool2d(1.5, 3, ceil_mode=True),
    "MaxUnpool2d(kernel_size=(2, 2), stride=(2, 2), padding=(1, 1))": nn.MaxUnpool2d(2, padding=1),
    "ReflectionPad2d((1, 2, 3, 4))": nn.ReflectionPad2d((1, 2, 3, 4)),
    "ReplicationPad3d((1, 1, 1, 1, 1, 1))": nn.ReplicationPad3d(1),
    "ZeroPad2d((2, 2, 2, 2))": nn.ZeroPad2d(2),
    "ConstantPad1d(padding=(2, 2), value=3.5)": nn.ConstantPad1d(2, 3.5),
    "CircularPad1d((1, 1))": nn.CircularPad1d(1),
    "Upsample(scale_factor=2.0, mode='nearest')": nn.Upsample(scale_factor=2),
    "Upsample(size=(2, 3), mode='bilinear')": nn.Upsample(size=(2, 3), mode="bilinear", align_corners=True),
    "UpsamplingBilinear2d(size=3, mode='bilinear')": nn.UpsamplingBilinear2d(size=3),
    "PixelShuffle(upscale_factor=2)": nn.PixelShuffle(2),
    "PixelUnshuffle(downscale_factor=2)": nn.PixelUnshuffle(2),
    "ChannelShuffle(groups=2)": nn.ChannelShuffle(2),
    "Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1)": nn.Fold((4, 5), 2),
    "Unfold(kernel_size=3, dilation=1, padding=1, stride=1)": nn.Unfold(3, padding=1),
}


@pytest.mark.parametrize("text", PRINTED)
def test_how_layers_print(text):
    assert repr(PRINTED[text]) == text


@pytest.mark.parametrize(
    ("layer", "weight"),
    [
        (nn.Conv1d(4, 6, 3, groups=2), (6, 2, 3)),
        (nn.Conv2d(4, 6, (3, 2)), (6, 4, 3, 2)),
        (nn.Conv3d(4, 6, 2), (6, 4, 2, 2, 2)),
        (nn.ConvTranspose1d(4, 6, 3, groups=2), (4, 3, 3)),
        (nn.ConvTranspose2d(4, 6, (3, 2)), (4, 6, 3, 2)),
        (nn.ConvTranspose3d(4, 6, 2), (4, 6, 2, 2, 2)),
    ],
    ids=str,
)
def test_what_convolutions_keep(layer, weight):
    assert {name: tuple(value.shape) for name, value in layer.state_dict().items()} == {"weight": weight, "bias": (6,)}
    bound = 1 / math.sqrt(math.prod(weight[1:]))
    for parameter in layer.parameters():
        assert parameter.abs().max() <= bound
        assert parameter.abs().max() > bound / 4


@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [1, "same", "valid"])
def test_padding_modes_pad_first(mode, padding):
    layer = nn.Conv2d(2, 3, (2, 3), padding=padding, padding_mode=mode)
    x = torch.randn(1, 2, 5, 5)
    around = {1: (1, 1, 1, 1), "same": (1, 1, 0, 1), "valid": (0, 0, 0, 0)}[padding]
    padded = F.pad(x, around, "constant" if mode == "zeros" else mode)
    assert torch.allclose(layer(x), F.conv2d(padded, layer.weight, layer.bias), atol=1e-6)


SIZES = {1: (9,), 2: (8, 6), 3: (6, 6, 4)}
RESULTS = [  # constructor, dimensions, sizes of the result for an input (2, 4, *SIZES)
    (lambda: nn.ConvTranspose1d(4, 2, 3, stride=2, output_padding=1), 1, (2, 2, 20)),
    (lambda: nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1), 2, (2, 2, 16, 12)),
    (lambda: nn.ConvTranspose3d(4, 2, 2), 3, (2, 2, 7, 7, 5)),
    (lambda: nn.Conv1d(4, 8, 3, padding="same", padding_mode="circular"), 1, (2, 8, 9)),
    (lambda: nn.Conv3d(4, 8, 3, stride=2, padding=1), 3, (2, 8, 3, 3, 2)),
    (lambda: nn.MaxPool1d(3, dilation=2, ceil_mode=True), 1, (2, 4, 3)),
    (lambda: nn.MaxPool3d(2), 3, (2, 4, 3, 3, 2)),
    (lambda: nn.AvgPool1d(2), 1, (2, 4, 4)),
    (lambda: nn.AvgPool2d(3, 2, 1), 2, (2, 4, 4, 3)),
    (lambda: nn.AvgPool3d((1, 2, 2)), 3, (2, 4, 6, 3, 2)),
    (lambda: nn.LPPool1d(2, 3, 2), 1, (2, 4, 4)),
    (lambda: nn.LPPool2d(2, 2), 2, (2, 4, 4, 3)),
    (lambda: nn.LPPool3d(2, 2), 3, (2, 4, 3, 3, 2)),
    (lambda: nn.AdaptiveAvgPool1d(4), 1, (2, 4, 4)),
    (lambda: nn.AdaptiveAvgPool3d((None, 1, 3)), 3, (2, 4, 6, 1, 3)),
    (lambda: nn.AdaptiveMaxPool1d(2), 1, (2, 4, 2)),
    (lambda: nn.AdaptiveMaxPool2d(5), 2, (2, 4, 5, 5)),
    (lambda: nn.AdaptiveMaxPool3d(2), 3, (2, 4, 2, 2, 2)),
    (lambda: nn.ReflectionPad1d((1, 2)), 1, (2, 4, 12)),
    (lambda: nn.ReflectionPad3d(1), 3, (2, 4, 8, 8, 6)),
    (lambda: nn.ReplicationPad1d(2), 1, (2, 4, 13)),
    (lambda: nn.ReplicationPad2d(2), 2, (2, 4, 12, 10)),
    (lambda: nn.CircularPad2d((0, 1, 2, 0)), 2, (2, 4, 10, 7)),
    (lambda: nn.CircularPad3d(1), 3, (2, 4, 8, 8, 6)),
    (lambda: nn.ZeroPad1d(1), 1, (2, 4, 11)),
    (lambda: nn.ZeroPad3d(1), 3, (2, 4, 8, 8, 6)),
    (lambda: nn.ConstantPad2d((1, -1, 0, 0), 2.0), 2, (2, 4, 8, 6)),
    (lambda: nn.ConstantPad3d(1, 2.0), 3, (2, 4, 8, 8, 6)),
    (lambda: nn.Upsample(scale_factor=(2, 1.5), mode="bilinear"), 2, (2, 4, 16, 9)),
    (lambda: nn.UpsamplingNearest2d(scale_factor=2), 2, (2, 4, 16, 12)),
    (lambda: nn.PixelShuffle(2), 2, (2, 1, 16, 12)),
    (lambda: nn.PixelUnshuffle(2), 2, (2, 16, 4, 3)),
    (lambda: nn.ChannelShuffle(2), 2, (2, 4, 8, 6)),
    (lambda: nn.Unfold(3, padding=1), 2, (2, 36, 48)),
]


@pytest.mark.parametrize(("make", "ndim", "expected"), RESULTS)
def test_the_sizes_of_results_with_and_without_a_batch(make, ndim, expected):
    layer, x = make(), torch.rand(2, 4, *SIZES[ndim])
    assert layer(x).shape == expected
    if not isinstance(layer, nn.Upsample | nn.ChannelShuffle):  # these take the first dimension for the batch always
        assert torch.allclose(layer(x[0]), layer(x)[0], atol=1e-6)


class TestOutputSize:
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)

    @pytest.mark.parametrize("asked", [(7, 8), (1, 1, 7, 8)])
    def test_chooses_the_output_padding(self, asked):
        assert self.layer(torch.ones(1, 1, 4, 4), output_size=asked).shape == (1, 1, 7, 8)

    def test_too_far_away(self):
        with pytest.raises(ValueError, match=r"requested an output size of \[9, 8\], but valid sizes range from"):
            self.layer(torch.ones(1, 1, 4, 4), output_size=(9, 8))

    def test_of_another_length(self):
        with pytest.raises(ValueError, match="output_size must have 2 or 4 elements"):
            self.layer(torch.ones(1, 1, 4, 4), output_size=(8,))


@pytest.mark.parametrize(
    ("pool", "unpool", "sizes"),
    [
        (nn.MaxPool1d(2, return_indices=True), nn.MaxUnpool1d(2), (2, 3, 8)),
        (nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2), (2, 3, 8, 6)),
        (nn.MaxPool3d(2, return_indices=True), nn.MaxUnpool3d(2), (1, 2, 4, 4, 2)),
    ],
    ids=["1d", "2d", "3d"],
)
def test_there_and_back(pool, unpool, sizes):
    x = torch.rand(*sizes)
    values, places = pool(x)
    back = unpool(values, places)
    assert back.shape == x.shape
    assert torch.equal(back, torch.where(back != 0, x, 0.0))
    assert torch.equal(pool(back)[0], values)


def test_fold_adds_what_unfold_took():
    x = torch.rand(2, 3, 4, 4)
    assert torch.allclose(nn.Fold((4, 4), 2, stride=2)(nn.Unfold(2, stride=2)(x)), x)


REFUSED = {
    "no groups": (lambda: nn.Conv2d(4, 6, 3, groups=0), "groups must be a positive integer"),
    "groups that don't divide": (lambda: nn.Conv2d(4, 6, 3, groups=4), "out_channels must be divisible by groups"),
    "a padding of another name": (lambda: nn.Conv2d(4, 6, 3, padding="full"), "Invalid padding string 'full'"),
    "same with a stride": (lambda: nn.Conv2d(4, 6, 3, padding="same", stride=2), "not supported for strided"),
    "an unknown padding mode": (lambda: nn.Conv2d(4, 6, 3, padding_mode="mirror"), "padding_mode must be one of"),
    "transposed and mirrored": (lambda: nn.ConvTranspose2d(4, 6, 3, padding_mode="reflect"), 'Only "zeros"'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_constructors_refuse(case):
    make, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        make()
