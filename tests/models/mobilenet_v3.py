"""MobileNetV3 blocks: squeeze-and-excitation, hard swish, hard sigmoid (Howard et al., 2019)."""

from dataclasses import dataclass
from functools import partial
from typing import Callable, List

import torch
from torch import nn, Tensor
from torch.nn import functional as F


@dataclass
class BlockConfig:
    in_channels: int
    kernel: int
    expanded: int
    out_channels: int
    use_se: bool
    activation: str
    stride: int

    @property
    def use_hs(self) -> bool:
        return self.activation == "HS"


class SqueezeExcitation(nn.Module):
    def __init__(self, input_channels: int, squeeze_factor: int = 4):
        super().__init__()
        squeeze = max(4, input_channels // squeeze_factor)
        self.fc1 = nn.Conv2d(input_channels, squeeze, 1)
        self.relu = nn.ReLU(inplace=True)
        self.fc2 = nn.Conv2d(squeeze, input_channels, 1)

    def _scale(self, input: Tensor, inplace: bool) -> Tensor:
        scale = F.adaptive_avg_pool2d(input, 1)
        scale = self.fc2(self.relu(self.fc1(scale)))
        return F.hardsigmoid(scale, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        return self._scale(input, True) * input


class InvertedResidual(nn.Module):
    def __init__(self, cnf: BlockConfig, norm_layer: Callable[..., nn.Module]):
        super().__init__()
        self.use_res_connect = cnf.stride == 1 and cnf.in_channels == cnf.out_channels
        activation = nn.Hardswish if cnf.use_hs else nn.ReLU
        layers: List[nn.Module] = []
        if cnf.expanded != cnf.in_channels:
            layers += [nn.Conv2d(cnf.in_channels, cnf.expanded, 1, bias=False), norm_layer(cnf.expanded), activation(inplace=True)]
        layers += [
            nn.Conv2d(cnf.expanded, cnf.expanded, cnf.kernel, cnf.stride, (cnf.kernel - 1) // 2, groups=cnf.expanded, bias=False),
            norm_layer(cnf.expanded),
            activation(inplace=True),
        ]
        if cnf.use_se:
            layers.append(SqueezeExcitation(cnf.expanded))
        layers += [nn.Conv2d(cnf.expanded, cnf.out_channels, 1, bias=False), norm_layer(cnf.out_channels)]
        self.block = nn.Sequential(*layers)

    def forward(self, input: Tensor) -> Tensor:
        result = self.block(input)
        if self.use_res_connect:
            result += input
        return result


class MobileNetV3(nn.Module):
    def __init__(self, settings: List[BlockConfig], last_channel: int, num_classes: int = 10) -> None:
        super().__init__()
        norm_layer = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        first = settings[0].in_channels
        layers: List[nn.Module] = [nn.Conv2d(3, first, 3, 2, 1, bias=False), norm_layer(first), nn.Hardswish(inplace=True)]
        layers.extend(InvertedResidual(cnf, norm_layer) for cnf in settings)
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(settings[-1].out_channels, last_channel),
            nn.Hardswish(inplace=True),
            nn.Dropout(p=0.2, inplace=True),
            nn.Linear(last_channel, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.avgpool(self.features(x))
        return self.classifier(torch.flatten(x, 1))


def build():
    conf = partial(BlockConfig)
    return MobileNetV3([conf(8, 3, 8, 8, True, "RE", 2), conf(8, 3, 24, 12, False, "RE", 1), conf(12, 5, 36, 12, True, "HS", 1)], 32)


def train_step(model, rng):
    x = torch.as_tensor(rng.standard_normal((2, 3, 32, 32)), dtype=torch.float32)
    y = torch.as_tensor(rng.integers(0, 10, 2))
    model.eval()  # fine-tuning with frozen statistics; also, dropout is off
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.weight.requires_grad_(False)
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.05)
    out = model(x)
    loss = F.cross_entropy(out, y, weight=torch.linspace(0.5, 1.5, 10))
    loss.backward()
    optimizer.step()
    return loss, out
