"""DeepLabV3: atrous spatial pyramid pooling over a dilated backbone (Chen et al., 2017)."""

from collections import OrderedDict
from typing import Dict, List

import torch
from torch import nn, Tensor
from torch.nn import functional as F


class ASPPConv(nn.Sequential):
    def __init__(self, in_channels: int, out_channels: int, dilation: int) -> None:
        modules = [
            nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        ]
        super().__init__(*modules)


class ASPPPooling(nn.Sequential):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU()
        )

    def forward(self, x: Tensor) -> Tensor:
        size = x.shape[-2:]
        for mod in self:
            x = mod(x)
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    def __init__(self, in_channels: int, atrous_rates: List[int], out_channels: int = 8) -> None:
        super().__init__()
        modules: List[nn.Module] = []
        modules.append(nn.Sequential(nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU()))
        for rate in tuple(atrous_rates):
            modules.append(ASPPConv(in_channels, out_channels, rate))
        modules.append(ASPPPooling(in_channels, out_channels))
        self.convs = nn.ModuleList(modules)
        self.project = nn.Sequential(
            nn.Conv2d(len(self.convs) * out_channels, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.Dropout(0.0),
        )

    def forward(self, x: Tensor) -> Tensor:
        _res = []
        for conv in self.convs:
            _res.append(conv(x))
        res = torch.cat(_res, dim=1)
        return self.project(res)


class IntermediateLayerGetter(nn.ModuleDict):
    def __init__(self, model: nn.Module, return_layers: Dict[str, str]) -> None:
        if not set(return_layers).issubset([name for name, _ in model.named_children()]):
            raise ValueError("return_layers are not present in model")
        layers = OrderedDict(model.named_children())
        super().__init__(layers)
        self.return_layers = return_layers

    def forward(self, x):
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out


class DeepLabV3(nn.Module):
    def __init__(self, num_classes=5):
        super().__init__()
        backbone = nn.Sequential(OrderedDict(
            stem=nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU()),
            layer1=nn.Sequential(nn.Conv2d(8, 12, 3, 2, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU()),
            layer2=nn.Sequential(nn.Conv2d(12, 16, 3, 1, 2, dilation=2, bias=False), nn.BatchNorm2d(16), nn.ReLU()),
        ))
        self.backbone = IntermediateLayerGetter(backbone, {"layer2": "out", "layer1": "aux"})
        self.classifier = nn.Sequential(ASPP(16, [2, 3]), nn.Conv2d(8, num_classes, 1))
        self.aux_classifier = nn.Conv2d(12, num_classes, 1)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        input_shape = x.shape[-2:]
        features = self.backbone(x)
        result = OrderedDict()
        for key, head in (("out", self.classifier), ("aux", self.aux_classifier)):
            result[key] = F.interpolate(head(features[key]), size=input_shape, mode="bilinear", align_corners=False)
        return result


def build():
    return DeepLabV3()


def train_step(model, rng):
    image = torch.from_numpy(rng.standard_normal((2, 3, 33, 29)).astype("float32"))
    target = torch.from_numpy(rng.integers(0, 5, (2, 33, 29)))
    params_to_optimize = [
        {"params": [p for p in model.backbone.parameters() if p.requires_grad]},
        {"params": [p for p in model.classifier.parameters() if p.requires_grad]},
        {"params": [p for p in model.aux_classifier.parameters() if p.requires_grad], "lr": 0.1},
    ]
    optimizer = torch.optim.SGD(params_to_optimize, lr=0.01, momentum=0.9, weight_decay=1e-4)
    main_lr = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=10, power=0.9)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=2)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, schedulers=[warmup, main_lr], milestones=[2])
    output = model(image)
    losses = {name: nn.functional.cross_entropy(x, target, ignore_index=255) for name, x in output.items()}
    loss = losses["out"] + 0.5 * losses["aux"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss, output
