"""Convolutions over words (Kim, 2014) with character highways (Srivastava et al., 2015)."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Highway(nn.Module):
    def __init__(self, size, num_layers, f=torch.nn.functional.relu):
        super(Highway, self).__init__()
        self.num_layers = num_layers
        self.nonlinear = nn.ModuleList([nn.Linear(size, size) for _ in range(num_layers)])
        self.linear = nn.ModuleList([nn.Linear(size, size) for _ in range(num_layers)])
        self.gate = nn.ModuleList([nn.Linear(size, size) for _ in range(num_layers)])
        self.f = f

    def forward(self, x):
        for layer in range(self.num_layers):
            gate = torch.sigmoid(self.gate[layer](x))
            x = gate * self.f(self.nonlinear[layer](x)) + (1 - gate) * self.linear[layer](x)
        return x


class CNN_Text(nn.Module):
    def __init__(self, args):
        super(CNN_Text, self).__init__()
        self.args = args
        V, D, C, Ci, Co, Ks = args['vocab'], args['dim'], args['classes'], 1, args['kernels'], args['sizes']
        self.embed = nn.Embedding.from_pretrained(torch.zeros(V, D), freeze=False, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv2d(Ci, Co, (K, D)) for K in Ks])
        self.highway = Highway(len(Ks) * Co, 2, f=F.relu6)
        self.dropout = nn.Dropout(args['dropout'])
        self.fc1 = nn.Linear(len(Ks) * Co, C)

    def forward(self, x):
        x = self.embed(x)  # (N, W, D)
        x = x.unsqueeze(1)  # (N, Ci, W, D)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]  # [(N, Co, W), ...]*len(Ks)
        x = [F.max_pool1d(i, i.size(2)).squeeze(2) for i in x]  # [(N, Co), ...]*len(Ks)
        x = torch.cat(x, 1)
        x = self.dropout(self.highway(x))
        return self.fc1(x)


def build():
    return CNN_Text({'vocab': 25, 'dim': 8, 'classes': 4, 'kernels': 5, 'sizes': [2, 3, 4], 'dropout': 0.0})


def train_step(model, rng):
    feature = torch.from_numpy(rng.integers(0, 25, (10, 4)))
    target = torch.from_numpy(rng.integers(0, 2, (4, 4)).astype('float32'))
    feature = feature.t_() if False else feature.t()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001, eps=1e-2)
    optimizer.zero_grad()
    logit = model(feature)
    loss = F.multilabel_soft_margin_loss(logit, target) + F.kl_div(F.log_softmax(logit, -1), target.softmax(-1), reduction='batchmean')
    loss.backward()
    optimizer.step()
    corrects = (torch.max(logit, 1)[1].view(4).data == target.max(1)[1].data).sum()
    return loss, [logit, corrects]
