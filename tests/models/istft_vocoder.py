"""A vocoder that predicts a spectrogram's magnitude and phase and inverts it, with a spectral loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import weight_norm


class ResBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(channels, channels, 3, dilation=dilation, padding=dilation))

    def forward(self, x):
        return x + self.conv(F.leaky_relu(x, 0.1))


class Vocoder(nn.Module):
    def __init__(self, mels=6, channels=8, n_fft=16, hop=4):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.pre = nn.Conv1d(mels, channels, 7, padding=3)
        self.up = weight_norm(nn.ConvTranspose1d(channels, channels, 4, 2, padding=1))
        self.blocks = nn.Sequential(ResBlock(channels, 1), ResBlock(channels, 3))
        self.post = nn.Conv1d(channels, n_fft + 2, 7, padding=3, padding_mode="reflect")
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, mel):
        x = self.blocks(F.leaky_relu(self.up(self.pre(mel)), 0.1))
        magnitude, phase = self.post(x).split(self.n_fft // 2 + 1, dim=1)
        magnitude = torch.clip(torch.exp(magnitude), max=1e2)
        spectrum = magnitude * torch.exp(1j * torch.sin(phase))
        return torch.istft(spectrum, self.n_fft, self.hop, self.n_fft, self.window, center=True)


def stft_loss(x, y, n_fft):
    window = torch.hamming_window(n_fft)
    x_mag, y_mag = (
        torch.stft(s, n_fft, n_fft // 4, n_fft, window, return_complex=True).abs().clamp(min=1e-5) for s in (x, y)
    )
    convergence = torch.norm(y_mag - x_mag, p="fro") / torch.norm(y_mag, p="fro")
    return convergence + F.l1_loss(torch.log(y_mag), torch.log(x_mag))


def build():
    return Vocoder()


def train_step(model, rng):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.8, 0.99))
    mel = torch.from_numpy(rng.standard_normal((2, 6, 9)).astype("float32"))
    wave = model(mel)
    target = torch.from_numpy(rng.standard_normal(tuple(wave.shape)).astype("float32"))
    loss = sum(stft_loss(wave, target, n) for n in (8, 16)) + F.mse_loss(wave, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, wave
