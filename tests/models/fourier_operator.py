"""A Fourier neural operator: learned complex weights on the lowest frequencies (Li et al., 2021)."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectralConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, modes1, modes2):
        super().__init__()
        self.out_channels, self.modes1, self.modes2 = out_channels, modes1, modes2
        scale = 1 / (in_channels * out_channels)
        shape = (in_channels, out_channels, modes1, modes2)
        self.weights1 = nn.Parameter(scale * torch.rand(*shape, dtype=torch.cfloat))
        self.weights2 = nn.Parameter(scale * torch.rand(*shape, dtype=torch.cfloat))

    def forward(self, x):
        batch, _, height, width = x.shape
        x_ft = torch.fft.rfft2(x)
        out = torch.zeros(batch, self.out_channels, height, width // 2 + 1, dtype=torch.cfloat, device=x.device)
        low, high = slice(None, self.modes1), slice(-self.modes1, None)
        for rows, weights in ((low, self.weights1), (high, self.weights2)):
            out[:, :, rows, : self.modes2] = torch.einsum(
                "bixy,ioxy->boxy", x_ft[:, :, rows, : self.modes2], weights
            )
        return torch.fft.irfft2(out, s=(height, width))


class FNO2d(nn.Module):
    def __init__(self, modes=2, width=6, depth=2):
        super().__init__()
        self.lift = nn.Linear(3, width)
        self.spectral = nn.ModuleList([SpectralConv2d(width, width, modes, modes) for _ in range(depth)])
        self.local = nn.ModuleList([nn.Conv2d(width, width, 1) for _ in range(depth)])
        self.project = nn.Sequential(nn.Linear(width, 8), nn.GELU(), nn.Linear(8, 1))

    def grid(self, shape, device):
        batch, height, width = shape[:3]
        gridx = torch.linspace(0, 1, height, dtype=torch.float).reshape(1, height, 1, 1).repeat([batch, 1, width, 1])
        gridy = torch.linspace(0, 1, width, dtype=torch.float).reshape(1, 1, width, 1).repeat([batch, height, 1, 1])
        return torch.cat((gridx, gridy), dim=-1).to(device)

    def forward(self, x):
        x = torch.cat((x, self.grid(x.shape, x.device)), dim=-1)
        x = self.lift(x).permute(0, 3, 1, 2)
        for i, (spectral, local) in enumerate(zip(self.spectral, self.local)):
            x = spectral(x) + local(x)
            x = F.gelu(x) if i < len(self.spectral) - 1 else x
        return self.project(x.permute(0, 2, 3, 1))


class RelativeLoss:
    def __call__(self, x, y):
        n = x.size(0)
        diff = torch.norm(x.reshape(n, -1) - y.reshape(n, -1), 2, 1)
        return torch.mean(diff / torch.norm(y.reshape(n, -1), 2, 1))


def build():
    return FNO2d()


def train_step(model, rng):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-4)
    x = torch.from_numpy(rng.standard_normal((2, 8, 6, 1)).astype("float32"))
    y = torch.from_numpy(rng.standard_normal((2, 8, 6, 1)).astype("float32"))
    optimizer.zero_grad()
    out = model(x)
    loss = RelativeLoss()(out, y)
    loss.backward()
    optimizer.step()
    return loss, out
