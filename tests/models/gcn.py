"""Graph convolution by index_add and GraphSAGE by scatter_add on an edge list (Kipf and Welling, 2016)."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class GraphConvolution(Module):
    """Simple GCN layer"""

    def __init__(self, in_features, out_features, bias=True):
        super(GraphConvolution, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter('bias', None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1. / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, edge_index, edge_weight):
        support = torch.mm(input, self.weight)
        row, col = edge_index
        messages = support[col] * edge_weight.unsqueeze(-1)
        output = torch.zeros_like(support).index_add(0, row, messages)
        if self.bias is not None:
            return output + self.bias
        else:
            return output

    def __repr__(self):
        return self.__class__.__name__ + ' (' + str(self.in_features) + ' -> ' + str(self.out_features) + ')'


class SAGEConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin_l = nn.Linear(in_channels, out_channels)
        self.lin_r = nn.Linear(in_channels, out_channels, bias=False)

    def forward(self, x, edge_index):
        row, col = edge_index[0], edge_index[1]
        index = row.view(-1, 1).expand(-1, x.size(1))
        summed = torch.zeros_like(x).scatter_add_(0, index, x[col])
        count = torch.zeros(x.size(0)).index_add_(0, row, torch.ones_like(row, dtype=x.dtype)).clamp_(min=1)
        return self.lin_l(summed / count.unsqueeze(1)) + self.lin_r(x)


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super(GCN, self).__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.sage = SAGEConv(nhid, nhid)
        self.gc2 = GraphConvolution(nhid, nclass, bias=False)
        self.dropout = dropout

    def forward(self, x, edge_index, edge_weight):
        x = F.relu(self.gc1(x, edge_index, edge_weight))
        x = F.dropout(x, self.dropout, training=self.training)
        x = F.relu_(self.sage(x, edge_index))
        x = self.gc2(x, edge_index, edge_weight)
        return F.log_softmax(x, dim=1)


def normalize(edge_index, num_nodes):
    loops = torch.arange(num_nodes).repeat(2, 1)
    edge_index = torch.cat([edge_index, loops], dim=1)
    row, col = edge_index
    deg = torch.bincount(row, minlength=num_nodes).float()
    deg_inv_sqrt = deg.pow(-0.5)
    deg_inv_sqrt[deg_inv_sqrt == float('inf')] = 0
    return edge_index, deg_inv_sqrt[row] * deg_inv_sqrt[col]


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    correct = correct.sum()
    return correct / len(labels)


def build():
    return GCN(6, 8, 3, 0.0)


def train_step(model, rng):
    features = torch.FloatTensor(rng.random((10, 6)))
    features = features / features.sum(1, keepdim=True)
    edges = torch.from_numpy(rng.integers(0, 10, (2, 25)))
    edge_index, edge_weight = normalize(torch.unique(edges, dim=1), 10)
    labels = torch.LongTensor(rng.integers(0, 3, 10))
    idx_train = torch.LongTensor(range(7))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4, eps=1e-3)
    optimizer.zero_grad()
    output = model(features, edge_index, edge_weight)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    acc_train = accuracy(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    return loss_train, [output, acc_train, edge_weight]
