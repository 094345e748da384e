"""What the stand-in for cuDNN makes of attention: it checks what it is told, and makes the score matrix with NumPy.

>>> x = TensorOfAttention([1, 2, 3, 8], [48, 24, 8, 1], "HALF")
>>> FakeAttention({"q": x, "k": x, "v": x}, 0.5, True).check("sdpa")
>>> turned = TensorOfAttention([1, 2, 3, 8], [48, 24, 1, 3], "HALF")
>>> FakeAttention({"q": x, "k": x, "v": turned}, 0.5, True).check("sdpa")
Traceback (most recent call last):
ValueError: sdpa: the elements of a row lie together, but v has the strides [48, 24, 1, 3]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class TensorOfAttention(NamedTuple):
    """One by itself."""

    dim: list[int]
    stride: list[int]
    data_type: str


class FakeAttention:
    """The node of a graph: its tensors by cuDNN's names for them."""

    def __init__(self, tensors: dict[str, Any], scale: float, is_causal: bool) -> None:
        self.tensors, self.scale, self.is_causal = tensors, scale, is_causal

    def check(self, call: str) -> None:
        """ValueError for what cuDNN would refuse, or get wrong."""
        q, k, v = (self.tensors[name] for name in "qkv")
        for name, x in self.tensors.items():
            if x.stride[3] != 1 and x.dim[3] != 1:
                raise ValueError(f"{call}: the elements of a row lie together, but {name} has the strides {x.stride}")
            expected = "FLOAT" if name == "stats" else q.data_type
            if x.data_type != expected:
                raise ValueError(f"{call}: {name} is {x.data_type}, not {expected}")
        out, statistics = [*q.dim[:3], v.dim[3]], [*q.dim[:3], 1]
        sizes = {"o": out, "dO": out, "stats": statistics, "dQ": q.dim, "dK": k.dim, "dV": v.dim}
        if k.dim[:3] != v.dim[:3] or q.dim[0] != k.dim[0] or q.dim[3] != k.dim[3] or q.dim[1] % k.dim[1]:
            raise ValueError(f"{call}: the sizes {q.dim}, {k.dim} and {v.dim} don't go together")
        for name, x in self.tensors.items():
            if x.dim != sizes.get(name, x.dim):
                raise ValueError(f"{call}: {name} has the sizes {x.dim}, not {sizes[name]}")

    def run(self, arrays: dict[str, Any]) -> None:
        """Forward, or backward if there is a gradient."""
        q, k, v = (np.array(arrays[name], np.float32) for name in "qkv")
        shared = q.shape[1] // k.shape[1]
        keys, values = np.repeat(k, shared, 1), np.repeat(v, shared, 1)
        scores = q @ keys.swapaxes(2, 3) * np.float32(self.scale)
        if self.is_causal:
            scores = np.where(np.tri(*scores.shape[2:]) == 1, scores, -np.inf)
        if "dO" not in arrays:
            top = scores.max(-1, keepdims=True)
            weights = np.exp(scores - top)
            sums = weights.sum(-1, keepdims=True)
            arrays["o"][...] = weights / sums @ values
            arrays["stats"][...] = top + np.log(sums)
            return
        weights = np.exp(scores - np.array(arrays["stats"]))
        grad, out = (np.array(arrays[name], np.float32) for name in ("dO", "o"))
        by_scores = weights * (grad @ values.swapaxes(2, 3) - (grad * out).sum(-1, keepdims=True)) * self.scale
        arrays["dQ"][...] = by_scores @ keys
        for name, part in (("dK", by_scores.swapaxes(2, 3) @ q), ("dV", weights.swapaxes(2, 3) @ grad)):
            n, heads, *matrix = part.shape
            arrays[name][...] = part.reshape(n, heads // shared, shared, *matrix).sum(2)
