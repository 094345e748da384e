"""Every call of the sheets on tensors of unknown sizes: with numbers put in, it is what it is for these numbers.

A call is traced for the sizes of its sheet. Then other sizes are chosen; if they satisfy all that the trace assumed,
the call on fake tensors of those sizes must give what the trace says. So a guard that is missing is found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.fakes.fake_mode import FakeMode
from minitorch_compile.symbolic import ShapeEnv, SymInt
from minitorch_compile.tensor import FakeDataError, empty_fake, fake_like
from minitorch_compile.tensor.modes.symbolic_layout import specializing, symbolic_like
from tests.battery.arguments import Arguments
from tests.battery.sheet import FOLDER, calls, calls_of

SHEETS = sorted(FOLDER.glob("*.txt"))
OTHER_SIZES: list[Callable[[int], int]] = [lambda n: 2 * n, lambda n: n * n + 3]
HOLDS = {"==": lambda v: v == 0, "!=": lambda v: v != 0, "<=": lambda v: v <= 0}


def run(text: str, layout: str, make: Callable[[Any], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, Arguments(torch, layout, make=make).vocabulary())


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    else:
        yield value


def described(result: Any, number: Callable[[Any], int]) -> list[Any]:
    """Dtypes, sizes, strides and numbers of a result, with `number` of each size."""
    found: list[Any] = []
    for leaf in leaves(result):
        if isinstance(leaf, torch.Tensor):
            found.append((str(leaf.dtype), *map(number, (*leaf.sizes, *leaf.strides))))
        else:
            found.append(str(number(leaf) if isinstance(leaf, SymInt) else leaf))
    return found


def traced(text: str, layout: str) -> tuple[ShapeEnv, Any]:
    """The call for unknown sizes, as a compiled program would trace it."""
    env = ShapeEnv()

    def on_unknown_sizes() -> Any:
        return run(text, layout, lambda x: symbolic_like(x, env))

    try:
        with FakeMode().active():
            return env, on_unknown_sizes()
    except FakeDataError:
        raise
    except Exception:
        return env, None  # `specializing` does it again with numbers: tested below


def allows(env: ShapeEnv, values: dict[Any, int]) -> bool:
    """Whether other sizes satisfy everything that was assumed."""
    in_range = all(env.ranges[s].lower <= values[s] <= env.ranges[s].upper for s in env.hints)
    return in_range and all(HOLDS[r.sign](r.difference.evaluate(values)) for r in env.relations)


def fake_of_other_sizes(x: Any, other: dict[int, int]) -> Any:
    """A fake laid out like x, whose sizes are others."""
    env = ShapeEnv()
    like = symbolic_like(x, env)
    values = {s: other[hint] for s, hint in env.hints.items()}
    sizes, strides = (
        tuple(n.expression.evaluate(values) if isinstance(n, SymInt) else n for n in numbers)
        for numbers in (like.sizes, like.strides)
    )
    return empty_fake(sizes, strides, x.dtype)


def with_values(values: dict[Any, int]) -> Callable[[Any], int]:
    return lambda size: size.expression.evaluate(values) if isinstance(size, SymInt) else size


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_numbers_put_in_for_symbols_give_what_numbers_give(path: Any, layout: str) -> None:
    wrong = []
    for call in calls_of(path):
        try:
            known = run(call.text, layout, fake_like)
            env, unknown = traced(call.text, layout)
        except Exception:
            continue  # the call asks for data, or is an error anyway
        if unknown is None:
            continue
        if described(unknown, with_values(env.hints)) != described(known, int):
            wrong.append((call.text, "as seen"))
        for other in OTHER_SIZES:
            values = {s: other(hint) for s, hint in env.hints.items()}
            if not allows(env, values):
                continue
            sizes = {hint: other(hint) for hint in env.hints.values()}
            expected = run(call.text, layout, lambda x, sizes=sizes: fake_of_other_sizes(x, sizes))
            if described(unknown, with_values(values)) != described(expected, int):
                wrong.append((call.text, values, [str(r) for r in env.relations]))
    assert not wrong, "\n".join(map(str, wrong[:20]))


@pytest.mark.slow
def test_nine_calls_of_ten_are_for_all_sizes() -> None:
    """The others need a number: a map of an interpolation, the square root of a size, the steps of a recurrent net."""
    free = tied = failed = 0
    for call in calls():
        try:
            run(call.text, "contiguous", fake_like)
            env, unknown = traced(call.text, "contiguous")
        except Exception:
            continue
        is_tied = any(value.constant is not None for value in env.replacements.values())
        free, tied, failed = free + (not is_tied), tied + is_tied, failed + (unknown is None)
    assert free > 3500 and tied < 0.1 * free and failed < 80


def test_what_fails_with_unknown_sizes_is_done_with_known_ones() -> None:
    env = ShapeEnv()
    x = symbolic_like(torch.ones(1, 2, 4, 5), env)
    result = specializing(torch.nn.functional.interpolate, (x,), {"size": (3, 7), "mode": "nearest"})
    assert result.sizes == (1, 2, 3, 7)
    assert {"s0 == 2", "s1 == 4", "s2 == 5"} <= {str(r) for r in env.relations}
