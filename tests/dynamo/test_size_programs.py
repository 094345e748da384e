"""Random programs about sizes, plain and compiled, with one set of sizes after another: the same results and errors."""

from __future__ import annotations

import random
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.pytree import tree_leaves
from tests.dynamo.size_programs import write_program

SEEDS = range(60)


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    try:
        return tree_leaves(function(*arguments))
    except Exception as error:
        return type(error)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, torch.Tensor):
        equal = a.shape == b.shape and torch.allclose(a, b, equal_nan=True)
        return equal and a.dtype == b.dtype and (a.stride() == b.stride() or a.numel() < 2)
    return type(a) is type(b) and a == b


def arguments_of(rng: random.Random) -> list[tuple[Any, ...]]:
    """One call after another: in each, some of the sizes are new."""
    sizes = [rng.randint(2, 5), rng.randint(1, 4), rng.randint(2, 5), rng.randint(2, 6)]
    calls = []
    for _ in range(7):
        sizes[rng.randrange(4)] = rng.choice([0, 1, 2, 3, 4, 5, 6, 9, 12])
        rows, columns, length, number = sizes
        x = torch.arange(rows * columns).view(rows, columns) * 0.25
        calls.append((x, torch.arange(length) * 0.5, number))
    return calls


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore")
def test_compiled_programs_do_what_plain_ones_do(seed: int, backend: str) -> None:
    rng = random.Random(seed)
    source = write_program(rng)
    scope: dict[str, Any] = {"torch": torch}
    exec(source, scope)
    compiled = torch.compile(scope["f"], backend=backend, dynamic=rng.choice([None, True]))
    for arguments in arguments_of(rng):
        expected, got = outcome(scope["f"], arguments), outcome(compiled, arguments)
        described = [list(x.shape) if isinstance(x, torch.Tensor) else x for x in arguments]
        assert same(got, expected), f"{source}\n{described}\nexpected {expected}\ngot {got}"
