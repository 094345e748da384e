"""Sizes and dtypes of all values, by running the graph once.

>>> from minitorch_compile import ones
>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x: (x @ x).sum(0))
>>> _ = ShapeProp(module).propagate(ones(3, 3))
>>> [(node.name, tuple(node.meta["tensor_meta"].shape)) for node in module.graph.nodes]
[('x', (3, 3)), ('matmul', (3, 3)), ('sum_1', (3,)), ('output', (3,))]

`meta["tensor_meta"]` has a TensorMetadata for each tensor of the value, and `meta["type"]` the value's class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import Size, dtype
from minitorch_compile.tensor.memory.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
)
from minitorch_compile.tensor.tensor_base import TensorBase


class TensorMetadata(NamedTuple):
    """What is known of a tensor besides its numbers."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Any, include_contiguity: bool = True) -> TensorMetadata:
    """The metadata of a tensor."""
    known = None
    for each in (contiguous_format, channels_last, channels_last_3d) if include_contiguity else ():
        if (each is contiguous_format or result.dim() == (4 if each is channels_last else 5)) and result.is_contiguous(
            memory_format=each
        ):
            known = each
            break
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), known, False, {})


class ShapeProp(Interpreter):
    """Runs `gm` and notes what is known of the values. With `fake_mode`, on fake tensors like the arguments."""

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)
        self.fake_mode = fake_mode

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        found: list[bool] = []

        def described(value: Any) -> Any:
            if not isinstance(value, TensorBase):
                return value
            found.append(True)
            return _extract_tensor_metadata(value)

        metadata = map_aggregate(result, described)
        if found:
            n.meta["tensor_meta"] = metadata
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """The value of the graph for these arguments, after noting what is known of all others."""
        if self.fake_mode is None:
            return super().run(*args)
        with self.fake_mode:
            given = (self.fake_mode.from_tensor(a) if isinstance(a, TensorBase) else a for a in args)
            return super().run(*given)


__all__ = ["ShapeProp", "TensorMetadata"]
