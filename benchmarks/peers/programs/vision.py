"""Models that look at images."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.peers.programs.inputs import integers, normal
from benchmarks.peers.row import Model, model, whole_step


def classifier(module: nn.Module, *sizes: int, classes: int = 10) -> Model:
    """A model of images with cross entropy as its loss."""
    labels = integers(classes, sizes[0])
    return Model(module, (normal(*sizes),), lambda logits: F.cross_entropy(logits, labels))


def layers_of_mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


@whole_step
@model
def mlp() -> Model:
    return classifier(layers_of_mlp(), 64, 784)


@model
def mlp_batch_1() -> Model:
    """What a compiled call costs when there is little to compute."""
    layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10))
    return classifier(layers, 1, 16)


class ResidualBlock(nn.Module):
    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(filters), nn.BatchNorm2d(filters)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != filters:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norm1(self.first(x)))
        return F.relu(self.norm2(self.second(y)) + self.shortcut(x))


@whole_step
@model
def resnet() -> Model:
    stem = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()
    blocks = ResidualBlock(16, 16, 1), ResidualBlock(16, 32, 2), ResidualBlock(32, 64, 2)
    head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)
    return classifier(nn.Sequential(*stem, *blocks, *head), 16, 3, 32, 32)


class Attention(nn.Module):
    """Every place looks at every other one."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.attend(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.project(y.transpose(1, 2).reshape(batch, length, width))


class EncoderBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    """Patches of 4x4 as words."""

    def __init__(self, width: int = 96, depth: int = 3, heads: int = 4) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.start = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, 65, width))
        self.blocks = nn.Sequential(*[EncoderBlock(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.start.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


@model
def vit() -> Model:
    return classifier(ViT(), 8, 3, 32, 32)


def two_convolutions(channels: int, filters: int) -> nn.Module:
    layers: list[nn.Module] = []
    for source in (channels, filters):
        layers += [nn.Conv2d(source, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2, self.bottom = (
            two_convolutions(3, 16),
            two_convolutions(16, 32),
            two_convolutions(32, 64),
        )
        self.up2, self.up1 = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        self.join2, self.join1 = two_convolutions(64, 32), two_convolutions(32, 16)
        self.head = nn.Conv2d(16, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        x = self.bottom(F.max_pool2d(second, 2))
        x = self.join2(torch.cat([self.up2(x), second], 1))
        return self.head(self.join1(torch.cat([self.up1(x), first], 1)))


@model
def unet() -> Model:
    masks = integers(4, 4, 48, 48)
    return Model(UNet(), (normal(4, 3, 48, 48),), lambda logits: F.cross_entropy(logits, masks))


class SeparableBlock(nn.Module):
    """A depthwise convolution between two of 1x1, as in MobileNetV2."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        wide = 4 * channels
        self.layers = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, filters, 1, bias=False), nn.BatchNorm2d(filters),
        )  # fmt: skip
        self.is_residual = stride == 1 and channels == filters

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layers(x) if self.is_residual else self.layers(x)


@model
def depthwise() -> Model:
    stem = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6()
    blocks = SeparableBlock(16, 16, 1), SeparableBlock(16, 24, 2), SeparableBlock(24, 24, 1), SeparableBlock(24, 32, 2)
    head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)
    return classifier(nn.Sequential(*stem, *blocks, *head), 8, 3, 32, 32)
