"""Models of tables, latent variables, games and graphs."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.peers.programs.inputs import integers, normal
from benchmarks.peers.row import Model, model


class Recommender(nn.Module):
    """DLRM: embeddings of categories, products between all pairs of features, and an MLP on top."""

    def __init__(self, tables: int = 8, words: int = 1000, width: int = 16) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(words, width) for _ in range(tables)])
        self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
        pairs = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("rows", pairs[0])
        self.register_buffer("columns", pairs[1])
        self.top = nn.Sequential(nn.Linear(width + pairs.shape[1], 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, numbers: torch.Tensor, categories: torch.Tensor) -> torch.Tensor:
        dense = self.bottom(numbers)
        found = [table(column) for table, column in zip(self.tables, categories.unbind(1))]
        features = torch.stack([dense, *found], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        return self.top(torch.cat([dense, products[:, self.rows, self.columns]], 1)).squeeze(1)


@model
def dlrm() -> Model:
    clicked = integers(2, 256, name="clicked").float()
    inputs = normal(256, 13), integers(1000, 256, 8)
    return Model(Recommender(), inputs, lambda logits: F.binary_cross_entropy_with_logits(logits, clicked))


class VAE(nn.Module):
    """The noise is an input, so that both libraries draw the same."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 256), nn.ReLU())
        self.mean, self.spread = nn.Linear(256, 20), nn.Linear(256, 20)
        self.decoder = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 784), nn.Sigmoid())

    def forward(self, x: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        hidden = self.encoder(x)
        mean, spread = self.mean(hidden), self.spread(hidden)
        return self.decoder(mean + noise * torch.exp(0.5 * spread)), mean, spread


@model
def vae() -> Model:
    images = torch.sigmoid(normal(128, 784))

    def loss(outputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> torch.Tensor:
        restored, mean, spread = outputs
        divergence = -0.5 * (1 + spread - mean.square() - spread.exp()).sum()
        return F.binary_cross_entropy(restored, images, reduction="sum") + divergence

    return Model(VAE(), (images, normal(128, 20, name="noise")), loss)


class ActorCritic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.actor, self.critic = nn.Linear(128, 6), nn.Linear(128, 1)

    def forward(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.body(states)
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


@model
def actor_critic() -> Model:
    """Advantage actor-critic on a batch of 256 states."""
    actions, returns = integers(6, 256), normal(256, name="returns")

    def loss(outputs: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        logits, values = outputs
        scores = F.log_softmax(logits, -1)
        chosen = scores.gather(1, actions[:, None]).squeeze(1)
        entropy = -(scores.exp() * scores).sum(-1).mean()
        advantage = (returns - values).detach()
        return -(chosen * advantage).mean() + 0.5 * F.mse_loss(values, returns) - 0.01 * entropy

    return Model(ActorCritic(), (normal(256, 24),), loss)


class GCN(nn.Module):
    """Graph convolution over an edge list."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 8)

    def spread(self, x: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x).index_add(0, targets, x[sources])

    def forward(self, x: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.spread(self.first(x), sources, targets))
        return self.spread(self.second(x), sources, targets)


@model
def gcn() -> Model:
    nodes, edges = 1024, 8192
    labels = integers(8, nodes)
    ends = integers(nodes, edges, name="sources"), integers(nodes, edges, name="targets")
    return Model(GCN(), (normal(nodes, 64), *ends), lambda logits: F.cross_entropy(logits, labels))
