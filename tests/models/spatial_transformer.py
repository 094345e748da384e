"""A spatial transformer before a small classifier (Jaderberg et al., 2015), trained with L-BFGS."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=5)
        self.conv2 = nn.Conv2d(4, 8, kernel_size=3)
        self.conv2_drop = nn.Dropout2d()
        self.fc1 = nn.Linear(32, 12)
        self.fc2 = nn.Linear(12, 5)
        # Spatial transformer localization-network
        self.localization = nn.Sequential(
            nn.Conv2d(1, 4, kernel_size=3), nn.MaxPool2d(2, stride=2), nn.ReLU(True), nn.Conv2d(4, 6, kernel_size=3), nn.MaxPool2d(2, stride=2), nn.SELU(True)
        )
        # Regressor for the 3 * 2 affine matrix
        self.fc_loc = nn.Sequential(nn.Linear(6 * 2 * 2, 8), nn.ReLU(True), nn.Linear(8, 3 * 2))
        # Initialize the weights/bias with identity transformation
        self.fc_loc[2].weight.data.zero_()
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    # Spatial transformer network forward function
    def stn(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 6 * 2 * 2)
        theta = self.fc_loc(xs)
        theta = theta.view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, mode='bilinear', padding_mode='border', align_corners=False)

    def forward(self, x):
        # transform the input
        x = self.stn(x)
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv2(x)), 2, ceil_mode=True))
        x = x.flatten(1)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, training=self.training)
        x = self.fc2(x)
        return F.log_softmax(x, dim=1)


def build():
    return Net().eval()


def train_step(model, rng):
    data = torch.from_numpy(rng.random((3, 1, 15, 15)).astype('float32'))
    target = torch.from_numpy(rng.integers(0, 5, 3))
    with torch.no_grad():
        model.fc_loc[2].weight.mul_(0.1)
        model.fc_loc[2].bias.copy_(torch.tensor([1.1, 0.1, 0.05, -0.1, 0.9, 0.02]))
    optimizer = optim.LBFGS(model.parameters(), lr=0.05, max_iter=2)

    def closure():
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    optimizer.zero_grad()
    output = model(data)
    F.nll_loss(output, target).backward()
    return loss, [output, model.stn(data)]
