"""RealNVP: affine couplings with checkerboard masks, trained on the log-likelihood (Dinh et al., 2016)."""

import math

import torch
import torch.nn as nn
from torch import distributions


class RealNVP(nn.Module):
    def __init__(self, nets, nett, masks, prior):
        super(RealNVP, self).__init__()
        self.prior = prior
        self.mask = nn.Parameter(masks, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(masks))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(masks))])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp


def build():
    nets = lambda: nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 16), nn.LeakyReLU(), nn.Linear(16, 2), nn.Tanh())
    nett = lambda: nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 16), nn.LeakyReLU(), nn.Linear(16, 2))
    masks = torch.tensor([[0, 1], [1, 0]] * 2, dtype=torch.float32)
    prior = distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    return RealNVP(nets, nett, masks, prior)


def train_step(flow, rng):
    with torch.no_grad():
        flow.mask.copy_(torch.tensor([[0., 1.], [1., 0.]]).repeat(2, 1))
    angle = torch.from_numpy(rng.random(10).astype("float32")) * math.pi
    x = torch.stack([torch.cos(angle), torch.sin(angle)], dim=1) + 0.1 * torch.from_numpy(rng.standard_normal((10, 2)).astype("float32"))
    optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=1e-3, eps=1e-3)
    log_prob = flow.log_prob(x)
    loss = -log_prob.mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    with torch.no_grad():
        z, _ = flow.f(x)
        assert torch.allclose(flow.g(z), x, atol=1e-4)
    return loss, log_prob
