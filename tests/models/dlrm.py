"""DLRM: embedding bags, bottom and top MLPs, pairwise interactions (Naumov et al., 2019)."""

import numpy as np
import torch
import torch.nn as nn
from torch.nn.parameter import Parameter


class DLRM_Net(nn.Module):
    def create_mlp(self, ln, sigmoid_layer):
        layers = nn.ModuleList()
        for i in range(0, ln.size - 1):
            n = ln[i]
            m = ln[i + 1]
            LL = nn.Linear(int(n), int(m), bias=True)
            mean = 0.0
            std_dev = np.sqrt(2 / (m + n))
            W = np.random.normal(mean, std_dev, size=(m, n)).astype(np.float32)
            bt = np.random.normal(mean, np.sqrt(1 / m), size=m).astype(np.float32)
            LL.weight.data = torch.tensor(W, requires_grad=True)
            LL.bias.data = torch.tensor(bt, requires_grad=True)
            layers.append(LL)
            if i == sigmoid_layer:
                layers.append(nn.Sigmoid())
            else:
                layers.append(nn.ReLU())
        return torch.nn.Sequential(*layers)

    def create_emb(self, m, ln):
        emb_l = nn.ModuleList()
        for i in range(0, ln.size):
            n = ln[i]
            EE = nn.EmbeddingBag(int(n), m, mode="sum" if i else "mean")
            W = np.random.uniform(low=-np.sqrt(1 / n), high=np.sqrt(1 / n), size=(n, m)).astype(np.float32)
            EE.weight.data = torch.tensor(W, requires_grad=True)
            emb_l.append(EE)
        return emb_l

    def __init__(self, m_spa, ln_emb, ln_bot, ln_top, arch_interaction_itself=False):
        super(DLRM_Net, self).__init__()
        self.arch_interaction_itself = arch_interaction_itself
        self.emb_l = self.create_emb(m_spa, ln_emb)
        self.bot_l = self.create_mlp(ln_bot, -1)
        self.top_l = self.create_mlp(ln_top, ln_top.size - 2)
        self.scale = Parameter(torch.ones(1))

    def apply_mlp(self, x, layers):
        return layers(x)

    def apply_emb(self, lS_o, lS_i, emb_l):
        ly = []
        for k, sparse_index_group_batch in enumerate(lS_i):
            E = emb_l[k]
            V = E(sparse_index_group_batch, lS_o[k])
            ly.append(V)
        return ly

    def interact_features(self, x, ly):
        (batch_size, d) = x.shape
        T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        offset = 1 if self.arch_interaction_itself else 0
        li = torch.tensor([i for i in range(ni) for j in range(i + offset)])
        lj = torch.tensor([j for i in range(nj) for j in range(i + offset)])
        Zflat = Z[:, li, lj]
        return torch.cat([x] + [Zflat * self.scale], dim=1)

    def forward(self, dense_x, lS_o, lS_i):
        x = self.apply_mlp(dense_x, self.bot_l)
        ly = self.apply_emb(lS_o, lS_i, self.emb_l)
        z = self.interact_features(x, ly)
        return torch.clamp(self.apply_mlp(z, self.top_l), min=0.01, max=0.99)


def build():
    ln_emb = np.array([10, 7, 5])
    return DLRM_Net(4, ln_emb, np.array([6, 8, 4]), np.array([4 + 6, 8, 1]))


def train_step(dlrm, rng):
    X = torch.from_numpy(rng.random((5, 6)).astype(np.float32))
    lS_i = [torch.from_numpy(rng.integers(0, n, 12)) for n in (10, 7, 5)]
    lS_o = torch.tensor([[0, 2, 5, 5, 9], [0, 1, 4, 7, 10], [0, 3, 3, 8, 11]])
    T = torch.from_numpy(rng.integers(0, 2, (5, 1)).astype(np.float32))
    optimizer = torch.optim.Adagrad(dlrm.parameters(), lr=0.05)
    Z = dlrm(X, lS_o, lS_i)
    E = nn.BCELoss(reduction="mean")(Z, T)
    optimizer.zero_grad()
    E.backward()
    optimizer.step()
    A = np.sum((np.round(Z.detach().cpu().numpy(), 0) == T.detach().cpu().numpy()).astype(np.uint8))
    assert A <= 5
    return E, Z
