"""SegNet: max pooling that remembers where, unpooling that puts back (Badrinarayanan et al., 2015)."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SegNet(nn.Module):
    def __init__(self, input_nbr=3, label_nbr=4):
        super(SegNet, self).__init__()
        batchNorm_momentum = 0.1
        self.conv11 = nn.Conv2d(input_nbr, 8, kernel_size=3, padding=1)
        self.bn11 = nn.BatchNorm2d(8, momentum=batchNorm_momentum)
        self.conv21 = nn.Conv2d(8, 16, kernel_size=3, padding=1)
        self.bn21 = nn.BatchNorm2d(16, momentum=batchNorm_momentum)
        self.conv21d = nn.Conv2d(16, 8, kernel_size=3, padding=1)
        self.bn21d = nn.BatchNorm2d(8, momentum=batchNorm_momentum)
        self.conv11d = nn.Conv2d(8, label_nbr, kernel_size=3, padding=1)

    def forward(self, x):
        x11 = F.relu(self.bn11(self.conv11(x)))
        x1p, id1 = F.max_pool2d(x11, kernel_size=2, stride=2, return_indices=True)
        x21 = F.relu(self.bn21(self.conv21(x1p)))
        x2p, id2 = F.max_pool2d(x21, kernel_size=2, stride=2, return_indices=True)
        x2d = F.max_unpool2d(x2p, id2, 2, 2, output_size=x21.size())
        x21d = F.relu(self.bn21d(self.conv21d(x2d)))
        x1d = F.max_unpool2d(x21d, id1, kernel_size=2, stride=2, output_size=x11.size())
        return self.conv11d(x1d)


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, ignore_index=255):
        super().__init__()
        self.gamma, self.ignore_index = gamma, ignore_index

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction='none', ignore_index=self.ignore_index)
        pt = torch.exp(-ce)
        return ((1 - pt) ** self.gamma * ce)[target != self.ignore_index].mean()


def build():
    return SegNet()


def train_step(model, rng):
    image = torch.from_numpy(rng.standard_normal((2, 3, 18, 16)).astype('float32'))
    label = torch.from_numpy(rng.integers(0, 4, (2, 18, 16)))
    label[:, :2] = 255
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda it: (1 - it / 100) ** 0.9)
    optimizer.zero_grad()
    out = model(image)
    loss = FocalLoss()(out, label)
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss, out
