"""Lesson 09. Modules own parameters; optimizers change them.

>>> model = Linear(3, 2)
>>> [name for name, _ in model.named_parameters()]
['weight', 'bias']
>>> model(tensor([[1.0, 2.0, 3.0]])).sizes
(1, 2)
"""

import numpy as np
from mini import ops
from mini.tape import no_grad
from mini.tensor import from_numpy, tensor  # noqa: F401

random = np.random.default_rng(0)


def parameter(array):
    return from_numpy(np.asarray(array, np.float32), requires_grad=True)


class Module:
    def __call__(self, *args):
        return self.forward(*args)

    def named_parameters(self, prefix=""):
        for name, value in vars(self).items():
            for key, part in enumerate(value) if isinstance(value, list) else [("", value)]:
                path = prefix + name + (f".{key}" if key != "" else "")
                if isinstance(part, Module):
                    yield from part.named_parameters(path + ".")
                elif getattr(part, "requires_grad", False):
                    yield path, part

    def parameters(self):
        return [value for _, value in self.named_parameters()]


class Linear(Module):
    def __init__(self, inputs, outputs):
        bound = inputs**-0.5
        self.weight = parameter(random.uniform(-bound, bound, (inputs, outputs)))
        self.bias = parameter(np.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class Conv2d(Module):
    """Each window is a row of one product: the windows are slices of the padded images, side by side."""

    def __init__(self, channels, filters, size):
        self.size, self.product = size, Linear(channels * size * size, filters)

    def forward(self, x):
        n, c, h, w = x.shape
        pad, size = self.size // 2, self.size
        x = ops.slice_backward(ops.slice_backward(x, 2, h + 2 * pad, pad, 1), 3, w + 2 * pad, pad, 1)
        windows = [x[:, :, i : i + h, j : j + w].reshape(n, c, 1, h, w) for i in range(size) for j in range(size)]
        rows = ops.cat(windows, 2).reshape(n, c * size * size, h * w).transpose(1, 2)
        return self.product(rows).transpose(1, 2).reshape(n, -1, h, w)


def max_pool2d(x, size):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // size, size, w // size, size).amax((3, 5))


def one_hot(ids, count):
    return ids.reshape(*ids.shape, 1).eq(ops.iota((count,), 0, "int64")).to("float32")


class Embedding(Module):
    def __init__(self, count, size):
        self.count, self.weight = count, parameter(random.normal(0, 0.02, (count, size)))

    def forward(self, ids):
        return one_hot(ids, self.count) @ self.weight


class LayerNorm(Module):
    def __init__(self, size):
        self.weight, self.bias = parameter(np.ones(size)), parameter(np.zeros(size))

    def forward(self, x):
        centred = x - x.mean(-1, True)
        return centred / ((centred * centred).mean(-1, True) + 1e-5).sqrt() * self.weight + self.bias


def cross_entropy(logits, targets):
    return -(logits.log_softmax(-1) * one_hot(targets, logits.shape[-1])).sum() / targets.numel()


class Adam:
    """Kingma and Ba (2015)."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999)):
        self.parameters, self.lr, self.betas, self.steps = list(parameters), lr, betas, 0
        self.state = [
            (from_numpy(np.zeros(p.shape, np.float32)), from_numpy(np.zeros(p.shape, np.float32)))
            for p in self.parameters
        ]

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        self.steps += 1
        a, b = self.betas
        with no_grad():
            for p, (mean, square) in zip(self.parameters, self.state, strict=True):
                mean.copy_(mean * a + p.grad * (1 - a))
                square.copy_(square * b + p.grad * p.grad * (1 - b))
                step = self.lr * (1 - b**self.steps) ** 0.5 / (1 - a**self.steps)
                p.sub_(mean * step / (square.sqrt() + 1e-8))
