"""Plain against compiled: the one assertion that most tests of the tracer make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.cache.region import Region
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.dynamo.testing.comparing import Behaviour, behaviour

Arguments = Callable[[], tuple[Any, ...]]


def matrix(rows: int = 2, columns: int = 3) -> torch.Tensor:
    return torch.arange(rows * columns, dtype=torch.float32).view(rows, columns) / 4


def one_matrix() -> tuple[Any, ...]:
    return (matrix(),)


def assert_same(
    function: Callable[..., Any],
    arguments: Arguments = one_matrix,
    *,
    graphs: int | None = 1,
    breaks: int = 0,
    calls: int = 2,
) -> Region:
    """Compiled, the function does what it does plainly, `calls` times in a row; and it is captured in so many
    graphs."""
    torch.manual_seed(0)
    plain = [behaviour(function, arguments()) for _ in range(calls)]
    counter = CompileCounter()
    compiled = optimize(function, counter)
    torch.manual_seed(0)
    assert [behaviour(compiled, arguments()) for _ in range(calls)] == plain
    region = region_of(compiled)
    assert [str(b) for b in region.breaks[breaks:]] == []
    assert len(region.breaks) == breaks
    assert graphs is None or counter.frame_count == graphs
    return region


def observed(function: Callable[..., Any], *args: Any) -> Behaviour:
    return behaviour(function, args)


def entry_count(region: Region) -> int:
    """How often the outermost function was compiled."""
    return len(region.caches[0].entries)
