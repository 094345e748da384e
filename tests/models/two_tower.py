"""Retrieval by two towers: sampled softmax, BPR and triplet losses over normalised embeddings."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, num_ids: int, num_features: int, *, dim: int = 8):
        super().__init__()
        self.ids = nn.Embedding(num_ids, dim, max_norm=None)
        self.features = nn.Sequential(nn.Linear(num_features, 16), nn.PReLU(16), nn.LayerNorm(16), nn.Linear(16, dim), nn.Tanhshrink())

    def forward(self, ids, features):
        return F.normalize(self.ids(ids) + self.features(features), p=2, dim=-1)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = Tower(9, 5), Tower(13, 4)
        self.logit_scale = nn.Parameter(torch.tensor(1.0))
        self.bilinear = nn.Bilinear(8, 8, 1)

    def forward(self, users, user_features, items, item_features):
        u = self.user(users, user_features)
        v = self.item(items, item_features)
        logits = self.logit_scale.exp() * u @ v.t()
        return u, v, logits, self.bilinear(u, v).squeeze(-1)


def build():
    return TwoTower()


def train_step(model, rng):
    n = 6
    users, items = (torch.from_numpy(rng.permutation(9)[:n]), torch.from_numpy(rng.permutation(13)[:n]))
    uf, vf = (torch.from_numpy(rng.standard_normal((n, k)).astype("float32")) for k in (5, 4))
    optimizer = torch.optim.Adadelta(model.parameters(), lr=0.5)
    u, v, logits, rating = model(users, uf, items, vf)
    labels = torch.arange(n, device=logits.device)
    contrastive = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    negatives = v.roll(1, dims=0)
    bpr = -F.logsigmoid((u * v).sum(-1) - (u * negatives).sum(-1)).mean()
    triplet = F.triplet_margin_loss(u, v, negatives, margin=0.2)
    cosine = nn.CosineEmbeddingLoss(margin=0.1)(u, v, torch.ones(n)) + (1 - F.cosine_similarity(u, v)).mean()
    ranking = nn.MarginRankingLoss(margin=0.1)(rating, rating.flip(0), torch.ones(n))
    loss = contrastive + bpr + triplet + cosine + ranking
    loss.backward()
    optimizer.step()
    topk = logits.topk(3, dim=1)
    hits = (topk.indices == labels[:, None]).any(dim=1).float().mean()
    return loss, (logits, topk.values, topk.indices, hits, F.pairwise_distance(u, v))
