"""Fast neural style: a transformer net against gram matrices of frozen features (Johnson et al., 2016)."""

from collections import namedtuple

import torch
from torch.optim import Adam


class ConvLayer(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride):
        super(ConvLayer, self).__init__()
        reflection_padding = kernel_size // 2
        self.reflection_pad = torch.nn.ReflectionPad2d(reflection_padding)
        self.conv2d = torch.nn.Conv2d(in_channels, out_channels, kernel_size, stride)

    def forward(self, x):
        out = self.reflection_pad(x)
        out = self.conv2d(out)
        return out


class ResidualBlock(torch.nn.Module):
    def __init__(self, channels):
        super(ResidualBlock, self).__init__()
        self.conv1 = ConvLayer(channels, channels, kernel_size=3, stride=1)
        self.in1 = torch.nn.InstanceNorm2d(channels, affine=True)
        self.conv2 = ConvLayer(channels, channels, kernel_size=3, stride=1)
        self.in2 = torch.nn.InstanceNorm2d(channels, affine=True)
        self.relu = torch.nn.ReLU()

    def forward(self, x):
        residual = x
        out = self.relu(self.in1(self.conv1(x)))
        out = self.in2(self.conv2(out))
        out = out + residual
        return out


class UpsampleConvLayer(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, upsample=None):
        super(UpsampleConvLayer, self).__init__()
        self.upsample = upsample
        self.reflection_pad = torch.nn.ReflectionPad2d(kernel_size // 2)
        self.conv2d = torch.nn.Conv2d(in_channels, out_channels, kernel_size, stride)

    def forward(self, x):
        x_in = x
        if self.upsample:
            x_in = torch.nn.functional.interpolate(x_in, mode='nearest', scale_factor=self.upsample)
        out = self.reflection_pad(x_in)
        return self.conv2d(out)


class TransformerNet(torch.nn.Module):
    def __init__(self):
        super(TransformerNet, self).__init__()
        self.conv1 = ConvLayer(3, 4, kernel_size=9, stride=1)
        self.in1 = torch.nn.InstanceNorm2d(4, affine=True)
        self.conv2 = ConvLayer(4, 8, kernel_size=3, stride=2)
        self.in2 = torch.nn.InstanceNorm2d(8, affine=True)
        self.res1 = ResidualBlock(8)
        self.deconv1 = UpsampleConvLayer(8, 4, kernel_size=3, stride=1, upsample=2)
        self.in4 = torch.nn.InstanceNorm2d(4, affine=True)
        self.deconv3 = ConvLayer(4, 3, kernel_size=9, stride=1)
        self.relu = torch.nn.ReLU()

    def forward(self, X):
        y = self.relu(self.in1(self.conv1(X)))
        y = self.relu(self.in2(self.conv2(y)))
        y = self.res1(y)
        y = self.relu(self.in4(self.deconv1(y)))
        return self.deconv3(y)


class Features(torch.nn.Module):
    def __init__(self, requires_grad=False):
        super().__init__()
        features = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(4, 4, 3, padding=1), torch.nn.ReLU(),
            torch.nn.MaxPool2d(2), torch.nn.Conv2d(4, 8, 3, padding=1), torch.nn.ReLU())
        self.slice1 = torch.nn.Sequential()
        self.slice2 = torch.nn.Sequential()
        for x in range(4):
            self.slice1.add_module(str(x), features[x])
        for x in range(4, 7):
            self.slice2.add_module(str(x), features[x])
        if not requires_grad:
            for param in self.parameters():
                param.requires_grad = False

    def forward(self, X):
        h = self.slice1(X)
        h_relu1_2 = h
        h = self.slice2(h)
        outputs = namedtuple("Outputs", ['relu1_2', 'relu2_1'])
        return outputs(h_relu1_2, h)


def gram_matrix(y):
    (b, ch, h, w) = y.size()
    features = y.view(b, ch, w * h)
    features_t = features.transpose(1, 2)
    return features.bmm(features_t) / (ch * h * w)


def normalize_batch(batch):
    mean = batch.new_tensor([0.485, 0.456, 0.406]).view(-1, 1, 1)
    std = batch.new_tensor([0.229, 0.224, 0.225]).view(-1, 1, 1)
    batch = batch.div_(255.0)
    return (batch - mean) / std


def build():
    return torch.nn.ModuleDict({'transformer': TransformerNet(), 'features': Features(requires_grad=False)})


def train_step(nets, rng):
    transformer, vgg = nets['transformer'], nets['features']
    optimizer = Adam(transformer.parameters(), 1e-3, eps=1e-2)
    mse_loss = torch.nn.MSELoss()
    x = torch.from_numpy(rng.uniform(0, 255, (2, 3, 14, 16)).astype('float32'))
    style = torch.from_numpy(rng.uniform(0, 255, (3, 14, 16)).astype('float32')).repeat(2, 1, 1, 1)
    gram_style = [gram_matrix(y) for y in vgg(normalize_batch(style))]
    n_batch = len(x)
    optimizer.zero_grad()
    y = transformer(x / 255.0)
    y = (y - y.mean()) / y.std() * 50 + 128
    y = normalize_batch(y)
    x = normalize_batch(x)
    features_y, features_x = vgg(y), vgg(x)
    content_loss = mse_loss(features_y.relu2_1, features_x.relu2_1)
    style_loss = 0.
    for ft_y, gm_s in zip(features_y, gram_style):
        style_loss += mse_loss(gram_matrix(ft_y), gm_s[:n_batch, :, :])
    total_loss = content_loss + 10 * style_loss
    total_loss.backward()
    optimizer.step()
    return total_loss, y
