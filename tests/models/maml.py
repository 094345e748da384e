"""MAML on sine waves: the outer gradient goes through the inner one (Finn et al., 2017)."""

from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class MetaModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(OrderedDict([
            ('l1', nn.Linear(1, 16)), ('relu1', nn.Tanh()), ('l2', nn.Linear(16, 16)), ('relu2', nn.Softplus(beta=2)), ('l3', nn.Linear(16, 1)),
        ]))

    def forward(self, x):
        return self.net(x)

    def argforward(self, x, weights):
        x = F.linear(x, weights[0], weights[1]).tanh()
        x = F.softplus(F.linear(x, weights[2], weights[3]), beta=2)
        return F.linear(x, weights[4], weights[5])


class SineTask():
    def __init__(self, amp, phase):
        self.amp, self.phase = amp, phase

    def true_function(self, x):
        return self.amp * np.sin(self.phase + x)

    def sample_data(self, x):
        y = self.true_function(x)
        return torch.tensor(x, dtype=torch.float), torch.tensor(y, dtype=torch.float)


def build():
    return MetaModel()


def train_step(model, rng):
    meta_optimiser = torch.optim.Adam(list(model.parameters()), 1e-3, eps=1e-2)
    inner_lr, metaloss_sum = 0.05, 0
    weights = list(model.parameters())
    outputs = []
    for _ in range(2):
        task = SineTask(rng.uniform(0.1, 5.0), rng.uniform(0, np.pi))
        temp_weights = [w.clone() for w in weights]
        X, y = task.sample_data(rng.uniform(-5, 5, (6, 1)))
        for step in range(2):
            loss = F.mse_loss(model.argforward(X, temp_weights), y)
            grad = torch.autograd.grad(loss, temp_weights, create_graph=True)
            temp_weights = [w - inner_lr * g for w, g in zip(temp_weights, grad)]
        X, y = task.sample_data(rng.uniform(-5, 5, (6, 1)))
        out = model.argforward(X, temp_weights)
        outputs.append(out)
        metaloss_sum += nn.MSELoss(reduction='mean')(out, y)
    metagrads = torch.autograd.grad(metaloss_sum, weights)
    for w, g in zip(weights, metagrads):
        w.grad = g
    meta_optimiser.step()
    return metaloss_sum, outputs
