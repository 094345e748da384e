"""Pointwise ops on tensors that broadcast or lie in memory in different orders: short and long way give the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import ops

SIZES = ((), (1,), (3,), (0,), (2, 3), (1, 3), (2, 1), (4, 2, 3), (4, 1, 3), (2, 4, 2, 3), (2, 4, 1, 1), (1, 1, 1, 1))


def drawn(rng: np.random.Generator, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of one of these sizes whose dimensions lie in any order, with gaps, or are expanded."""
    sizes = SIZES[rng.integers(len(SIZES))]
    order = rng.permutation(len(sizes))
    x = torch.tensor(rng.integers(-4, 5, [sizes[d] for d in order])).to(dtype)
    how = rng.integers(4)
    if how == 1 and sizes:
        x = torch.stack([x, x + 1], -1)[..., 1]
    elif how == 2:
        x = x[..., :1].expand(x.shape) if sizes and 0 not in sizes else x
    return x.permute(np.argsort(order).tolist())


def the_long_way(op: Any, *args: torch.Tensor) -> Any:
    return op.eager(*op.bind(args, {}))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
@pytest.mark.parametrize("name", ["add", "mul", "maximum", "lt", "sub", "neg", "floor", "relu", "exp", "logical_or"])
def test_the_short_way_gives_what_the_long_way_does(name: str, dtype: torch.dtype) -> None:
    op, rng = ops.table[name], np.random.default_rng(7)
    for _ in range(60):
        args = [drawn(rng, dtype) for _ in range(1 if name in ("neg", "floor", "relu", "exp") else 2)]
        try:
            expected = the_long_way(op, *args)
        except RuntimeError as error:
            with pytest.raises(RuntimeError) as raised:
                op(*args)
            assert str(raised.value) == str(error)
            continue
        found = op(*args)
        assert (found.shape, found.stride(), found.dtype) == (expected.shape, expected.stride(), expected.dtype)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        in_memory = torch.as_strided(found, found.shape, found.stride(), 0)  # what the storage holds
        np.testing.assert_array_equal(in_memory.numpy(), expected.numpy())


def test_a_result_is_no_operand() -> None:
    for x in (torch.ones(2, 3).t(), torch.ones(3, 1).expand(3, 2), torch.ones(4)[::2]):
        for made in (ops.floor(x), ops.maximum(x, x[:1]), ops.add(x, x[:1])):
            assert made.data_ptr() != x.data_ptr()
