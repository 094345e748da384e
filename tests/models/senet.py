"""SE-ResNeXt block: grouped convolution, then squeeze-and-excitation (Hu et al., 2017)."""

import torch
from torch import nn
import torch.nn.init as init


class SELayer(nn.Module):
    def __init__(self, channel, reduction=4):
        super(SELayer, self).__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(
            nn.Linear(channel, channel // reduction, bias=False),
            nn.ReLU(inplace=True),
            nn.Linear(channel // reduction, channel, bias=False),
            nn.Sigmoid()
        )

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.avg_pool(x).view(b, c)
        y = self.fc(y).view(b, c, 1, 1)
        return x * y.expand_as(x)


class ResNeXtBottleneck(nn.Module):
    def __init__(self, in_channels, out_channels, stride, cardinality, widen_factor=2):
        super().__init__()
        D = cardinality * widen_factor
        self.conv_reduce = nn.Conv2d(in_channels, D, kernel_size=1, bias=False)
        self.bn_reduce = nn.BatchNorm2d(D)
        self.conv_conv = nn.Conv2d(D, D, kernel_size=3, stride=stride, padding=1, groups=cardinality, bias=False)
        self.bn = nn.BatchNorm2d(D)
        self.conv_expand = nn.Conv2d(D, out_channels, kernel_size=1, bias=False)
        self.bn_expand = nn.BatchNorm2d(out_channels)
        self.se = SELayer(out_channels)
        self.shortcut = nn.Sequential()
        if in_channels != out_channels:
            self.shortcut.add_module('shortcut_conv', nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False))
            self.shortcut.add_module('shortcut_bn', nn.BatchNorm2d(out_channels))

    def forward(self, x):
        bottleneck = torch.relu_(self.bn_reduce(self.conv_reduce(x)))
        bottleneck = self.bn(self.conv_conv(bottleneck)).relu_()
        bottleneck = self.se(self.bn_expand(self.conv_expand(bottleneck)))
        residual = self.shortcut(x)
        return nn.functional.relu(residual + bottleneck, inplace=True)


class SENet(nn.Module):
    def __init__(self, cardinality=4, nlabels=10):
        super().__init__()
        self.conv_1_3x3 = nn.Conv2d(3, 8, 3, 1, 1, bias=False)
        self.bn_1 = nn.BatchNorm2d(8)
        self.stage_1 = self.block('stage_1', 8, 16, 1)
        self.stage_2 = self.block('stage_2', 16, 32, 2)
        self.classifier = nn.Linear(32, nlabels)
        init.kaiming_normal_(self.classifier.weight)

        for key in self.state_dict():
            if key.split('.')[-1] == 'weight':
                if 'conv' in key:
                    init.kaiming_normal_(self.state_dict()[key], mode='fan_out')
                if 'bn' in key:
                    self.state_dict()[key][...] = 1
            elif key.split('.')[-1] == 'bias':
                self.state_dict()[key][...] = 0

    def block(self, name, in_channels, out_channels, pool_stride=2):
        block = nn.Sequential()
        for bottleneck in range(2):
            name_ = '%s_bottleneck_%d' % (name, bottleneck)
            if bottleneck == 0:
                block.add_module(name_, ResNeXtBottleneck(in_channels, out_channels, pool_stride, 4))
            else:
                block.add_module(name_, ResNeXtBottleneck(out_channels, out_channels, 1, 4))
        return block

    def forward(self, x):
        x = self.conv_1_3x3.forward(x)
        x = nn.functional.relu(self.bn_1.forward(x), inplace=True)
        x = self.stage_1.forward(x)
        x = self.stage_2.forward(x)
        x = nn.functional.avg_pool2d(x, 8, 1)
        x = x.view(-1, 32)
        return self.classifier(x)


def build():
    return SENet()


def train_step(net, rng):
    data = torch.autograd.Variable(torch.from_numpy(rng.random((2, 3, 16, 16), dtype='float32')))
    target = torch.autograd.Variable(torch.from_numpy(rng.integers(0, 10, 2)))
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, weight_decay=0.0005, nesterov=True)
    output = net(data)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(output, target)
    loss.backward()
    optimizer.step()
    for param_group in optimizer.param_groups:
        param_group['lr'] = param_group['lr'] * 0.1
    pred = output.data.max(1)[1]
    assert 0 <= float(pred.eq(target.data).sum()) <= 2
    return loss, output
