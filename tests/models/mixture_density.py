"""A mixture density network: the parameters of a mixture of normals, by likelihood (Bishop, 1994)."""

import torch
import torch.nn as nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, MultivariateNormal, Normal, kl_divergence


class MixtureDensityNetwork(nn.Module):
    def __init__(self, dim_in=3, dim_out=2, components=4, hidden=10):
        super().__init__()
        self.components, self.dim_out = components, dim_out
        self.trunk = nn.Sequential(nn.Linear(dim_in, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, components)
        self.mu = nn.Linear(hidden, components * dim_out)
        self.sigma = nn.Linear(hidden, components * dim_out)

    def forward(self, x):
        h = self.trunk(x)
        mix = Categorical(logits=self.pi(h))
        mu = self.mu(h).view(-1, self.components, self.dim_out)
        sigma = nn.functional.elu(self.sigma(h)).view_as(mu) + 1 + 1e-7
        return MixtureSameFamily(mix, Independent(Normal(mu, sigma), 1))


def build():
    return MixtureDensityNetwork()


def train_step(model, rng):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.from_numpy(rng.standard_normal((6, 3)).astype("float32"))
    y = torch.from_numpy(rng.standard_normal((6, 2)).astype("float32"))
    mixture = model(x)
    prior = MultivariateNormal(torch.zeros(2), covariance_matrix=torch.eye(2) * 2)
    means = MultivariateNormal(mixture.mean, scale_tril=torch.diag_embed(mixture.variance.sqrt()))
    loss = -mixture.log_prob(y).mean() + 0.01 * kl_divergence(means, prior).mean()
    loss = loss - 0.01 * mixture.mixture_distribution.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, [mixture.mean, mixture.variance, mixture.mixture_distribution.probs]
