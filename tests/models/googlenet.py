"""Inception with an auxiliary classifier (Szegedy et al., 2014)."""

from typing import Any, NamedTuple, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class GoogLeNetOutputs(NamedTuple):
    logits: Tensor
    aux_logits: Optional[Tensor]


class BasicConv2d(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, **kwargs: Any) -> None:
        super(BasicConv2d, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Inception(nn.Module):
    def __init__(self, in_channels, ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj):
        super().__init__()
        self.branch1 = BasicConv2d(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(
            BasicConv2d(in_channels, ch3x3red, kernel_size=1), BasicConv2d(ch3x3red, ch3x3, kernel_size=3, padding=1)
        )
        self.branch3 = nn.Sequential(
            BasicConv2d(in_channels, ch5x5red, kernel_size=1),
            BasicConv2d(ch5x5red, ch5x5, kernel_size=(1, 5), padding=(0, 2)),
            BasicConv2d(ch5x5, ch5x5, kernel_size=(5, 1), padding=(2, 0)),
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
            BasicConv2d(in_channels, pool_proj, kernel_size=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in (self.branch1, self.branch2, self.branch3, self.branch4)], 1)


class GoogLeNet(nn.Module):
    def __init__(self, num_classes: int = 10, aux_logits: bool = True):
        super().__init__()
        self.aux_logits = aux_logits
        self.conv1 = BasicConv2d(3, 8, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.lrn = nn.LocalResponseNorm(5, alpha=0.01)
        self.inception3a = Inception(8, 4, 4, 8, 2, 4, 4)
        self.inception3b = Inception(20, 8, 4, 8, 2, 4, 4)
        self.aux = nn.Sequential(nn.AdaptiveAvgPool2d((4, 4)), nn.Conv2d(20, 4, 1), nn.Flatten(), nn.Linear(64, num_classes))
        self.fc = nn.Linear(24, num_classes)
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                torch.nn.init.trunc_normal_(m.weight, mean=0.0, std=0.01, a=-2, b=2)

    def forward(self, x: Tensor) -> GoogLeNetOutputs:
        x = torch.clone(x)
        x_ch0 = torch.unsqueeze(x[:, 0], 1) * (0.229 / 0.5) + (0.485 - 0.5) / 0.5
        x_ch1 = torch.unsqueeze(x[:, 1], 1) * (0.224 / 0.5) + (0.456 - 0.5) / 0.5
        x_ch2 = torch.unsqueeze(x[:, 2], 1) * (0.225 / 0.5) + (0.406 - 0.5) / 0.5
        x = torch.cat((x_ch0, x_ch1, x_ch2), 1)
        x = self.lrn(self.maxpool1(self.conv1(x)))
        x = self.inception3a(x)
        aux = self.aux(x) if self.aux_logits and self.training else None
        x = self.inception3b(x)
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return GoogLeNetOutputs(self.fc(torch.flatten(x, 1)), aux)


def build():
    return GoogLeNet()


def train_step(model, rng):
    inputs = torch.from_numpy(rng.random((2, 3, 32, 32))).to(torch.float32)
    labels = torch.from_numpy(rng.integers(0, 10, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    outputs, aux = model(inputs)
    loss = F.cross_entropy(outputs, labels) + 0.3 * F.cross_entropy(aux, labels)
    loss.backward()
    optimizer.step()
    return loss, [outputs, aux]
