"""Pieces of programs as people write them: configurations, outputs, registries, training helpers."""

import bisect
import collections
import contextlib
import dataclasses
import functools
import heapq
import math
import typing
from collections import OrderedDict, UserDict
from dataclasses import dataclass, field
from typing import Optional, Protocol, TypedDict, runtime_checkable

import torch
from torch import nn
from torch.nn import functional as F

from tests.dynamo.counting import counts, matrix


@dataclass
class ModelOutput(OrderedDict):
    """A dataclass that is a dictionary as well."""

    logits: Optional[torch.Tensor] = None
    hidden: Optional[torch.Tensor] = None

    def __post_init__(self):
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if value is not None:
                self[f.name] = value

    def to_tuple(self):
        return tuple(self[key] for key in self.keys())


@counts
def an_output_that_is_a_dict(x):
    out = ModelOutput(logits=x * 2)
    return out.logits + 1, out["logits"], out.to_tuple()[0], len(out)


@functools.total_ordering
class Version:
    def __init__(self, major, minor=0):
        self.major, self.minor = major, minor

    def __eq__(self, other):
        return (self.major, self.minor) == (other.major, other.minor)

    def __lt__(self, other):
        return (self.major, self.minor) < (other.major, other.minor)


@counts
def total_ordering(x):
    return x * 2 if Version(2, 1) >= Version(2) and max(Version(1), Version(3)).major == 3 else x


@runtime_checkable
class HasArea(Protocol):
    def area(self): ...


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Options(TypedDict, total=False):
    scale: float
    name: str


@counts
def typing_helpers(x):
    options: Options = {"scale": 2.0, "name": "a"}
    square = typing.cast(Square, Square(3))
    assert options.get("missing") is None
    return x * options["scale"] + square.area()


class Settings(UserDict):
    def __getitem__(self, key):
        return super().__getitem__(key.lower())


@counts
def user_dicts(x):
    settings = Settings({"scale": 3})
    return x * settings["SCALE"] + len(settings)


REGISTRY = {}


def register(name):
    def decorator(cls):
        REGISTRY[name] = cls
        return cls

    return decorator


@register("double")
class Double:
    def __call__(self, x):
        return x * 2


@register("add")
class Add:
    def __init__(self, by=1):
        self.by = by

    def __call__(self, x):
        return x + self.by


@counts
def a_registry_of_classes(x):
    for name, options in (("double", {}), ("add", {"by": 3})):
        x = REGISTRY[name](**options)(x)
    return x


@counts
def bisection_and_heaps(x):
    edges = [1, 3, 5]
    position = bisect.bisect_left(edges, 4)
    return x * position + len(edges)


@counts
def heaps(x):
    heap = []
    for n in (3, 1, 2):
        heapq.heappush(heap, n)
    return x * heapq.heappop(heap) + heap[0]


def angles(n):
    return [2 * math.pi * i / n for i in range(n)]


@counts
def rotary_embedding(x):
    q = F.pad(x, (0, 1)).view(1, 2, 4)
    half = q.shape[-1] // 2
    inverse = 1.0 / (10000 ** (torch.arange(0, half, dtype=torch.float32) / half))
    angle = torch.outer(torch.arange(q.shape[1]), inverse)
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    a, b = q[..., :half], q[..., half:]
    return q * cos + torch.cat((-b, a), dim=-1) * sin


@counts
def sinusoids(x):
    table = torch.zeros(4, 6)
    position = torch.arange(4).unsqueeze(1)
    scale = torch.exp(torch.arange(0, 6, 2) * (-math.log(10000.0) / 6))
    table[:, 0::2] = torch.sin(position * scale)
    table[:, 1::2] = torch.cos(position * scale)
    return x.sum() + table


@counts
def a_causal_mask(x):
    n = x.size(0)
    mask = torch.full((n, n), float("-inf")).triu(1)
    scores = x @ x.T + mask
    return scores.softmax(dim=-1) @ x


@counts
def a_cache_of_keys_and_values(x):
    past = []
    for step in range(3):
        key = x[:1] * step
        past.append(key if not past else torch.cat([past[-1], key]))
    return past[-1], len(past)


