"""C3D and a (2+1)-D block for video (Tran et al., 2014 and 2018)."""

import torch
import torch.nn as nn


class Conv2Plus1D(nn.Sequential):
    def __init__(self, in_planes: int, out_planes: int, midplanes: int, stride: int = 1, padding: int = 1) -> None:
        super().__init__(
            nn.Conv3d(in_planes, midplanes, kernel_size=(1, 3, 3), stride=(1, stride, stride), padding=(0, padding, padding), bias=False),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, kernel_size=(3, 1, 1), stride=(stride, 1, 1), padding=(padding, 0, 0), bias=False),
        )


class C3D(nn.Module):
    def __init__(self, num_classes=5):
        super(C3D, self).__init__()
        self.conv1 = nn.Conv3d(3, 6, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.pool1 = nn.MaxPool3d(kernel_size=(1, 2, 2), stride=(1, 2, 2))
        self.conv2 = nn.Conv3d(6, 8, kernel_size=(3, 3, 3), padding=(1, 1, 1), groups=2)
        self.pool2 = nn.MaxPool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2), padding=(0, 1, 1))
        self.block = Conv2Plus1D(8, 8, 10)
        self.up = nn.ConvTranspose3d(8, 4, kernel_size=2, stride=2)
        self.pool3 = nn.AdaptiveAvgPool3d((1, 2, 2))
        self.fc = nn.Linear(16, num_classes)
        self.relu = nn.ReLU()
        self.__init_weight()

    def forward(self, x):
        x = self.pool1(self.relu(self.conv1(x)))
        x = self.pool2(self.relu(self.conv2(x)))
        x = self.relu(self.block(x) + x)
        x = nn.functional.interpolate(self.up(x), scale_factor=0.5, mode="trilinear", align_corners=False, recompute_scale_factor=True)
        x = nn.functional.avg_pool3d(x, 2, 1)
        x = self.pool3(x)
        return self.fc(x.view(x.shape[0], -1))

    def __init_weight(self):
        for m in self.modules():
            if isinstance(m, nn.Conv3d):
                torch.nn.init.kaiming_normal_(m.weight)
            elif isinstance(m, nn.BatchNorm3d):
                m.weight.data.fill_(1)
                m.bias.data.zero_()


def get_1x_lr_params(model):
    for b in [model.conv1, model.conv2, model.block, model.up]:
        for k in b.parameters():
            if k.requires_grad:
                yield k


def build():
    return C3D()


def train_step(model, rng):
    clips = torch.from_numpy(rng.standard_normal((2, 3, 4, 12, 12)).astype("float32"))
    labels = torch.from_numpy(rng.integers(0, 5, 2))
    train_params = [{'params': get_1x_lr_params(model), 'lr': 1e-3}, {'params': model.fc.parameters(), 'lr': 1e-2}]
    optimizer = torch.optim.SGD(train_params, lr=1e-3, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3])
    outputs = model(clips)
    loss = nn.CrossEntropyLoss()(outputs, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    preds = torch.max(nn.Softmax(dim=1)(outputs), 1)[1]
    return loss, [outputs, preds]
