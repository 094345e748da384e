"""Conv-TasNet: speech separation with dilated depthwise convolutions and overlap-add (Luo and Mesgarani, 2018)."""

import math
from itertools import permutations

import torch
import torch.nn as nn
import torch.nn.functional as F

EPS = 1e-8


def overlap_and_add(signal, frame_step):
    outer_dimensions = signal.size()[:-2]
    frames, frame_length = signal.size()[-2:]
    subframe_length = math.gcd(frame_length, frame_step)
    subframe_step = frame_step // subframe_length
    subframes_per_frame = frame_length // subframe_length
    output_size = frame_step * (frames - 1) + frame_length
    output_subframes = output_size // subframe_length
    subframe_signal = signal.view(*outer_dimensions, -1, subframe_length)
    frame = torch.arange(0, output_subframes).unfold(0, subframes_per_frame, subframe_step)
    frame = signal.new_tensor(frame).long()  # signal may in GPU or CPU
    frame = frame.contiguous().view(-1)
    result = signal.new_zeros(*outer_dimensions, output_subframes, subframe_length)
    result.index_add_(-2, frame, subframe_signal)
    return result.view(*outer_dimensions, -1)


class GlobalLayerNorm(nn.Module):
    """Global Layer Normalization (gLN)"""

    def __init__(self, channel_size):
        super(GlobalLayerNorm, self).__init__()
        self.gamma = nn.Parameter(torch.Tensor(1, channel_size, 1))  # [1, N, 1]
        self.beta = nn.Parameter(torch.Tensor(1, channel_size, 1))  # [1, N, 1]
        self.reset_parameters()

    def reset_parameters(self):
        self.gamma.data.fill_(1)
        self.beta.data.zero_()

    def forward(self, y):
        mean = y.mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
        var = (torch.pow(y-mean, 2)).mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
        return self.gamma * (y - mean) / torch.pow(var + EPS, 0.5) + self.beta


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super(Chomp1d, self).__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, :-self.chomp_size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, dilation, causal=False):
        super(TemporalBlock, self).__init__()
        padding = (kernel_size - 1) * dilation if causal else (kernel_size - 1) * dilation // 2
        layers = [nn.Conv1d(in_channels, out_channels, 1, bias=False), nn.PReLU(), GlobalLayerNorm(out_channels),
                  nn.Conv1d(out_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=out_channels, bias=False)]
        if causal:
            layers.append(Chomp1d(padding))
        layers += [nn.PReLU(), GlobalLayerNorm(out_channels), nn.Conv1d(out_channels, in_channels, 1, bias=False)]
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x) + x


class ConvTasNet(nn.Module):
    def __init__(self, N=12, L=8, B=8, H=12, P=3, X=2, R=2, C=2):
        super(ConvTasNet, self).__init__()
        self.N, self.C, self.L = N, C, L
        self.conv1d_U = nn.Conv1d(1, N, kernel_size=L, stride=L // 2, bias=False)
        blocks = [TemporalBlock(B, H, P, stride=1, dilation=2**x, causal=bool(r)) for r in range(R) for x in range(X)]
        self.network = nn.Sequential(nn.GroupNorm(1, N, eps=EPS), nn.Conv1d(N, B, 1, bias=False), *blocks, nn.Conv1d(B, C*N, 1, bias=False))
        self.basis_signals = nn.Linear(N, L, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_normal_(p)

    def forward(self, mixture):
        mixture_w = F.relu(self.conv1d_U(torch.unsqueeze(mixture, 1)))
        M, N, K = mixture_w.size()
        est_mask = F.relu(self.network(mixture_w).view(M, self.C, N, K))
        source_w = torch.unsqueeze(mixture_w, 1) * est_mask
        source_w = torch.transpose(source_w, 2, 3)
        est_source = self.basis_signals(source_w)
        est_source = overlap_and_add(est_source, self.L//2)
        T_origin, T_conv = mixture.size(-1), est_source.size(-1)
        return F.pad(est_source, (0, T_origin - T_conv))


def cal_si_snr_with_pit(source, estimate_source):
    B, C, T = source.size()
    zero_mean_target = source - torch.mean(source, dim=-1, keepdim=True)
    zero_mean_estimate = estimate_source - torch.mean(estimate_source, dim=-1, keepdim=True)
    s_target = torch.unsqueeze(zero_mean_target, dim=1)
    s_estimate = torch.unsqueeze(zero_mean_estimate, dim=2)
    pair_wise_dot = torch.sum(s_estimate * s_target, dim=3, keepdim=True)
    s_target_energy = torch.sum(s_target ** 2, dim=3, keepdim=True) + EPS
    pair_wise_proj = pair_wise_dot * s_target / s_target_energy
    e_noise = s_estimate - pair_wise_proj
    pair_wise_si_snr = torch.sum(pair_wise_proj ** 2, dim=3) / (torch.sum(e_noise ** 2, dim=3) + EPS)
    pair_wise_si_snr = 10 * torch.log10(pair_wise_si_snr + EPS)
    perms = source.new_tensor(list(permutations(range(C))), dtype=torch.long)
    index = torch.unsqueeze(perms, 2)
    perms_one_hot = source.new_zeros((*perms.size(), C)).scatter_(2, index, 1)
    snr_set = torch.einsum('bij,pij->bp', [pair_wise_si_snr, perms_one_hot])
    max_snr, _ = torch.max(snr_set, dim=1, keepdim=True)
    max_snr /= C
    return max_snr


def build():
    return ConvTasNet()


def train_step(model, rng):
    padded_source = torch.from_numpy(rng.standard_normal((2, 2, 70)).astype('float32'))
    padded_mixture = padded_source.sum(dim=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-2)
    estimate_source = model(padded_mixture)
    loss = 0 - torch.mean(cal_si_snr_with_pit(padded_source, estimate_source))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5)
    optimizer.step()
    return loss, estimate_source
