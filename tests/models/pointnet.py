"""PointNet: shared one-dimensional convolutions, learned transforms, max over points (Qi et al., 2016)."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable


class STN3d(nn.Module):
    def __init__(self, k=3):
        super(STN3d, self).__init__()
        self.conv1 = torch.nn.Conv1d(k, 8, 1)
        self.conv2 = torch.nn.Conv1d(8, 16, 1)
        self.fc1 = nn.Linear(16, 12)
        self.fc2 = nn.Linear(12, k * k)
        self.bn1 = nn.BatchNorm1d(8)
        self.bn2 = nn.BatchNorm1d(16)
        self.bn3 = nn.BatchNorm1d(12)
        self.k = k

    def forward(self, x):
        batchsize = x.size()[0]
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 16)
        x = F.relu(self.bn3(self.fc1(x)))
        x = self.fc2(x)
        iden = Variable(torch.from_numpy(np.eye(self.k).flatten().astype(np.float32))).view(1, self.k * self.k).repeat(batchsize, 1)
        if x.is_cuda:
            iden = iden.cuda()
        x = x + iden
        return x.view(-1, self.k, self.k)


class PointNetSeg(nn.Module):
    def __init__(self, k=4):
        super().__init__()
        self.stn, self.fstn = STN3d(), STN3d(k=8)
        self.conv1, self.conv2 = nn.Conv1d(3, 8, 1), nn.Conv1d(8, 16, 1)
        self.bn1, self.bn2 = nn.BatchNorm1d(8), nn.BatchNorm1d(16)
        self.conv3 = nn.Conv1d(24, k, 1)
        self.k = k

    def forward(self, x):
        n_pts = x.size()[2]
        trans = self.stn(x)
        x = x.transpose(2, 1)
        x = torch.bmm(x, trans)
        x = x.transpose(2, 1)
        x = F.relu(self.bn1(self.conv1(x)))
        trans_feat = self.fstn(x)
        pointfeat = torch.bmm(x.transpose(2, 1), trans_feat).transpose(2, 1)
        x = self.bn2(self.conv2(pointfeat))
        x = F.adaptive_max_pool1d(x, 1).view(-1, 16, 1).repeat(1, 1, n_pts)
        x = self.conv3(torch.cat([x, pointfeat], 1))
        x = x.transpose(2, 1).contiguous()
        x = F.log_softmax(x.view(-1, self.k), dim=-1)
        return x.view(-1, n_pts, self.k), trans_feat


def feature_transform_regularizer(trans):
    d = trans.size()[1]
    I = torch.eye(d)[None, :, :]
    return torch.mean(torch.norm(torch.bmm(trans, trans.transpose(2, 1)) - I, dim=(1, 2)))


def chamfer(a, b):
    d = torch.cdist(a, b)
    return d.min(dim=1).values.mean() + d.min(2)[0].mean()


def build():
    return PointNetSeg()


def train_step(model, rng):
    points = torch.from_numpy(rng.standard_normal((3, 11, 3)).astype(np.float32))
    target = torch.from_numpy(rng.integers(0, 4, (3, 11)))
    points = points.transpose(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001, betas=(0.9, 0.999), eps=1e-2)
    optimizer.zero_grad()
    pred, trans_feat = model(points)
    flat = pred.view(-1, 4)
    moved = torch.bmm(points.transpose(1, 2), model.stn(points))
    loss = F.nll_loss(flat, target.view(-1, 1)[:, 0]) + feature_transform_regularizer(trans_feat) * 0.001 + 0.1 * chamfer(moved, points.transpose(1, 2) + 0.1)
    loss.backward()
    optimizer.step()
    pred_choice = flat.data.max(1)[1]
    return loss, [pred, trans_feat, pred_choice]
