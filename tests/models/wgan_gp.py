"""WGAN with gradient penalty: a gradient of a gradient (Gulrajani et al., 2017), spectral norm in one layer."""

import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable


class Generator(nn.Module):
    def __init__(self, latent_dim=6, img_shape=(1, 6, 6)):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.InstanceNorm1d(out_feat) if False else nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.img_shape = img_shape
        self.model = nn.Sequential(*block(latent_dim, 16, normalize=False), *block(16, 24), nn.Linear(24, 36), nn.Tanh())

    def forward(self, z):
        img = self.model(z)
        return img.view(img.shape[0], *self.img_shape)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(nn.Linear(36, 24), nn.LeakyReLU(0.2, inplace=True), nn.Linear(24, 12), nn.Softplus(), nn.Linear(12, 1))

    def forward(self, img):
        img_flat = img.view(img.shape[0], -1)
        return self.model(img_flat)


def compute_gradient_penalty(D, real_samples, fake_samples, alpha):
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(torch.ones(real_samples.shape[0], 1), requires_grad=False)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def build():
    return nn.ModuleDict(dict(generator=Generator(), discriminator=Discriminator()))


def train_step(nets, rng):
    generator, discriminator = nets['generator'], nets['discriminator']
    Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
    optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.0002, betas=(0.5, 0.9), eps=1e-3)
    optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.0002, betas=(0.5, 0.9), eps=1e-3)
    real_imgs = Variable(Tensor(rng.uniform(-1, 1, (5, 1, 6, 6))))
    z = Variable(Tensor(rng.normal(0, 1, (5, 6))))
    alpha = Tensor(rng.random((5, 1, 1, 1)))
    optimizer_D.zero_grad()
    fake_imgs = generator(z)
    gradient_penalty = compute_gradient_penalty(discriminator, real_imgs.data, fake_imgs.data, alpha)
    d_loss = -torch.mean(discriminator(real_imgs)) + torch.mean(discriminator(fake_imgs)) + 10 * gradient_penalty
    d_loss.backward(retain_graph=True)
    optimizer_D.step()
    optimizer_G.zero_grad()
    g_loss = -torch.mean(discriminator(generator(z)))
    g_loss.backward()
    optimizer_G.step()
    return d_loss + g_loss, [fake_imgs, gradient_penalty]
