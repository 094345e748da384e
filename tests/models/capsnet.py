"""Capsules with dynamic routing and the margin loss (Sabour et al., 2017)."""

import torch
import torch.nn.functional as F
from torch import nn

NUM_ROUTING_ITERATIONS = 3


def squash(tensor, dim=-1):
    squared_norm = (tensor ** 2).sum(dim=dim, keepdim=True)
    scale = squared_norm / (1 + squared_norm)
    return scale * tensor / torch.sqrt(squared_norm + 1e-8)


class CapsuleLayer(nn.Module):
    def __init__(self, num_capsules, num_route_nodes, in_channels, out_channels, kernel_size=None, stride=None):
        super(CapsuleLayer, self).__init__()
        self.num_route_nodes = num_route_nodes
        self.num_capsules = num_capsules
        self.gain = 30.0
        if num_route_nodes != -1:
            self.route_weights = nn.Parameter(torch.randn(num_capsules, num_route_nodes, in_channels, out_channels))
        else:
            self.capsules = nn.ModuleList(
                [nn.Conv2d(in_channels, out_channels, kernel_size=kernel_size, stride=stride, padding=0) for _ in range(num_capsules)])

    def forward(self, x):
        if self.num_route_nodes != -1:
            priors = self.gain * x[None, :, :, None, :] @ self.route_weights[:, None, :, :, :]
            logits = torch.zeros(*priors.size())
            for i in range(NUM_ROUTING_ITERATIONS):
                probs = F.softmax(logits, dim=2)
                outputs = squash((probs * priors).sum(dim=2, keepdim=True))
                if i != NUM_ROUTING_ITERATIONS - 1:
                    delta_logits = (priors * outputs).sum(dim=-1, keepdim=True)
                    logits = logits + delta_logits
        else:
            outputs = [capsule(x).view(x.size(0), -1, 1) for capsule in self.capsules]
            outputs = torch.cat(outputs, dim=-1)
            outputs = squash(outputs)
        return outputs


class CapsuleNet(nn.Module):
    def __init__(self, classes=4):
        super(CapsuleNet, self).__init__()
        self.classes = classes
        self.conv1 = nn.Conv2d(in_channels=1, out_channels=8, kernel_size=5, stride=1)
        self.primary_capsules = CapsuleLayer(num_capsules=4, num_route_nodes=-1, in_channels=8, out_channels=4, kernel_size=5, stride=2)
        self.digit_capsules = CapsuleLayer(num_capsules=classes, num_route_nodes=4 * 4, in_channels=4, out_channels=6)
        self.decoder = nn.Sequential(nn.Linear(6 * classes, 16), nn.ReLU(inplace=True), nn.Linear(16, 121), nn.Sigmoid())

    def forward(self, x, y=None):
        x = F.relu(self.conv1(x), inplace=True)
        x = self.primary_capsules(x)
        x = self.digit_capsules(x).squeeze().transpose(0, 1)
        classes = (x ** 2).sum(dim=-1) ** 0.5
        classes = F.softmax(classes, dim=-1)
        if y is None:
            _, max_length_indices = classes.max(dim=1)
            y = torch.eye(self.classes).index_select(dim=0, index=max_length_indices.data)
        reconstructions = self.decoder((x * y[:, :, None]).reshape(x.size(0), -1))
        return classes, reconstructions


class CapsuleLoss(nn.Module):
    def __init__(self):
        super(CapsuleLoss, self).__init__()
        self.reconstruction_loss = nn.MSELoss(reduction='sum')

    def forward(self, images, labels, classes, reconstructions):
        left = F.relu(0.9 - classes, inplace=True) ** 2
        right = F.relu(classes - 0.1, inplace=True) ** 2
        margin_loss = labels * left + 0.5 * (1. - labels) * right
        margin_loss = margin_loss.sum()
        assert torch.numel(images) == torch.numel(reconstructions)
        images = images.view(reconstructions.size()[0], -1)
        return (margin_loss + 0.0005 * self.reconstruction_loss(reconstructions, images)) / images.size(0)


def build():
    return CapsuleNet()


def train_step(model, rng):
    images = torch.from_numpy(rng.random((3, 1, 11, 11)).astype("float32"))
    labels = torch.eye(4).index_select(dim=0, index=torch.from_numpy(rng.integers(0, 4, 3)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, eps=1e-2)
    classes, reconstructions = model(images, labels)
    loss = CapsuleLoss()(images, labels, classes, reconstructions)
    loss.backward()
    optimizer.step()
    return loss, model(images)
