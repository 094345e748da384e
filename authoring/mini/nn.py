"""Lesson 09. Modules own parameters; optimizers change them.

>>> model = Linear(3, 2)
>>> [name for name, _ in model.named_parameters()]
['weight', 'bias']
>>> model(tensor([[1.0, 2.0, 3.0]])).sizes
(1, 2)
"""

import numpy as np
from mini import ops
from mini.tape import from_numpy, no_grad, tensor  # noqa: F401

random = np.random.default_rng(0)


def parameter(array):
    """A tensor to be trained: float32, and its gradient is wanted."""
    return from_numpy(np.asarray(array, np.float32), requires_grad=True)


# %% 09.4 modules
class Module:
    """A tree: its attributes are parameters, modules, lists of both, and other things."""

    def __call__(self, *args):
        return self.forward(*args)

    def named_parameters(self, prefix="", seen=None):
        """Each parameter once, with its path from here: `blocks.0.weight`."""
        seen = set() if seen is None else seen
        for name, value in vars(self).items():
            parts = {f"{name}.{i}": part for i, part in enumerate(value)} if isinstance(value, list) else {name: value}
            for path, part in parts.items():
                if isinstance(part, Module):
                    yield from part.named_parameters(f"{prefix}{path}.", seen)
                elif getattr(part, "requires_grad", False) and id(part) not in seen:
                    seen.add(id(part))
                    yield prefix + path, part

    def parameters(self):
        return [value for _, value in self.named_parameters()]


# %% 09.5 layers
class Linear(Module):
    """x @ weight + bias; the weights begin uniform, as wide as 1 / sqrt(inputs)."""

    def __init__(self, inputs, outputs):
        bound = inputs**-0.5
        self.weight = parameter(random.uniform(-bound, bound, (inputs, outputs)))
        self.bias = parameter(np.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class LayerNorm(Module):
    """Each row gets mean 0 and variance 1, then a scale and a shift that are trained (Ba et al., 2016)."""

    def __init__(self, size):
        self.weight, self.bias = parameter(np.ones(size)), parameter(np.zeros(size))

    def forward(self, x):
        centred = x - x.mean(-1, True)
        return centred / ((centred * centred).mean(-1, True) + 1e-5).sqrt() * self.weight + self.bias


# %% 09.6 ids: embedding and loss
def one_hot(ids, count):
    """A row of `count` zeros for each id, with a 1 in its place."""
    return ids.reshape(*ids.shape, 1).eq(ops.iota((count,), 0, "int64")).to("float32")


class Embedding(Module):
    """A row of the weight for each id: a product, so that it has a gradient already."""

    def __init__(self, count, size):
        self.count, self.weight = count, parameter(random.normal(0, 0.02, (count, size)))

    def forward(self, ids):
        return one_hot(ids, self.count) @ self.weight


def cross_entropy(logits, targets):
    """The mean over all targets of -log(the share that the logits give to the target)."""
    return -(logits.log_softmax(-1) * one_hot(targets, logits.shape[-1])).sum() / targets.numel()


# %% 09.7 images: convolution and pooling
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
    """The greatest of each square of size x size; what is left over at the edge is left out."""
    n, c, h, w = x.shape[0], x.shape[1], x.shape[2] // size, x.shape[3] // size
    return x[:, :, : h * size, : w * size].reshape(n, c, h, size, w, size).amax((3, 5))


# %% 09.8 Adam
class Adam:
    """Steps by the mean of the gradients, divided by the root of the mean of their squares (Kingma and Ba, 2015)."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.parameters, self.lr, self.betas, self.eps, self.steps = list(parameters), lr, betas, eps, 0
        self.state = [[ops.full(p.shape, 0, p.dtype) for _ in range(2)] for p in self.parameters]

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        """Means that began at 0 are too small at first: they are divided by 1 - beta^steps."""
        self.steps += 1
        a, b = self.betas
        with no_grad():
            for p, (mean, square) in zip(self.parameters, self.state, strict=True):
                if p.grad is not None:
                    mean.copy_(mean * a + p.grad * (1 - a))
                    square.copy_(square * b + p.grad * p.grad * (1 - b))
                    size = (square / (1 - b**self.steps)).sqrt() + self.eps
                    p.sub_(mean * (self.lr / (1 - a**self.steps)) / size)
