"""Causal masks for queries and keys of different numbers.

>>> causal_upper_left(2, 3)
tensor([[ True, False, False],
        [ True,  True, False]])
>>> causal_lower_right(2, 3)
tensor([[ True,  True, False],
        [ True,  True,  True]])
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from minitorch_compile.tensor import Tensor, bool_, ops
from minitorch_compile.tensor.dispatch.overrides import _disabled_torch_function_impl

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Which corner of the scores the diagonal of a mask goes through."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A bool mask for `scaled_dot_product_attention` that knows what it is."""

    variant: CausalVariant
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"CausalBias: variant must be a CausalVariant, but got {variant!r}")
        result = _mask(variant, seq_len_q, seq_len_kv).as_subclass(cls)
        result.variant, result.seq_len_q, result.seq_len_kv = variant, seq_len_q, seq_len_kv
        return result

    def __repr__(self) -> str:
        return repr(self._materialize())

    def _materialize(self, device: Any = None) -> Any:
        """The mask as a plain tensor."""
        return _mask(self.variant, self.seq_len_q, self.seq_len_kv)


def _mask(variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
    diagonal = seq_len_kv - seq_len_q if variant is CausalVariant.LOWER_RIGHT else 0
    return ops.tril(ops.ones(seq_len_q, seq_len_kv, dtype=bool_), diagonal)


def causal_upper_left(*size: int) -> CausalBias:
    """A mask of these sizes, (queries, keys), in which the first query sees the first key only."""
    return CausalBias(CausalVariant.UPPER_LEFT, *_two(size))


def causal_lower_right(*size: int) -> CausalBias:
    """A mask of these sizes, (queries, keys), in which the last query sees all keys, and each one before it one key
    less."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *_two(size))


def _two(size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError("causal_upper_left and causal_lower_right only support 2D tensors")
    return size[0], size[1]
