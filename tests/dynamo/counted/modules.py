"""Neural-network modules: containers, hooks, buffers, attributes that change, training mode."""

import torch
from torch import nn
from torch.nn import functional as F

from tests.dynamo.counting import counts, matrix


class Block(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x + F.relu(self.norm(self.linear(x))) * self.scale


def _call(module):
    """A case that calls a module on a matrix."""
    return counts(lambda torch: (module(), matrix(torch)))


@_call(Block)
def a_block(module, x):
    return module(x)


@_call(lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
def a_sequence(module, x):
    return module(x)


@_call(lambda: nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)))
def parts_of_a_sequence(module, x):
    for layer in module[:2]:
        x = layer(x)
    return module[-1](x), len(module)


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.table = nn.ModuleDict({"tanh": nn.Tanh(), "relu": nn.ReLU()})
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(3)) for _ in range(2)])
        self.named = nn.ParameterDict({"a": nn.Parameter(torch.ones(3))})


class OverLists(Lists):
    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) + i
        for layer in self.layers[1:]:
            x = layer(x)
        return self.layers[-1](x) + len(self.layers)


@_call(OverLists)
def module_lists(module, x):
    return module(x)


class OverDicts(Lists):
    def forward(self, x):
        for name, layer in self.table.items():
            x = layer(x) + len(name)
        return self.table["relu"](x) + ("tanh" in self.table) + len(self.table.keys())


@_call(OverDicts)
def module_dicts(module, x):
    return module(x)


class OverParameters(Lists):
    def forward(self, x):
        for weight in self.weights:
            x = x * weight
        return x + self.weights[0] + self.named["a"] + len(self.weights)


@_call(OverParameters)
def parameter_containers(module, x):
    return module(x)


class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("steps", torch.tensor(0), persistent=False)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.steps += 1
        self.total.add_(x.sum(0))
        self.last = x
        return x * self.calls + self.total / self.steps


@_call(Running)
def buffers_and_attributes_change(module, x):
    return module(x)


class ReplacesBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x - self.mean


@_call(ReplacesBuffer)
def a_buffer_is_replaced(module, x):
    return module(x)


class ByMode(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        x = self.norm(self.drop(x))
        return x * 2 if self.training else x * 3


@_call(ByMode)
def training_mode(module, x):
    return module(x)


@_call(lambda: ByMode().eval())
def evaluation_mode(module, x):
    return module(x)


def _hooked():
    module = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    module.register_forward_hook(lambda module, args, output: output * 2)
    module.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    module[0].register_forward_hook(lambda module, args, kwargs, output: output + 1, with_kwargs=True)
    return module


@_call(_hooked)
def forward_hooks(module, x):
    return module(x)


class Overrides(nn.Linear):
    def __call__(self, x):
        return super().__call__(x * 2) + 1


@_call(lambda: Overrides(3, 3))
def an_overridden_call(module, x):
    return module(x)


@_call(Block)
def loops_over_parameters(module, x):
    penalty = 0
    for name, parameter in module.named_parameters():
        if name.endswith("weight"):
            penalty = penalty + parameter.pow(2).sum()
    return module(x).sum() + penalty, sum(p.numel() for p in module.parameters())


@_call(Block)
def loops_over_modules(module, x):
    names = [name for name, _ in module.named_children()]
    count = sum(isinstance(child, nn.Linear) for child in module.modules())
    return module(x) * count, names


@_call(Block)
def parameters_as_tensors(module, x):
    return x @ module.linear.weight.T + module.linear.bias, module.linear.weight.shape


@_call(lambda: [Block(), Block()])
def modules_in_a_list(blocks, x):
    for block in blocks:
        x = block(x)
    return x


@_call(lambda: nn.ModuleList([nn.Linear(3, 3)] * 2))
def shared_modules(layers, x):
    for layer in layers:
        x = layer(x)
    return x


class Weighted(nn.Module):
    """Calls the functional forms with its own parameters."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 3))
        self.register_parameter("bias", None)

    def forward(self, x):
        y = F.linear(x, self.weight, self.bias)
        return y if self.bias is None else y + 1


@_call(Weighted)
def a_parameter_that_is_none(module, x):
    return module(x)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(3, 4) for _ in range(3))
        self.register_buffer("mask", torch.tril(torch.ones(2, 2)).bool())

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = (q @ k.transpose(-2, -1)) / q.size(-1) ** 0.5
        scores = scores.masked_fill(~self.mask[: x.size(0), : x.size(0)], float("-inf"))
        return scores.softmax(-1) @ v


@_call(Attention)
def attention_by_hand(module, x):
    return module(x)


@_call(lambda: nn.MultiheadAttention(3, 1, batch_first=True))
def multi_head_attention(module, x):
    return module(x[None], x[None], x[None], need_weights=False)[0].sum()


@_call(lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True).train())
def a_transformer_layer(module, x):
    return module(F.pad(x, (0, 1))[None])


@_call(lambda: nn.Embedding(5, 3))
def embedding(module, x):
    return module(torch.tensor([[1, 2], [3, 4]])) + x


@_call(lambda: nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.AdaptiveAvgPool2d(1)))
def convolution(module, x):
    return module(x.view(1, 1, 2, 3)).flatten(1)


@_call(lambda: nn.LSTM(3, 4, batch_first=True))
def an_lstm(module, x):
    out, (h, c) = module(x[None])
    return out[:, -1] + h[-1] + c[-1]


@_call(lambda: nn.GRU(3, 4, num_layers=2, bidirectional=True))
def a_gru(module, x):
    return module(x[:, None])[0]


@_call(lambda: nn.RNN(3, 4))
def an_rnn(module, x):
    return module(x[:, None])[1]


@_call(lambda: nn.LSTMCell(3, 4))
def a_cell_in_a_loop(module, x):
    h, c = x.new_zeros(1, 4), x.new_zeros(1, 4)
    for row in x:
        h, c = module(row[None], (h, c))
    return h


class Lazily(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x):
        if self.cache is None:
            self.cache = torch.arange(3) * 2.0
        return x + self.cache


@_call(Lazily)
def a_cache_made_in_forward(module, x):
    return module(x) + module(x)


class Registers(nn.Module):
    def forward(self, x):
        if not hasattr(self, "made"):
            self.register_buffer("made", torch.ones(3))
        return x + self.made


@_call(Registers)
def a_buffer_registered_in_forward(module, x):
    return module(x)


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Block()
        for p in self.body.parameters():
            p.requires_grad_(False)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        with torch.no_grad():
            features = self.body(x)
        return self.head(features)


@_call(Frozen)
def frozen_parts(module, x):
    return module(x)


@_call(lambda: nn.Sequential(nn.Linear(3, 3), nn.Identity(), nn.Flatten(), nn.Softmax(dim=-1)))
def simple_layers(module, x):
    return module(x)


@_call(lambda: Block().requires_grad_(False))
def getattr_with_built_names(module, x):
    return getattr(module, "lin" + "ear")(x) + module.get_parameter("scale")


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Block()

    def forward(self, x, *, scale=1.0, **options):
        return {"out": self.inner(x) * scale, "n": len(options)}


@_call(Outer)
def keyword_arguments_of_modules(module, x):
    return module(x, scale=2.0, other=1)["out"]


@_call(lambda: torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)))
def weight_normalisation(module, x):
    return module(x)
