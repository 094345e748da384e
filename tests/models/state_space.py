"""S4D: a diagonal state space with complex eigenvalues, run as a long convolution by FFT (Gu et al., 2022)."""

import math

import torch
import torch.nn as nn


class S4DKernel(nn.Module):
    def __init__(self, channels, states=8, dt_min=0.001, dt_max=0.1):
        super().__init__()
        log_dt = torch.rand(channels) * (math.log(dt_max) - math.log(dt_min)) + math.log(dt_min)
        c = torch.randn(channels, states // 2, dtype=torch.cfloat)
        self.C = nn.Parameter(torch.view_as_real(c))
        self.log_dt = nn.Parameter(log_dt)
        self.log_A_real = nn.Parameter(torch.log(0.5 * torch.ones(channels, states // 2)))
        self.A_imag = nn.Parameter(math.pi * torch.arange(states // 2).repeat(channels, 1).float())

    def forward(self, length):
        dt = torch.exp(self.log_dt)
        c = torch.view_as_complex(self.C)
        a = -torch.exp(self.log_A_real) + 1j * self.A_imag
        dt_a = a * dt.unsqueeze(-1)
        k = dt_a.unsqueeze(-1) * torch.arange(length, device=a.device)
        c = c * (torch.exp(dt_a) - 1.0) / a
        return 2 * torch.einsum("hn, hnl -> hl", c, torch.exp(k)).real


class S4D(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.D = nn.Parameter(torch.randn(channels))
        self.kernel = S4DKernel(channels)
        self.activation = nn.GELU()
        self.output_linear = nn.Sequential(nn.Conv1d(channels, 2 * channels, kernel_size=1), nn.GLU(dim=-2))

    def forward(self, u):
        length = u.size(-1)
        k_f = torch.fft.rfft(self.kernel(length), n=2 * length)
        u_f = torch.fft.rfft(u, n=2 * length)
        y = torch.fft.irfft(u_f * k_f, n=2 * length)[..., :length]
        y = y + u * self.D.unsqueeze(-1)
        return self.output_linear(self.activation(y))


class SequenceClassifier(nn.Module):
    def __init__(self, inputs=1, classes=4, channels=6, depth=2):
        super().__init__()
        self.encoder = nn.Linear(inputs, channels)
        self.layers = nn.ModuleList([S4D(channels) for _ in range(depth)])
        self.norms = nn.ModuleList([nn.LayerNorm(channels) for _ in range(depth)])
        self.decoder = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.encoder(x).transpose(-1, -2)
        for layer, norm in zip(self.layers, self.norms):
            x = norm((x + layer(x)).transpose(-1, -2)).transpose(-1, -2)
        return self.decoder(x.transpose(-1, -2).mean(dim=1))


def build():
    return SequenceClassifier()


def train_step(model, rng):
    slow = [p for n, p in model.named_parameters() if "kernel" in n]
    rest = [p for n, p in model.named_parameters() if "kernel" not in n]
    optimizer = torch.optim.AdamW([{"params": rest}, {"params": slow, "lr": 1e-3, "weight_decay": 0.0}], lr=1e-2)
    x = torch.from_numpy(rng.standard_normal((3, 20, 1)).astype("float32"))
    y = torch.from_numpy(rng.integers(0, 4, 3))
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, logits
