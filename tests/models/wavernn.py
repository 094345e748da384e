"""WaveRNN-style vocoder: stretched conditioning, residual convolutions, GRUs (Kalchbrenner et al., 2018)."""

from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class ResBlock(nn.Module):
    def __init__(self, n_freq: int = 128) -> None:
        super().__init__()
        self.resblock_model = nn.Sequential(
            nn.Conv1d(in_channels=n_freq, out_channels=n_freq, kernel_size=1, bias=False),
            nn.BatchNorm1d(n_freq),
            nn.ReLU(inplace=True),
            nn.Conv1d(in_channels=n_freq, out_channels=n_freq, kernel_size=1, bias=False),
            nn.BatchNorm1d(n_freq),
        )

    def forward(self, specgram: Tensor) -> Tensor:
        return self.resblock_model(specgram) + specgram


class Stretch2d(nn.Module):
    def __init__(self, time_scale: int, freq_scale: int) -> None:
        super().__init__()
        self.freq_scale = freq_scale
        self.time_scale = time_scale

    def forward(self, specgram: Tensor) -> Tensor:
        return specgram.repeat_interleave(self.freq_scale, -2).repeat_interleave(self.time_scale, -1)


class UpsampleNetwork(nn.Module):
    def __init__(self, upsample_scales: List[int], n_freq: int, n_hidden: int, n_output: int, kernel_size: int) -> None:
        super().__init__()
        total_scale = 1
        for upsample_scale in upsample_scales:
            total_scale *= upsample_scale
        self.total_scale = total_scale
        self.indent = (kernel_size - 1) // 2 * total_scale
        self.resnet = nn.Sequential(nn.Conv1d(n_freq, n_hidden, kernel_size=kernel_size, bias=False), nn.BatchNorm1d(n_hidden), nn.ReLU(inplace=True),
                                    ResBlock(n_hidden), nn.Conv1d(n_hidden, n_output, kernel_size=1))
        self.resnet_stretch = Stretch2d(total_scale, 1)
        up_layers = []
        for scale in upsample_scales:
            stretch = Stretch2d(scale, 1)
            conv = nn.Conv2d(1, 1, kernel_size=(1, scale * 2 + 1), padding=(0, scale), bias=False)
            torch.nn.init.constant_(conv.weight, 1.0 / (scale * 2 + 1))
            up_layers.append(stretch)
            up_layers.append(conv)
        self.upsample_layers = nn.Sequential(*up_layers)

    def forward(self, specgram: Tensor):
        resnet_output = self.resnet(specgram).unsqueeze(1)
        resnet_output = self.resnet_stretch(resnet_output)
        resnet_output = resnet_output.squeeze(1)
        specgram = specgram.unsqueeze(1)
        upsampling_output = self.upsample_layers(specgram)
        upsampling_output = upsampling_output.squeeze(1)[:, :, self.indent : -self.indent]
        return upsampling_output, resnet_output


class WaveRNN(nn.Module):
    def __init__(self, upsample_scales, n_classes, hop_length, n_rnn=12, n_fc=12, kernel_size=5, n_freq=6, n_hidden=8, n_output=8):
        super().__init__()
        self.hop_length = hop_length
        self.n_aux = n_output // 4
        self.upsample = UpsampleNetwork(upsample_scales, n_freq, n_hidden, n_output, kernel_size)
        self.fc = nn.Linear(n_freq + self.n_aux + 1, n_rnn)
        self.rnn1 = nn.GRU(n_rnn, n_rnn, batch_first=True)
        self.rnn2 = nn.GRU(n_rnn + self.n_aux, n_rnn, batch_first=True)
        self.relu1 = nn.ReLU(inplace=True)
        self.fc1 = nn.Linear(n_rnn + self.n_aux, n_fc)
        self.fc2 = nn.Linear(n_fc + self.n_aux, n_classes)

    def forward(self, waveform: Tensor, specgram: Tensor) -> Tensor:
        waveform, specgram = waveform.squeeze(1), specgram.squeeze(1)
        batch_size = waveform.size(0)
        h1 = torch.zeros(1, batch_size, 12, dtype=waveform.dtype, device=waveform.device)
        h2 = torch.zeros(1, batch_size, 12, dtype=waveform.dtype, device=waveform.device)
        specgram, aux = self.upsample(specgram)
        specgram = specgram.transpose(1, 2)
        aux = aux.transpose(1, 2)
        aux_idx = [self.n_aux * i for i in range(5)]
        a1, a2, a3, a4 = (aux[:, :, aux_idx[i] : aux_idx[i + 1]] for i in range(4))
        x = torch.cat([waveform.unsqueeze(-1), specgram, a1], dim=-1)
        x = self.fc(x)
        res = x
        x, _ = self.rnn1(x, h1)
        x = x + res
        res = x
        x = torch.cat([x, a2], dim=-1)
        x, _ = self.rnn2(x, h2)
        x = x + res
        x = torch.cat([x, a3], dim=-1)
        x = self.relu1(self.fc1(x))
        x = torch.cat([x, a4], dim=-1)
        return self.fc2(x).unsqueeze(1)


def mu_law_encode(x, classes):
    mu = torch.tensor(classes - 1, dtype=x.dtype)
    x_mu = torch.sign(x) * torch.log1p(mu * torch.abs(x)) / torch.log1p(mu)
    return ((x_mu + 1) / 2 * mu + 0.5).to(torch.int64)


def build():
    return WaveRNN([2, 3], n_classes=16, hop_length=6)


def train_step(model, rng):
    specgram = torch.from_numpy(rng.standard_normal((2, 1, 6, 8)).astype("float32"))
    waveform = torch.from_numpy(rng.uniform(-1, 1, (2, 1, 24)).astype("float32"))
    target = mu_law_encode(waveform.squeeze(1).roll(-1, -1), 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-2)
    output = model(waveform, specgram)
    loss = F.cross_entropy(output.squeeze(1).transpose(1, 2), target)
    loss.backward()
    optimizer.step()
    return loss, output
