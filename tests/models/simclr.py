"""SimCLR's contrastive loss and BYOL's moving average target (Chen et al., 2020; Grill et al., 2020)."""

import copy

import torch
from torch import nn
import torch.nn.functional as F


def set_requires_grad(model, val):
    for p in model.parameters():
        p.requires_grad = val


class EMA():
    def __init__(self, beta):
        super().__init__()
        self.beta = beta

    def update_average(self, old, new):
        if old is None:
            return new
        return old * self.beta + (1 - self.beta) * new


def update_moving_average(ema_updater, ma_model, current_model):
    for current_params, ma_params in zip(current_model.parameters(), ma_model.parameters()):
        old_weight, up_weight = ma_params.data, current_params.data
        ma_params.data = ema_updater.update_average(old_weight, up_weight)


class SimCLR(nn.Module):
    def __init__(self, dim=16, projection=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, dim, 3, stride=2), nn.CELU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(dim * 4, dim))
        self.projector = nn.Sequential(nn.Linear(dim, dim, bias=False), nn.BatchNorm1d(dim), nn.ReLU(inplace=True), nn.Linear(dim, projection))
        self.predictor = nn.Linear(projection, projection)

    def info_nce_loss(self, features, n_views=2, temperature=0.5):
        labels = torch.cat([torch.arange(features.shape[0] // n_views) for i in range(n_views)], dim=0)
        labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
        features = F.normalize(features, dim=1)
        similarity_matrix = torch.matmul(features, features.T)
        mask = torch.eye(labels.shape[0], dtype=torch.bool)
        labels = labels[~mask].view(labels.shape[0], -1)
        similarity_matrix = similarity_matrix[~mask].view(similarity_matrix.shape[0], -1)
        positives = similarity_matrix[labels.bool()].view(labels.shape[0], -1)
        negatives = similarity_matrix[~labels.bool()].view(similarity_matrix.shape[0], -1)
        logits = torch.cat([positives, negatives], dim=1)
        return logits / temperature, torch.zeros(logits.shape[0], dtype=torch.long)

    def forward(self, images):
        return self.projector(self.encoder(images))


def build():
    return SimCLR()


def train_step(model, rng):
    view = torch.from_numpy(rng.random((2, 4, 3, 10, 10)).astype('float32'))
    images = torch.cat(tuple(view), dim=0)
    target_model = copy.deepcopy(model)
    set_requires_grad(target_model, False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=4)
    features = model(images)
    logits, labels = model.info_nce_loss(features)
    loss = nn.CrossEntropyLoss()(logits, labels)
    with torch.no_grad():
        targets = target_model(images.flip(-1)).detach_()
    online = F.normalize(model.predictor(features), dim=-1, p=2)
    loss = loss + (2 - 2 * (online * F.normalize(targets, dim=-1, p=2)).sum(dim=-1)).mean()
    z = features - features.mean(dim=0)
    cov = (z.T @ z) / (len(z) - 1)
    off_diagonal = cov.flatten()[:-1].view(7, 9)[:, 1:].flatten()
    variance = F.relu(1 - torch.sqrt(z.var(dim=0) + 1e-4)).mean()
    loss = loss + 0.1 * off_diagonal.pow_(2).sum().div(8) + 0.1 * variance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    update_moving_average(EMA(0.99), target_model, model)
    return loss, [logits, target_model.predictor.weight, cov]
