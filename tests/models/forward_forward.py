"""The forward-forward algorithm (Hinton, 2022): each layer learns alone to be excited by real inputs, not by false ones."""

import torch
from torch import nn
from torch.nn import functional as F


class GreedyLayer(nn.Module):
    def __init__(self, inputs, outputs, threshold=1.0):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.threshold = threshold

    def forward(self, x):
        direction = x / (x.norm(p=2, dim=1, keepdim=True) + 1e-4)
        return F.relu(self.linear(direction))

    def loss(self, real, false):
        margins = torch.cat([self.threshold - real.pow(2).mean(1), false.pow(2).mean(1) - self.threshold])
        return F.softplus(margins).mean()


class ForwardForward(nn.Module):
    def __init__(self, sizes, classes):
        super().__init__()
        self.classes = classes
        self.layers = nn.ModuleList(GreedyLayer(a, b) for a, b in zip(sizes, sizes[1:]))

    def labelled(self, x, y):
        x = x.clone()
        x[:, :self.classes] = 0.0
        x[range(x.shape[0]), y] = x.max()
        return x

    def forward(self, x, y, wrong):
        real, false = self.labelled(x, y), self.labelled(x, wrong)
        losses = []
        for layer in self.layers:
            real, false = layer(real.detach()), layer(false.detach())
            losses.append(layer.loss(real, false))
        return torch.stack(losses), real, false

    def goodness(self, x):
        rows = []
        for label in range(self.classes):
            h = self.labelled(x, torch.full((x.shape[0],), label))
            total = 0.0
            for layer in self.layers:
                h = layer(h)
                total = total + h.pow(2).mean(1)
            rows.append(total)
        return torch.stack(rows, 1)


def build():
    return ForwardForward([20, 16, 12], classes=4)


def train_step(model, rng):
    x = torch.from_numpy(rng.random((6, 20)).astype('float32'))
    y = torch.from_numpy(rng.integers(0, 4, 6))
    wrong = (y + torch.from_numpy(rng.integers(1, 4, 6))) % 4
    optimizers = [torch.optim.SGD(layer.parameters(), lr=0.1) for layer in model.layers]
    losses, real, false = model(x, y, wrong)
    losses.sum().backward()
    for optimizer in optimizers:
        optimizer.step()
    with torch.no_grad():
        scores = model.goodness(x)
    return losses.sum(), (losses, real, false, scores)
