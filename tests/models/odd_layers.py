"""Layers that use corners of the library: involution, non-local and CBAM blocks, NTM addressing, splines, FFT convolution, WKV."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Involution(nn.Module):
    """A kernel for each place, made from that place (Li et al., 2021)."""

    def __init__(self, channels, kernel_size=3, stride=1, group_channels=4):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride
        self.group_channels, self.groups = group_channels, channels // group_channels
        self.reduce = nn.Sequential(nn.Conv2d(channels, channels // 2, 1), nn.BatchNorm2d(channels // 2), nn.ReLU())
        self.span = nn.Conv2d(channels // 2, kernel_size ** 2 * self.groups, 1)
        self.unfold = nn.Unfold(kernel_size, 1, (kernel_size - 1) // 2, stride)

    def forward(self, x):
        weight = self.span(self.reduce(x))
        b, c, h, w = weight.shape
        weight = weight.view(b, self.groups, self.kernel_size ** 2, h, w).unsqueeze(2)
        out = self.unfold(x).view(b, self.groups, self.group_channels, self.kernel_size ** 2, h, w)
        return (weight * out).sum(dim=3).view(b, -1, h, w)


class NonLocal(nn.Module):
    """(Wang et al., 2017)"""

    def __init__(self, in_channels):
        super().__init__()
        self.inter = max(in_channels // 2, 1)
        self.g = nn.Sequential(nn.Conv2d(in_channels, self.inter, 1), nn.MaxPool2d(kernel_size=(2, 2)))
        self.theta = nn.Conv2d(in_channels, self.inter, 1)
        self.phi = nn.Sequential(nn.Conv2d(in_channels, self.inter, 1), nn.MaxPool2d((2, 2)))
        self.W = nn.Sequential(nn.Conv2d(self.inter, in_channels, 1), nn.BatchNorm2d(in_channels))
        nn.init.constant_(self.W[1].weight, 0)

    def forward(self, x):
        batch_size = x.size(0)
        g_x = self.g(x).view(batch_size, self.inter, -1).permute(0, 2, 1)
        theta_x = self.theta(x).view(batch_size, self.inter, -1).permute(0, 2, 1)
        phi_x = self.phi(x).view(batch_size, self.inter, -1)
        f_div_C = F.softmax(torch.matmul(theta_x, phi_x), dim=-1)
        y = torch.matmul(f_div_C, g_x).permute(0, 2, 1).contiguous()
        return self.W(y.view(batch_size, self.inter, *x.size()[2:])) + x


class CBAM(nn.Module):
    """(Woo et al., 2018)"""

    def __init__(self, channels, reduction=2):
        super().__init__()
        self.mlp = nn.Sequential(nn.Flatten(), nn.Linear(channels, channels // reduction), nn.ReLU(), nn.Linear(channels // reduction, channels))
        self.spatial = nn.Conv2d(2, 1, 7, padding=3, bias=False)

    @staticmethod
    def logsumexp_2d(tensor):
        flat = tensor.view(tensor.size(0), tensor.size(1), -1)
        s, _ = torch.max(flat, dim=2, keepdim=True)
        return s + (flat - s).exp().sum(dim=2, keepdim=True).log()

    def forward(self, x):
        att = None
        for pool in ("avg", "max", "lp", "lse"):
            if pool == "avg":
                raw = self.mlp(F.avg_pool2d(x, (x.size(2), x.size(3)), stride=(x.size(2), x.size(3))))
            elif pool == "max":
                raw = self.mlp(F.max_pool2d(x, (x.size(2), x.size(3)), stride=(x.size(2), x.size(3))))
            elif pool == "lp":
                raw = self.mlp(F.lp_pool2d(x.abs() + 0.1, 2, (x.size(2), x.size(3)), stride=(x.size(2), x.size(3))))
            else:
                raw = self.mlp(self.logsumexp_2d(x))
            att = raw if att is None else att + raw
        x = x * torch.sigmoid(att).unsqueeze(2).unsqueeze(3).expand_as(x)
        squeezed = torch.cat((torch.max(x, 1)[0].unsqueeze(1), torch.mean(x, 1).unsqueeze(1)), dim=1)
        return x * torch.sigmoid(self.spatial(squeezed))


class NTMHead(nn.Module):
    """Content and location addressing (Graves et al., 2014)."""

    def __init__(self, controller, N, M):
        super().__init__()
        self.lengths = [M, 1, 1, 3, 1]
        self.fc = nn.Linear(controller, sum(self.lengths))
        self.register_buffer("mem_bias", torch.linspace(-0.5, 0.5, N * M).view(N, M))

    @staticmethod
    def _convolve(w, s):
        assert s.size(0) == 3
        t = torch.cat([w[-1:], w, w[:1]])
        return F.conv1d(t.view(1, 1, -1), s.view(1, 1, -1)).view(-1)

    def forward(self, embeddings, w_prev):
        memory = self.mem_bias.clone().repeat(embeddings.size(0), 1, 1)
        o = self.fc(embeddings)
        l = np.cumsum([0] + self.lengths)
        k, b, g, s, y = [o[:, l[i]:l[i + 1]] for i in range(5)]
        b, g, s, y = F.softplus(b), torch.sigmoid(g), F.softmax(s, dim=1), 1 + F.softplus(y)
        wc = F.softmax(b * F.cosine_similarity(memory + 1e-16, k.view(-1, 1, k.size(1)) + 1e-16, dim=-1), dim=1)
        wg = g * wc + (1 - g) * w_prev
        result = torch.zeros(wg.size())
        for i in range(len(wg)):
            result[i] = self._convolve(wg[i], s[i])
        w = result ** y
        w = torch.div(w, torch.sum(w, dim=1).view(-1, 1) + 1e-16)
        return torch.matmul(w.unsqueeze(1), memory).squeeze(1), w


class KANLinear(nn.Module):
    """B-splines on the edges (Liu et al., 2024)."""

    def __init__(self, in_features, out_features, grid_size=4, spline_order=2):
        super().__init__()
        self.spline_order = spline_order
        h = 2 / grid_size
        grid = (torch.arange(-spline_order, grid_size + spline_order + 1) * h - 1).expand(in_features, -1).contiguous()
        self.register_buffer("grid", grid)
        self.base_weight = nn.Parameter(torch.Tensor(out_features, in_features))
        self.spline_weight = nn.Parameter(torch.Tensor(out_features, in_features, grid_size + spline_order))
        nn.init.kaiming_uniform_(self.base_weight, a=math.sqrt(5))
        nn.init.trunc_normal_(self.spline_weight, std=0.1)

    def b_splines(self, x):
        grid = self.grid
        x = x.unsqueeze(-1)
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.spline_order + 1):
            bases = ((x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[:, :, :-1]) + (
                (grid[:, k + 1:] - x) / (grid[:, k + 1:] - grid[:, 1:(-k)]) * bases[:, :, 1:])
        return bases.contiguous()

    def forward(self, x):
        base = F.linear(F.silu(x), self.base_weight)
        return base + F.linear(self.b_splines(x).view(x.size(0), -1), self.spline_weight.view(self.spline_weight.size(0), -1))


class Sine(nn.Module):
    def __init__(self, w0=1.):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


class FFTConv(nn.Module):
    """A long convolution whose filter is a small network of the position, by FFT (Poli et al., 2023)."""

    def __init__(self, dim, length):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(3, 8), Sine(3.), nn.Linear(8, dim))
        t = torch.linspace(0, 1, length)[:, None]
        bands = 2 * math.pi * torch.arange(1, 2) * t
        self.register_buffer("z", torch.cat([t, torch.cos(bands), torch.sin(bands)], dim=-1))
        self.decay = nn.Parameter(torch.linspace(0.5, 2.0, dim))
        self.D = nn.Parameter(torch.ones(dim))

    def forward(self, u):
        seqlen = u.shape[-1]
        k = (self.filter(self.z) * torch.exp(-self.z[:, :1] * self.decay.abs())).transpose(0, 1)
        fft_size = 2 * seqlen
        k_f = torch.fft.rfft(k, n=fft_size) / fft_size
        u_f = torch.fft.rfft(u.to(dtype=k.dtype), n=fft_size)
        y = torch.fft.irfft(u_f * k_f, n=fft_size, norm="forward")[..., :seqlen]
        return y + u * self.D.unsqueeze(-1)


def wkv(w, u, k, v):
    """RWKV's recurrence, kept from overflowing by a running maximum (Peng et al., 2023)."""
    aa, bb, pp, out = torch.zeros_like(k[:, 0]), torch.zeros_like(k[:, 0]), torch.full_like(k[:, 0], -1e38), []
    for t in range(k.shape[1]):
        kk, vv = k[:, t], v[:, t]
        ww = u + kk
        p = torch.maximum(pp, ww)
        e1, e2 = torch.exp(pp - p), torch.exp(ww - p)
        out.append((e1 * aa + e2 * vv) / (e1 * bb + e2))
        ww = pp + w
        p = torch.maximum(ww, kk)
        e1, e2 = torch.exp(ww - p), torch.exp(kk - p)
        aa, bb, pp = e1 * aa + e2 * vv, e1 * bb + e2, p
    return torch.stack(out, 1)


