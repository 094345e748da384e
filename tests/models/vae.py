"""Variational autoencoder on binary images (Kingma and Welling, 2013)."""

import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc21 = nn.Linear(32, 4)
        self.fc22 = nn.Linear(32, 4)
        self.fc3 = nn.Linear(4, 32)
        self.fc4 = nn.Linear(32, 64)
        self.noise = None

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5*logvar)
        eps = torch.randn_like(std) if self.noise is None else self.noise
        return mu + eps*std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 64))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction='sum')
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def build():
    return VAE()


def train_step(model, rng):
    data = torch.from_numpy(rng.random((5, 1, 8, 8)).astype('float32'))
    model.noise = torch.from_numpy(rng.standard_normal((5, 4)).astype('float32'))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-3)
    optimizer.zero_grad()
    recon_batch, mu, logvar = model(data)
    loss = loss_function(recon_batch, data, mu, logvar)
    loss.backward()
    optimizer.step()
    prior, posterior = torch.distributions.Normal(0., 1.), torch.distributions.Normal(mu, torch.exp(0.5 * logvar))
    kl = torch.distributions.kl_divergence(posterior, prior).sum(-1)
    return loss, (recon_batch, mu, logvar, kl)
