"""EfficientNet's MBConv with SiLU, squeeze-and-excitation and stochastic depth (Tan and Le, 2019)."""

import copy
import math
from collections import namedtuple

import torch
from torch import nn
from torch.nn import functional as F

BlockArgs = namedtuple("BlockArgs", ["repeats", "kernel", "stride", "expand", "inp", "out", "se_ratio"])


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i * torch.sigmoid(i)
        ctx.save_for_backward(i)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        i = ctx.saved_tensors[0]
        sigmoid_i = torch.sigmoid(i)
        return grad_output * (sigmoid_i * (1 + i * (1 - sigmoid_i)))


class MemoryEfficientSwish(nn.Module):
    def forward(self, x):
        return Swish.apply(x)


class Conv2dSame(nn.Conv2d):
    """Convolution with TensorFlow's 'SAME' padding."""

    def forward(self, x):
        ih, iw = x.size()[-2:]
        kh, kw = self.weight.size()[-2:]
        sh, sw = self.stride
        oh, ow = math.ceil(ih / sh), math.ceil(iw / sw)
        pad_h = max((oh - 1) * sh + (kh - 1) * self.dilation[0] + 1 - ih, 0)
        pad_w = max((ow - 1) * sw + (kw - 1) * self.dilation[1] + 1 - iw, 0)
        if pad_h > 0 or pad_w > 0:
            x = F.pad(x, [pad_w // 2, pad_w - pad_w // 2, pad_h // 2, pad_h - pad_h // 2])
        return F.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


def drop_connect(inputs, p, training):
    if not training or p == 0:
        return inputs
    keep_prob = 1 - p
    random_tensor = keep_prob + torch.rand([inputs.shape[0], 1, 1, 1], dtype=inputs.dtype, device=inputs.device)
    return inputs / keep_prob * torch.floor(random_tensor)


class MBConvBlock(nn.Module):
    def __init__(self, args, drop_rate=0.0):
        super().__init__()
        self.args, self.drop_rate = args, drop_rate
        mid = args.inp * args.expand
        norm = lambda n: nn.BatchNorm2d(num_features=n, momentum=0.01, eps=1e-3)
        if args.expand != 1:
            self._expand_conv = Conv2dSame(args.inp, mid, kernel_size=1, bias=False)
            self._bn0 = norm(mid)
        self._depthwise_conv = Conv2dSame(mid, mid, kernel_size=args.kernel, stride=args.stride, groups=mid, bias=False)
        self._bn1 = norm(mid)
        squeezed = max(1, int(args.inp * args.se_ratio))
        self._se_reduce = Conv2dSame(mid, squeezed, kernel_size=1)
        self._se_expand = Conv2dSame(squeezed, mid, kernel_size=1)
        self._project_conv = Conv2dSame(mid, args.out, kernel_size=1, bias=False)
        self._bn2 = norm(args.out)
        self._swish = MemoryEfficientSwish()

    def forward(self, inputs):
        x = inputs
        if self.args.expand != 1:
            x = self._swish(self._bn0(self._expand_conv(inputs)))
        x = self._swish(self._bn1(self._depthwise_conv(x)))
        s = F.adaptive_avg_pool2d(x, 1)
        s = self._se_expand(self._swish(self._se_reduce(s)))
        x = torch.sigmoid(s) * x
        x = self._bn2(self._project_conv(x))
        if self.args.stride == 1 and self.args.inp == self.args.out:
            x = drop_connect(x, self.drop_rate, self.training) + inputs
        return x


class EfficientNet(nn.Module):
    def __init__(self, blocks, num_classes=10):
        super().__init__()
        self._conv_stem = Conv2dSame(3, blocks[0].inp, kernel_size=3, stride=2, bias=False)
        self._bn0 = nn.BatchNorm2d(blocks[0].inp, momentum=0.01, eps=1e-3)
        self._blocks = nn.ModuleList([])
        for args in blocks:
            self._blocks.append(MBConvBlock(args))
            args = args._replace(inp=args.out, stride=1)
            for _ in range(args.repeats - 1):
                self._blocks.append(MBConvBlock(args))
        self._fc = nn.Linear(blocks[-1].out, num_classes)

    def forward(self, inputs):
        x = F.silu(self._bn0(self._conv_stem(inputs)))
        for idx, block in enumerate(self._blocks):
            x = block(x)
        x = F.adaptive_avg_pool2d(x, 1).flatten(start_dim=1)
        return self._fc(x)


def build():
    return EfficientNet([BlockArgs(1, 3, 1, 1, 8, 8, 0.25), BlockArgs(2, 5, 2, 4, 8, 12, 0.25)])


def train_step(model, rng):
    x = torch.from_numpy(rng.standard_normal((2, 3, 31, 31)).astype("float32"))
    y = torch.from_numpy(rng.integers(0, 10, 2))
    ema = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-5, eps=1e-3)
    out = model(x)
    loss = F.cross_entropy(out, y, reduction="sum") / len(y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for averaged, param in zip(ema.parameters(), model.parameters()):
            averaged.mul_(0.9).add_(param, alpha=0.1)
    return loss, out
