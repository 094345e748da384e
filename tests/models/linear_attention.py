"""Linear attention, causal by cumulative sums (Katharopoulos et al., 2020)."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def elu_feature_map(x):
    return F.elu(x) + 1


class CausalLinearAttention(nn.Module):
    def __init__(self, d_model, n_heads, eps=1e-6):
        super(CausalLinearAttention, self).__init__()
        self.query_projection = nn.Linear(d_model, d_model)
        self.key_projection = nn.Linear(d_model, d_model)
        self.value_projection = nn.Linear(d_model, d_model)
        self.out_projection = nn.Linear(d_model, d_model)
        self.n_heads = n_heads
        self.eps = eps

    def forward(self, x, length_mask):
        N, L, _ = x.shape
        H = self.n_heads
        Q = elu_feature_map(self.query_projection(x).view(N, L, H, -1))
        K = elu_feature_map(self.key_projection(x).view(N, L, H, -1))
        V = self.value_projection(x).view(N, L, H, -1)
        K = K * length_mask[:, :, None, None]
        Z = 1 / (torch.einsum("nlhi,nlhi->nlh", Q, K.cumsum(1)) + self.eps)
        KV = torch.einsum("nlhd,nlhm->nlhdm", K, V).cumsum(dim=1)
        out = torch.einsum("nlhd,nlhdm,nlh->nlhm", Q, KV, Z)
        return self.out_projection(out.contiguous().view(N, L, -1))


class Encoder(nn.Module):
    def __init__(self, layers, d_model, n_heads, vocab):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.attention = nn.ModuleList([CausalLinearAttention(d_model, n_heads) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.GroupNorm(2, d_model) for _ in range(layers)])
        self.ff = nn.ModuleList([nn.Sequential(nn.Linear(d_model, 2 * d_model), nn.GLU(dim=-1), nn.Linear(d_model, d_model), nn.Mish()) for _ in range(layers)])
        self.head = nn.Linear(d_model, vocab)

    def forward(self, tokens, lengths):
        mask = (torch.arange(tokens.size(1))[None, :] < lengths[:, None]).float()
        x = self.embed(tokens)
        for attention, norm, ff in zip(self.attention, self.norms, self.ff):
            x = x + attention(x, mask)
            x = norm(x.transpose(1, 2)).transpose(1, 2)
            x = x + ff(x)
        return self.head(x), mask


def build():
    return Encoder(2, 16, 4, 20)


def train_step(model, rng):
    tokens = torch.from_numpy(rng.integers(0, 20, (3, 11)))
    lengths = torch.tensor([11, 7, 4])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, amsgrad=True, eps=1e-4)
    logits, mask = model(tokens, lengths)
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    loss = (losses * mask[:, 1:]).sum() / mask[:, 1:].sum().clamp(min=1)
    loss.backward()
    optimizer.step()
    return loss, logits