@counts(lambda torch: (matrix(torch), {"k": None, "v": None}))
def a_cache_from_outside(x, cache):
    for name in ("k", "v"):
        cache[name] = x if cache[name] is None else torch.cat([cache[name], x])
    return cache["k"] @ cache["v"].T


class EMA(nn.Module):
    def __init__(self, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("shadow", torch.zeros(3))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def update(self, x):
        self.steps += 1
        self.shadow.mul_(self.decay).add_(x.mean(0), alpha=1 - self.decay)

    def forward(self, x):
        if self.training:
            self.update(x)
        return x - self.shadow


@counts(lambda torch: (__import__("sys").modules["counted_programs"].EMA(), matrix(torch)))
def a_moving_average(module, x):
    return module(x)


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, **kwargs):
        return self.fn(x, **kwargs) + x


class FeedForward(nn.Module):
    def __init__(self, dim, mult=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, dim * mult), nn.GELU(), nn.Dropout(0.0), nn.Linear(dim * mult, dim))

    def forward(self, x, scale=1.0):
        return self.net(x) * scale


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(2):
            self.layers.append(nn.ModuleList([Residual(FeedForward(3)), nn.LayerNorm(3)]))

    def forward(self, x):
        for block, norm in self.layers:
            x = norm(block(x, scale=0.5))
        return x


@counts(lambda torch: (__import__("sys").modules["counted_programs"].Stack(), matrix(torch)))
def nested_module_lists(module, x):
    return module(x)


class MoE(nn.Module):
    def __init__(self, experts=3):
        super().__init__()
        self.gate = nn.Linear(3, experts)
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(experts))

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-1)
        return (outputs * weights.unsqueeze(1)).sum(-1)


@counts(lambda torch: (__import__("sys").modules["counted_programs"].MoE(), matrix(torch)))
def a_soft_mixture_of_experts(module, x):
    return module(x)


@counts
def gumbel_and_sampling(x):
    return F.gumbel_softmax(x, dim=-1) + torch.bernoulli(torch.sigmoid(x)) + torch.normal(x, 1.0)


@counts
def einsum_with_ellipsis(x):
    q = x.view(1, 2, 3)
    return torch.einsum("...ij,...kj->...ik", q, q), torch.einsum("bij,bkj->bik", [q, q])


@counts
def loss_terms_in_a_dict(x):
    losses = {"l1": x.abs().mean(), "l2": (x**2).mean()}
    weights = collections.defaultdict(lambda: 1.0, l2=0.5)
    return sum(weights[name] * value for name, value in losses.items()), {k: v.detach() for k, v in losses.items()}


@counts
def tensors_in_a_set_of_names(x):
    parts = dict.fromkeys(["a", "b"], x)
    parts["a"] = parts["a"] * 2
    return parts["a"] + parts["b"], sorted(parts)


@counts
def padding_and_windows(x):
    y = F.pad(x, (1, 1), mode="constant", value=0.5)
    return y.unfold(1, 3, 1).mean(-1), F.interpolate(x[None, None], scale_factor=2, mode="nearest").sum()


@counts
def scatter_and_gather(x):
    index = torch.tensor([[0, 1, 0]])
    y = torch.zeros(2, 3).scatter_add_(0, index, x[:1])
    return y, x.gather(0, index), torch.zeros(3).index_add(0, torch.tensor([0, 2]), x[:, 0])


@counts
def one_hot_and_cumulative(x):
    labels = x.argmax(dim=1)
    return F.one_hot(labels, 3).float() @ x.T, x.cumsum(1), x.flip(0).cumprod(0), torch.tril(x)


@counts
def sorting_and_ranks(x):
    order = x.argsort(dim=1, descending=True)
    return torch.take_along_dim(x, order, 1), x.sort().values, torch.median(x), torch.quantile(x, 0.5)


@counts
def complex_numbers(x):
    z = torch.view_as_complex(F.pad(x, (0, 1)).view(2, 2, 2))
    return torch.view_as_real(z * z.conj()), torch.fft.rfft(x).abs()


@counts(lambda torch: (matrix(torch), torch.tensor([1, 2])))
def lengths_as_a_mask(x, lengths):
    mask = torch.arange(x.shape[1])[None, :] < lengths[:, None]
    return (x * mask).sum(1) / lengths.clamp(min=1), mask.any(), mask.logical_not().sum()


