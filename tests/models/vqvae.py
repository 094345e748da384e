"""VQ-VAE: nearest codes, straight-through gradients, codes by moving averages (van den Oord et al., 2017)."""

import torch
from torch import nn
from torch.nn import functional as F


class Quantize(nn.Module):
    def __init__(self, dim, n_embed, decay=0.99, eps=1e-5):
        super().__init__()
        self.dim = dim
        self.n_embed = n_embed
        self.decay = decay
        self.eps = eps
        embed = torch.linspace(-1, 1, dim * n_embed).cos().mul(2).view(dim, n_embed)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.zeros(n_embed))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, input):
        flatten = input.reshape(-1, self.dim)
        dist = (
            flatten.pow(2).sum(1, keepdim=True)
            - 2 * flatten @ self.embed
            + self.embed.pow(2).sum(0, keepdim=True)
        )
        _, embed_ind = (-dist).max(1)
        embed_onehot = F.one_hot(embed_ind, self.n_embed).type(flatten.dtype)
        embed_ind = embed_ind.view(*input.shape[:-1])
        quantize = self.embed_code(embed_ind)

        if self.training:
            embed_onehot_sum = embed_onehot.sum(0)
            embed_sum = flatten.transpose(0, 1) @ embed_onehot
            self.cluster_size.data.mul_(self.decay).add_(embed_onehot_sum, alpha=1 - self.decay)
            self.embed_avg.data.mul_(self.decay).add_(embed_sum.detach(), alpha=1 - self.decay)
            n = self.cluster_size.sum()
            cluster_size = (self.cluster_size + self.eps) / (n + self.n_embed * self.eps) * n
            embed_normalized = self.embed_avg / cluster_size.unsqueeze(0)
            self.embed.data.copy_(embed_normalized)

        diff = (quantize.detach() - input).pow(2).mean()
        quantize = input + (quantize - input).detach()
        return quantize, diff, embed_ind

    def embed_code(self, embed_id):
        return F.embedding(embed_id, self.embed.transpose(0, 1))


class ResBlock(nn.Module):
    def __init__(self, in_channel, channel):
        super().__init__()
        self.conv = nn.Sequential(
            nn.ELU(inplace=False),
            nn.Conv2d(in_channel, channel, 3, padding=1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(channel, in_channel, 1),
        )

    def forward(self, input):
        out = self.conv(input)
        out += input
        return out


class VQVAE(nn.Module):
    def __init__(self, in_channel=3, channel=16, embed_dim=6, n_embed=11):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(in_channel, channel, 4, stride=2, padding=1), nn.ReLU(inplace=True), ResBlock(channel, 8),
                                 nn.Conv2d(channel, embed_dim, 1))
        self.quantize = Quantize(embed_dim, n_embed)
        self.dec = nn.Sequential(nn.Conv2d(embed_dim, channel, 3, padding=1), ResBlock(channel, 8),
                                 nn.ConvTranspose2d(channel, in_channel, 4, stride=2, padding=1))

    def forward(self, input):
        quant = self.enc(input).permute(0, 2, 3, 1)
        quant, diff, ids = self.quantize(quant)
        quant = quant.permute(0, 3, 1, 2)
        return self.dec(quant), diff.unsqueeze(0), ids


def build():
    return VQVAE()


def train_step(model, rng):
    img = torch.from_numpy(rng.standard_normal((2, 3, 8, 8)).astype('float32'))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, eps=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-4, total_steps=10)
    model.zero_grad()
    out, latent_loss, ids = model(img)
    recon_loss = nn.MSELoss()(out, img)
    loss = recon_loss + 0.25 * latent_loss.mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss, [out, ids, model.quantize.embed]
