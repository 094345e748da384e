"""Soft actor-critic: a squashed Gaussian policy and two critics (Haarnoja et al., 2018)."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import distributions as pyd


class TanhTransform(pyd.transforms.Transform):
    domain = pyd.constraints.real
    codomain = pyd.constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def __init__(self, cache_size=1):
        super().__init__(cache_size=cache_size)

    @staticmethod
    def atanh(x):
        return 0.5 * (x.log1p() - (-x).log1p())

    def __eq__(self, other):
        return isinstance(other, TanhTransform)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return self.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class SquashedNormal(pyd.transformed_distribution.TransformedDistribution):
    def __init__(self, loc, scale):
        self.loc = loc
        self.scale = scale
        self.base_dist = pyd.Normal(loc, scale)
        super().__init__(self.base_dist, [TanhTransform()])

    @property
    def mean(self):
        mu = self.loc
        for transform in self.transforms:
            mu = transform(mu)
        return mu


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, outputs))


class Agent(nn.Module):
    def __init__(self, observations=5, actions=2, hidden=16):
        super().__init__()
        self.trunk = mlp(observations, hidden, 2 * actions)
        self.q1 = mlp(observations + actions, hidden, 1)
        self.q2 = mlp(observations + actions, hidden, 1)
        self.log_alpha = nn.Parameter(torch.tensor(math.log(0.1)))
        self.log_std_bounds = (-5, 2)

    def policy(self, obs):
        mu, log_std = self.trunk(obs).chunk(2, dim=-1)
        low, high = self.log_std_bounds
        log_std = low + 0.5 * (high - low) * (torch.tanh(log_std) + 1)
        return SquashedNormal(mu, log_std.exp())

    def critics(self, obs, action):
        both = torch.cat([obs, action], dim=-1)
        return self.q1(both), self.q2(both)


def build():
    return Agent()


def train_step(model, rng):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.999))
    obs = torch.from_numpy(rng.standard_normal((4, 5)).astype("float32"))
    noise = torch.from_numpy(rng.standard_normal((4, 2)).astype("float32"))
    target = torch.from_numpy(rng.standard_normal((4, 1)).astype("float32"))
    dist = model.policy(obs)
    action = dist.transforms[0](dist.loc + dist.scale * noise)  # what rsample does, with the noise given
    log_prob = dist.log_prob(action).sum(-1, keepdim=True)
    q1, q2 = model.critics(obs, action)
    alpha = model.log_alpha.exp()
    actor_loss = (alpha.detach() * log_prob - torch.min(q1, q2)).mean()
    critic_loss = F.mse_loss(model.q1(torch.cat([obs, action.detach()], -1)), target)
    alpha_loss = (alpha * (-log_prob + 2).detach()).mean()
    loss = actor_loss + critic_loss + alpha_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, [dist.mean, log_prob, q1]
