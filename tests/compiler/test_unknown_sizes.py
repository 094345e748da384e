"""One graph for many sizes: models with changing batches, lengths and images, forward and backward, on each backend."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile import logs, nn
from minitorch_compile.dynamo import region_of

F = nn.functional


class Block(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.inside = nn.Linear(width, 3 * width)
        self.outside = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.inside(self.norm(x)).split(c, dim=2)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.outside(y.transpose(1, 2).contiguous().view(b, t, c))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(8, 11)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.blocks(x)).mean(1)


def mlp():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 3))


def cnn():
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    )


def tokens(b, t):
    return torch.arange(b * t).view(b, t) % 11


MODELS = {
    "mlp": (mlp, [torch.randn(n, 4) for n in (3, 5, 7, 2, 1, 6)]),
    "cnn": (cnn, [torch.randn(b, 3, n, n) for b, n in ((2, 8), (3, 8), (4, 10), (2, 12), (5, 9))]),
    "transformer": (Transformer, [tokens(b, t) for b, t in ((2, 4), (3, 5), (4, 6), (2, 7), (5, 3))]),
}


def outcome(model, x):
    model.zero_grad()
    out = model(x)
    (out * torch.arange(out.shape[-1])).sum().backward()
    return out.detach(), [p.grad.clone() for p in model.parameters()]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "aot_eager_decomp_partition"])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_computes_the_same_at_every_size(name, backend):
    make, inputs = MODELS[name]
    torch.manual_seed(0)
    model = make()
    compiled = torch.compile(model, backend=backend)
    for x in inputs:
        assert_same(outcome(compiled, x), outcome(model, x))
    assert max(len(cache.entries) for cache in region_of(compiled).caches) <= 4


@pytest.mark.parametrize(
    ("name", "backend"), [("mlp", "inductor"), ("cnn", "loops"), ("transformer", "aot_eager_decomp_partition")]
)
@pytest.mark.heavy
def test_code_is_made_for_each_size_behind_one_graph(name, backend):
    make, inputs = MODELS[name]
    torch.manual_seed(0)
    model = make()
    compiled = torch.compile(model, dynamic=True, backend=backend)
    with logs.capture("dynamic") as records:
        for x in (*inputs[:2], inputs[0]):
            assert_same(outcome(compiled, x), outcome(model, x))
    assert max(len(cache.entries) for cache in region_of(compiled).caches) == 1
    assert sum(record.text.startswith("compiling for") for record in records) == 2


def assert_same(got, expected):
    (out, grads), (wanted, wanted_grads) = got, expected
    assert torch.allclose(out, wanted, atol=1e-5)
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(grads, wanted_grads, strict=True))