class RWKV(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.time_decay, self.time_first, self.time_mix = (nn.Parameter(torch.ones(dim)) for _ in range(3))
        self.key, self.value, self.receptance = (nn.Linear(dim, dim, bias=False) for _ in range(3))

    def forward(self, x):
        xx = self.time_shift(x)
        x = x * self.time_mix + xx * (1 - self.time_mix)
        return torch.sigmoid(self.receptance(x)) * wkv(-torch.exp(self.time_decay), self.time_first, self.key(x), self.value(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), Involution(8), NonLocal(8), CBAM(8), nn.AdaptiveAvgPool2d(4))
        self.long = FFTConv(8, 16)
        self.rwkv = RWKV(8)
        self.ntm = NTMHead(8, 6, 5)
        self.kan = nn.Sequential(KANLinear(5, 4), nn.Tanh(), KANLinear(4, 3))

    def forward(self, x):
        h = self.vision(x).flatten(2)
        h = h + self.long(h)
        h = self.rwkv(F.layer_norm(h.transpose(1, 2), (8,)))
        read, w = self.ntm(h.mean(1), torch.full((len(x), 6), 1 / 6))
        return self.kan(torch.tanh(read)), w, h


def build():
    return Net()


def train_step(model, rng):
    x = torch.from_numpy(rng.standard_normal((2, 3, 8, 8)).astype("float32"))
    target = torch.tensor([0, 2])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-2)
    logits, w, h = model(x)
    loss = F.cross_entropy(3 * logits, target) + F.multi_margin_loss(logits, target) + h.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, [logits, w, h]
