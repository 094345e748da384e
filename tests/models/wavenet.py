"""WaveNet: gated, dilated, causal convolutions with skips, and a spectral loss (van den Oord et al., 2016)."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalConv1d(nn.Conv1d):
    def __init__(self, in_channels, out_channels, kernel_size, dilation=1, **kw):
        super().__init__(in_channels, out_channels, kernel_size, dilation=dilation, **kw)
        self.left_padding = (kernel_size - 1) * dilation

    def forward(self, input):
        return super().forward(F.pad(input, (self.left_padding, 0)))


class ResidualBlock(nn.Module):
    def __init__(self, residual, skip, dilation, cond):
        super().__init__()
        self.dilated = CausalConv1d(residual, 2 * residual, 2, dilation)
        self.condition = nn.Conv1d(cond, 2 * residual, 1, bias=False)
        self.res = nn.Conv1d(residual, residual, 1)
        self.skip = nn.Conv1d(residual, skip, 1)

    def forward(self, x, c):
        h = self.dilated(x) + self.condition(c)
        gate, filt = h.chunk(2, 1)
        h = torch.tanh(filt).mul(torch.sigmoid(gate))
        return (x + self.res(h)) * 0.5 ** 0.5, self.skip(h)


class WaveNet(nn.Module):
    def __init__(self, layers=3, blocks=2, residual=8, skip=8, cond=3):
        super().__init__()
        self.front = CausalConv1d(1, residual, 2)
        self.upsample = nn.ConvTranspose1d(cond, cond, kernel_size=8, stride=4, padding=2, groups=cond)
        self.blocks = nn.ModuleList(ResidualBlock(residual, skip, 2 ** i, cond) for _ in range(blocks) for i in range(layers))
        self.post = nn.Sequential(nn.ReLU(), nn.Conv1d(skip, skip, 1), nn.Softsign(), nn.Conv1d(skip, 2, 1))

    def forward(self, x, c):
        c = self.upsample(c)
        h, skips = self.front(x), 0.
        for block in self.blocks:
            h, s = block(h, c)
            skips += s
        mean, log_scale = self.post(skips).split(1, dim=1)
        return mean, log_scale.clamp(-7., 7.)


def build():
    return WaveNet()


def train_step(model, rng):
    x = torch.from_numpy(rng.uniform(-1, 1, (2, 1, 32)).astype('float32'))
    c = torch.from_numpy(rng.standard_normal((2, 3, 8)).astype('float32'))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-2)
    mean, log_scale = model(x[..., :-1].contiguous() if False else F.pad(x, (1, 0))[..., :-1], c)
    nll = 0.5 * (((x - mean) / log_scale.exp()) ** 2) + log_scale
    spectrum = torch.fft.rfft(mean.squeeze(1), dim=-1).abs()
    wanted = torch.fft.rfft(x.squeeze(1), dim=-1).abs()
    loss = nll.mean() + 0.1 * F.l1_loss(torch.log(spectrum + 1e-3), (wanted + 1e-3).log())
    loss.backward()
    optimizer.step()
    return loss, [mean, log_scale, spectrum]
