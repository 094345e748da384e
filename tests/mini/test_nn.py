"""Modules, layers and Adam where they meet awkward inputs."""

import numpy as np
import pytest
from mini import nn
from mini.tensor import from_numpy, tensor


class Tied(nn.Module):
    def __init__(self):
        self.first = nn.Linear(2, 2)
        self.blocks = [nn.LayerNorm(2), nn.Linear(2, 2)]
        self.blocks[1].weight = self.first.weight
        self.size, self.fixed = 3, tensor([1.0])


def test_a_tied_weight_is_given_once_and_stepped_once():
    model = Tied()
    names = ["first.weight", "first.bias", "blocks.0.weight", "blocks.0.bias", "blocks.1.bias"]
    assert [name for name, _ in model.named_parameters()] == names
    assert [name for name, _ in model.named_parameters()] == names  # a second walk begins anew
    before = model.first.weight.tolist()
    for p in model.parameters():
        p.grad = tensor(np.ones(p.sizes, np.float32))
    nn.Adam(model.parameters(), 0.5).step()
    assert np.allclose(np.array(before) - model.first.weight.numpy(), 0.5)


def test_adam_passes_over_what_has_no_gradient_and_keeps_the_dtype():
    p = from_numpy(np.array([1.0, 2.0]), requires_grad=True)
    optimizer = nn.Adam(iter([p, nn.parameter([1.0])]), 0.1, eps=1.0)
    p.grad = from_numpy(np.array([1.0, 0.0]))
    optimizer.step()
    assert np.allclose(p.numpy(), [1 - 0.1 / 2, 2]) and p.dtype == np.float64  # eps is added to the root


@pytest.mark.parametrize("sizes", [(1, 1, 5, 3), (2, 3, 4, 4), (1, 1, 1, 4), (0, 2, 4, 4)])
def test_pooling_leaves_out_what_is_over_at_the_edge(sizes):
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    n, c, h, w = sizes[0], sizes[1], sizes[2] // 2, sizes[3] // 2
    wanted = x[:, :, : 2 * h, : 2 * w].reshape(n, c, h, 2, w, 2).max((3, 5))
    assert np.array_equal(nn.max_pool2d(from_numpy(x), 2).numpy(), wanted)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_convolution_keeps_height_and_width(size):
    x = from_numpy(np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32))
    assert nn.Conv2d(3, 6, size)(x).sizes == (2, 6, 4, 5)


def test_the_loss_of_a_sure_mistake_is_finite():
    assert nn.cross_entropy(tensor([[1000.0, 0.0]]), tensor([1])).item() == 1000
