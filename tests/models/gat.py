"""Graph attention with softmax over edges, and global pooling per graph (Velickovic et al., 2017)."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def scatter_softmax(scores, index, num_nodes):
    expanded = index.unsqueeze(-1).expand_as(scores)
    maximum = torch.full((num_nodes, scores.size(-1)), float("-inf")).scatter_reduce(0, expanded, scores.detach(), reduce="amax")
    exps = (scores - maximum.index_select(0, index)).exp()
    denominator = torch.zeros(num_nodes, scores.size(-1)).scatter_add(0, expanded, exps)
    return exps / (denominator[index] + 1e-16)


class GATLayer(nn.Module):
    def __init__(self, in_features, out_features, heads, concat=True, alpha=0.2):
        super().__init__()
        self.heads, self.out_features, self.concat = heads, out_features, concat
        self.W = nn.Parameter(torch.empty(size=(in_features, heads * out_features)))
        self.a_src = nn.Parameter(torch.empty(1, heads, out_features))
        self.a_dst = nn.Parameter(torch.empty(1, heads, out_features))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        for a in (self.a_src, self.a_dst):
            nn.init.xavier_normal_(a.data, gain=1.414)
        self.leakyrelu = nn.LeakyReLU(alpha)

    def forward(self, h, edge_index):
        n = h.size(0)
        src, dst = edge_index.unbind(0)
        Wh = torch.matmul(h, self.W).view(n, self.heads, self.out_features)
        alpha = (Wh * self.a_src).sum(-1)[src] + (Wh * self.a_dst).sum(dim=-1)[dst]
        attention = scatter_softmax(self.leakyrelu(alpha), dst, n)
        messages = Wh[src] * attention.unsqueeze(-1)
        out = torch.zeros(n, self.heads, self.out_features)
        out.index_add_(0, dst, messages)
        return out.flatten(1) if self.concat else out.mean(dim=1)


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([GATLayer(5, 4, 3), GATLayer(12, 6, 2, concat=False)])
        self.norm = nn.BatchNorm1d(12)
        self.readout = nn.Linear(12, 1)

    def forward(self, x, edge_index, batch):
        x = F.elu(self.norm(self.layers[0](x, edge_index)), inplace=True)
        x = self.layers[1](x, edge_index)
        graphs = int(batch.max()) + 1
        index = batch[:, None].expand(-1, x.size(1))
        mean = torch.zeros(graphs, x.size(1)).scatter_reduce(0, index, x, reduce="mean", include_self=False)
        largest = x.new_zeros(graphs, x.size(1)).scatter_reduce_(0, index, x, "amax", include_self=False)
        return self.readout(torch.cat([mean, largest], dim=-1)).squeeze(-1)


def build():
    return GAT()


def train_step(model, rng):
    x = torch.from_numpy(rng.standard_normal((12, 5)).astype("float32"))
    edge_index = torch.from_numpy(rng.integers(0, 12, (2, 40)))
    edge_index = torch.cat([edge_index, edge_index.flip([0])], dim=1)
    batch = torch.repeat_interleave(torch.arange(3), torch.tensor([5, 3, 4]))
    y = torch.from_numpy(rng.standard_normal(3).astype("float32"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, dampening=0.1)
    out = model(x, edge_index, batch)
    loss = F.mse_loss(out, y) + F.gaussian_nll_loss(out, y, var=torch.ones(3))
    loss.backward()
    optimizer.step()
    return loss, out
