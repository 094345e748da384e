"""Glow: a flow of actnorm, invertible 1x1 convolutions and affine couplings (Kingma and Dhariwal, 2018)."""

import torch
from torch import nn
from torch.nn import functional as F

logabs = lambda x: torch.log(torch.abs(x))


class ActNorm(nn.Module):
    def __init__(self, in_channel):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(1, in_channel, 1, 1))
        self.scale = nn.Parameter(torch.ones(1, in_channel, 1, 1))

    def forward(self, input):
        _, _, height, width = input.shape
        logdet = height * width * torch.sum(logabs(self.scale))
        return self.scale * (input + self.loc), logdet


class InvConv2d(nn.Module):
    def __init__(self, in_channel):
        super().__init__()
        weight = torch.randn(in_channel, in_channel)
        q, _ = torch.linalg.qr(weight)
        self.weight = nn.Parameter(q.unsqueeze(2).unsqueeze(3))

    def forward(self, input):
        _, _, height, width = input.shape
        logdet = height * width * torch.slogdet(self.weight.squeeze().double())[1].float()
        return F.conv2d(input, self.weight), logdet

    def reverse(self, output):
        return F.conv2d(output, self.weight.squeeze().inverse().unsqueeze(2).unsqueeze(3))


class AffineCoupling(nn.Module):
    def __init__(self, in_channel, filter_size=8):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(in_channel // 2, filter_size, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(filter_size, in_channel, 3, padding=1),
        )

    def forward(self, input):
        in_a, in_b = input.chunk(2, 1)
        log_s, t = self.net(in_a).chunk(2, 1)
        s = torch.sigmoid(log_s + 2)
        logdet = torch.sum(torch.log(s).view(input.shape[0], -1), 1)
        return torch.cat([in_a, (in_b + t) * s], 1), logdet


class Flow(nn.Module):
    def __init__(self, in_channel):
        super().__init__()
        self.parts = nn.ModuleList([ActNorm(in_channel), InvConv2d(in_channel), AffineCoupling(in_channel)])

    def forward(self, input):
        logdet = 0
        for part in self.parts:
            input, det = part(input)
            logdet = logdet + det
        return input, logdet


class Glow(nn.Module):
    def __init__(self, in_channel=3, flows=2):
        super().__init__()
        squeezed = in_channel * 4
        self.flows = nn.ModuleList([Flow(squeezed) for _ in range(flows)])
        self.prior = nn.Conv2d(squeezed, squeezed * 2, 3, padding=1)

    def forward(self, input):
        b, c, h, w = input.shape
        out = input.view(b, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).contiguous()
        out = out.view(b, c * 4, h // 2, w // 2)
        logdet = 0
        for flow in self.flows:
            out, det = flow(out)
            logdet = logdet + det
        mean, log_sd = self.prior(torch.zeros_like(out)).chunk(2, 1)
        log_p = torch.distributions.Normal(mean, log_sd.exp()).log_prob(out)
        return log_p.view(b, -1).sum(1), logdet, out


def build():
    return Glow()


def train_step(model, rng):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    image = torch.from_numpy(rng.random((2, 3, 4, 4)).astype("float32")) - 0.5
    log_p, logdet, out = model(image)
    loss = -(log_p + logdet).mean() / image[0].numel()
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, [out, model.flows[0].parts[1].reverse(out)]