@counts
def chained_methods_with_keywords(x):
    return x.clamp(min=0.1, max=1.0).pow(exponent=2).sum(dim=(0, 1), keepdim=True).squeeze(0).to(dtype=torch.float64)


@counts
def tensor_methods_by_name(x):
    for name, args in (("add", (1,)), ("mul", (2,)), ("sum", (0,))):
        x = getattr(x, name)(*args)
    return x


@counts
def conditional_layers(x):
    layers = [torch.relu, None, torch.tanh]
    for layer in filter(None, layers):
        x = layer(x)
    return x


@contextlib.contextmanager
def temporarily(obj, **values):
    before = {name: getattr(obj, name) for name in values}
    for name, value in values.items():
        setattr(obj, name, value)
    try:
        yield obj
    finally:
        for name, value in before.items():
            setattr(obj, name, value)


@dataclass
class Config:
    scale: float = 1.0
    names: list = field(default_factory=list)
    nested: dict = field(default_factory=lambda: {"a": {"b": 2}})


@counts(lambda torch: (matrix(torch), __import__("sys").modules["counted_programs"].Config()))
def a_configuration_that_changes_for_a_while(x, config):
    with temporarily(config, scale=3.0):
        x = x * config.scale
    config.names.append("done")
    return x + config.scale + config.nested["a"]["b"]


class Tree:
    def __init__(self, value, children=()):
        self.value, self.children = value, list(children)

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child

    def map(self, function):
        return Tree(function(self.value), [child.map(function) for child in self.children])


@counts
def a_recursive_structure(x):
    tree = Tree(x, [Tree(x + 1), Tree(x + 2, [Tree(x + 3)])])
    return sum(tree.map(lambda t: t * 2)), len([*tree])


@counts
def accumulating_in_closures(x):
    totals = {"n": 0}

    def hook(value):
        totals["n"] += 1
        totals[f"sum{totals['n']}"] = value.sum()
        return value

    y = hook(hook(x) * 2)
    return y, totals


@counts
def a_pipeline_of_lambdas(x):
    steps = [lambda t: t + 1, lambda t: t * 2, torch.sqrt]
    return functools.reduce(lambda value, step: step(value), steps, x)


@counts
def batches_by_hand(x):
    outputs = []
    for start in range(0, x.size(1), 2):
        chunk = x[:, start : start + 2]
        outputs.append(chunk.mean(1) if chunk.size(1) > 1 else chunk[:, 0])
    return torch.stack(outputs, 1)


@counts
def zero_sized_tensors(x):
    empty = x[:, :0]
    return torch.cat([empty, x], 1), empty.sum(), empty.numel()


@counts
def named_function_arguments(x):
    def layer(value, *, gain: float = 1.0, bias: Optional[torch.Tensor] = None):
        value = value * gain
        return value if bias is None else value + bias

    return layer(x, gain=2.0) + layer(value=x, bias=x)


@counts
def try_import(x):
    try:
        import a_module_that_does_not_exist as extra
    except ImportError:
        extra = None
    return x * 2 if extra is None else x


@counts
def string_formatting(x):
    shape = "x".join(map(str, x.shape))
    label = f"{shape!r:>8}|{3.14159:.2f}|{len(shape):d}"
    return x + len(label), label, "%05.1f" % 2.5, "{0}-{1}".format("a", shape)


@counts
def dictionary_of_functions(x):
    activations = {"relu": F.relu, "none": lambda t: t, "gelu": functools.partial(F.gelu, approximate="tanh")}
    return activations["gelu"](x) + activations.get("missing", activations["none"])(x)


@counts(lambda torch: (matrix(torch), [matrix(torch), matrix(torch)]))
def updating_a_list_of_states(x, states):
    for i, state in enumerate(states):
        states[i] = state * 0.5 + x
    return sum(states)


@counts
def bitwise_and_integers(x):
    n = x.to(torch.int64)
    return (n << 2) ^ (n & 1) | 3, n // 2, n % 2, ~n, n.bool().all(), -7 // 2 + n


@counts
def set_of_shapes(x):
    shapes = {x.shape, x.T.shape, x.shape}
    return x * len(shapes), x.shape == (2, 3), x.shape + (1,), list(x.shape), x.shape[::-1], (2, 3) in shapes
