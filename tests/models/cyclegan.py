"""CycleGAN's generator and patch discriminator: reflection padding, instance norm (Zhu et al., 2017)."""

import functools
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualBlock(nn.Module):
    def __init__(self, in_features):
        super(ResidualBlock, self).__init__()
        self.block = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(in_features, in_features, 3),
            nn.InstanceNorm2d(in_features),
            nn.ReLU(inplace=True),
            nn.ReplicationPad2d(1),
            nn.Conv2d(in_features, in_features, 3),
            nn.InstanceNorm2d(in_features, affine=True),
        )

    def forward(self, x):
        return x + self.block(x)


class GeneratorResNet(nn.Module):
    def __init__(self, channels, num_residual_blocks):
        super(GeneratorResNet, self).__init__()
        out_features = 4
        model = [nn.ReflectionPad2d(channels), nn.Conv2d(channels, out_features, 7), nn.InstanceNorm2d(out_features), nn.ReLU(inplace=True)]
        in_features = out_features
        out_features *= 2
        model += [nn.Conv2d(in_features, out_features, 3, stride=2, padding=1), nn.InstanceNorm2d(out_features), nn.ReLU(inplace=True)]
        for _ in range(num_residual_blocks):
            model += [ResidualBlock(out_features)]
        model += [
            nn.ConvTranspose2d(out_features, in_features, 3, stride=2, padding=1, output_padding=1),
            nn.InstanceNorm2d(in_features),
            nn.ReLU(True),
            nn.ZeroPad2d((3, 3, 3, 3)),
            nn.Conv2d(in_features, channels, 7),
            nn.Hardtanh(),
        ]
        self.model = nn.Sequential(*model)

    def forward(self, x):
        return self.model(x)


class NLayerDiscriminator(nn.Module):
    def __init__(self, input_nc, ndf=4, norm_layer=nn.BatchNorm2d):
        super().__init__()
        if isinstance(norm_layer, functools.partial):
            use_bias = norm_layer.func == nn.InstanceNorm2d
        else:
            use_bias = norm_layer == nn.InstanceNorm2d
        self.model = nn.Sequential(
            nn.Conv2d(input_nc, ndf, kernel_size=4, stride=2, padding=1), nn.LeakyReLU(0.2, True),
            nn.Conv2d(ndf, ndf * 2, kernel_size=4, stride=1, padding=1, bias=use_bias), norm_layer(ndf * 2), nn.LeakyReLU(0.2, True),
            nn.Conv2d(ndf * 2, 1, kernel_size=4, stride=1, padding=1),
        )

    def forward(self, input):
        return self.model(input)


def set_requires_grad(nets, requires_grad=False):
    if not isinstance(nets, list):
        nets = [nets]
    for net in nets:
        if net is not None:
            for param in net.parameters():
                param.requires_grad = requires_grad


def total_variation(img):
    return (img[:, :, 1:, :] - img[:, :, :-1, :]).abs().mean() + (img[..., 1:] - img[..., :-1]).abs().mean()


def build():
    norm = functools.partial(nn.InstanceNorm2d, affine=False, track_running_stats=False)
    return nn.ModuleDict({'G_AB': GeneratorResNet(3, 1), 'G_BA': GeneratorResNet(3, 1), 'D_B': NLayerDiscriminator(3, norm_layer=norm)})


def train_step(nets, rng):
    real_A, real_B = (torch.from_numpy(rng.uniform(-1, 1, (1, 3, 16, 16)).astype('float32')) for _ in range(2))
    optimizer_G = torch.optim.Adam(itertools.chain(nets['G_AB'].parameters(), nets['G_BA'].parameters()), lr=2e-4, betas=(0.5, 0.999), eps=1e-2)
    optimizer_D = torch.optim.Adam(nets['D_B'].parameters(), lr=2e-4, betas=(0.5, 0.999), eps=1e-2)
    set_requires_grad([nets['D_B']], False)
    optimizer_G.zero_grad()
    fake_B = nets['G_AB'](real_A)
    rec_A = nets['G_BA'](fake_B)
    pred_fake = nets['D_B'](fake_B)
    target = torch.tensor(1.0).expand_as(pred_fake)
    loss_G = F.mse_loss(pred_fake, target) + 10 * F.l1_loss(rec_A, real_A) + 0.1 * total_variation(fake_B)
    loss_G.backward()
    optimizer_G.step()
    set_requires_grad(nets['D_B'], True)
    optimizer_D.zero_grad()
    loss_D = (F.mse_loss(nets['D_B'](real_B), target) + F.mse_loss(nets['D_B'](fake_B.detach()), torch.zeros_like(target))) * 0.5
    loss_D.backward()
    optimizer_D.step()
    return loss_G + loss_D, [fake_B, rec_A, pred_fake]
