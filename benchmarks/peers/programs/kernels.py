"""Single kernels, from 4x4 to many megabytes."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from benchmarks.peers.programs.inputs import integers, normal
from benchmarks.peers.row import Kernel, kernel

MATRICES = {"small": (64, 64), "medium": (1024, 512), "large": (4096, 1024)}


@kernel(tiny=(4, 4), **MATRICES)
def pointwise(rows: int, columns: int) -> Kernel:
    x, y = normal(rows, columns), normal(rows, columns, name="y")
    return Kernel(lambda x, y: torch.relu(x * y + 1) * torch.sigmoid(x) + torch.tanh(y), (x, y))


@kernel(tiny=(4, 4), **MATRICES)
def softmax(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: torch.softmax(x, -1), (normal(rows, columns),))


@kernel(**MATRICES)
def log_softmax_nll(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x, labels: F.cross_entropy(x, labels), (normal(rows, columns), integers(columns, rows)))


@kernel(**MATRICES)
def layer_norm_gelu(rows: int, columns: int) -> Kernel:
    inputs = normal(rows, columns), normal(columns, name="weight"), normal(columns, name="bias")
    return Kernel(lambda x, weight, bias: F.gelu(F.layer_norm(x, (columns,), weight, bias)), inputs)


@kernel(**MATRICES)
def rms_norm(rows: int, columns: int) -> Kernel:
    inputs = normal(rows, columns), normal(columns, name="weight")
    return Kernel(lambda x, weight: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight, inputs)


@kernel(small=(64, 64), medium=(1024, 1024), large=(2048, 4096))
def transpose_add(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x, y: x.t() + y, (normal(columns, rows), normal(rows, columns)))


@kernel(small=(2, 16, 4, 16), medium=(8, 128, 8, 64), large=(16, 512, 8, 64))
def split_heads(batch: int, length: int, heads: int, width: int) -> Kernel:
    x = normal(batch, length, heads * width)
    return Kernel(lambda x: x.view(batch, length, heads, width).transpose(1, 2).contiguous(), (x,))


@kernel(**MATRICES)
def sum_of_rows(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: x.sum(1), (normal(rows, columns),))


@kernel(**MATRICES)
def sum_of_columns(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: x.sum(0), (normal(rows, columns),))


@kernel(small=(8, 16, 32), medium=(32, 256, 64), large=(64, 512, 128))
def sum_of_middle(planes: int, rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: x.square().sum(1), (normal(planes, rows, columns),))


@kernel(**MATRICES)
def sum_of_all(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: x.square().sum(), (normal(rows, columns),))


@kernel(**MATRICES)
def argmax(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: x.argmax(1), (normal(rows, columns),))


@kernel(**MATRICES)
def variance(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: torch.var(x, 1), (normal(rows, columns),))


@kernel(**MATRICES)
def cumsum_of_rows(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: x.cumsum(1), (normal(rows, columns),))


@kernel(**MATRICES)
def cumsum_of_columns(rows: int, columns: int) -> Kernel:
    return Kernel(lambda x: x.cumsum(0), (normal(rows, columns),))


@kernel(small=(100, 16, 64), medium=(1000, 64, 1024), large=(10000, 256, 8192))
def embedding_backward(words: int, width: int, places: int) -> Kernel:
    """The gradient of the table: rows of a gradient added where their words say."""
    inputs = normal(places, width), integers(words, places)

    def function(grad: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.zeros(words, width, device=grad.device).index_add(0, index, grad)

    return Kernel(function, inputs)


@kernel(small=(1, 2, 16, 16), medium=(2, 4, 128, 64), large=(4, 8, 512, 64))
def attention(batch: int, heads: int, length: int, width: int) -> Kernel:
    inputs = tuple(normal(batch, heads, length, width, name=name) for name in "qkv")
    return Kernel(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), inputs)


@kernel(small=(1, 2, 16, 16), medium=(2, 4, 128, 64), large=(4, 8, 512, 64))
def attention_backward(batch: int, heads: int, length: int, width: int) -> Kernel:
    inputs = tuple(normal(batch, heads, length, width, name=name, grad=True) for name in "qkv")
    return Kernel(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), inputs, backward=True)


@kernel(**MATRICES)
def layer_norm_backward(rows: int, columns: int) -> Kernel:
    inputs = normal(rows, columns, grad=True), normal(columns, name="weight", grad=True)
    return Kernel(lambda x, weight: F.layer_norm(x, (columns,), weight), inputs, backward=True)
