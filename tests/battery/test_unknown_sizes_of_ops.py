"""Each op's shape rule on tensors all of whose sizes are unknown, against the op itself on numbers.

With the sizes that were seen put in for the symbols, the fake result must look as the real one does; and so for other
sizes, if they satisfy all that the rule assumed: then the arguments are made in those sizes and the op is run on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.symbolic import ShapeEnv, SymInt
from minitorch_compile.tensor import FakeDataError, ops
from minitorch_compile.tensor.dispatch.dispatch import mode
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.strided_results import wrap_as
from minitorch_compile.tensor.modes.fake_tensor_mode import ShapesOnly
from minitorch_compile.tensor.modes.symbolic_layout import symbolic_like
from tests.battery.op_calls import OpCall, op_calls
from tests.battery.test_unknown_sizes import OTHER_SIZES, allows, described, with_values

# Ops whose result can't be described without the numbers in a tensor, and ops that fix the sizes of their arguments.
ASKING_FOR_DATA = {"argwhere", "bincount", "repeated_positions", "unique_consecutive_parts", "unique_parts"}
NUMBERS_IN_THE_CALL = "the call says sizes as numbers, which those of the tensor have to equal"
SPECIALISING = {
    "col2im": NUMBERS_IN_THE_CALL,
    "flash_attention_backward": "the last size of `normalizers` is two: a maximum, and the logarithm of a sum",
    "expand": NUMBERS_IN_THE_CALL,
    "native_layer_norm": NUMBERS_IN_THE_CALL,
    "split_with_sizes_copy": NUMBERS_IN_THE_CALL,
    "view": NUMBERS_IN_THE_CALL,
    "view_as_complex": "the last size is two: real and imaginary part",
}


@cache
def all_calls() -> Mapping[Op, list[OpCall]]:
    found: dict[Op, list[OpCall]] = {}
    for call in op_calls():
        found.setdefault(call.op, []).append(call)
    return found


def mapped(value: Any, change: Any) -> Any:
    """A nesting with each tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    return type(value)(mapped(item, change) for item in value) if type(value) in (list, tuple) else value


def symbolically(call: OpCall) -> tuple[ShapeEnv, Any]:
    """The op by its shape rule on unknown sizes; None if the rule needs numbers."""
    env = ShapeEnv()
    arguments = mapped(call.arguments, lambda x: symbolic_like(x, env))
    try:
        with mode(ShapesOnly()):
            return env, call.op.meta(*arguments)
    except FakeDataError:
        raise
    except Exception:
        return env, None


def in_other_sizes(x: Any, other: Mapping[int, int]) -> Any:
    """A real tensor laid out like x in other sizes, with the numbers of x over and over: indices stay in range."""
    env = ShapeEnv()
    like = symbolic_like(x, env)
    values = {symbol: other[hint] for symbol, hint in env.hints.items()}
    sizes, strides = (
        tuple(n.expression.evaluate(values) if isinstance(n, SymInt) else n for n in numbers)
        for numbers in (like.sizes, like.strides)
    )
    return wrap_as(np.resize(x.detach().array, sizes), strides)


def differences(call: OpCall) -> Iterator[str]:
    env, unknown = symbolically(call)
    if unknown is None:
        return
    real = call.op(*mapped(call.arguments, lambda x: x.detach().clone() if 0 not in x.stride() else x))
    if described(unknown, with_values(env.hints)) != described(real, int):
        yield f"{call}: as seen: {described(unknown, with_values(env.hints))} for {described(real, int)}"
    for other in OTHER_SIZES:
        values = {symbol: other(hint) for symbol, hint in env.hints.items()}
        if not allows(env, values) or not values:
            continue
        sizes = {hint: other(hint) for hint in env.hints.values()}
        try:
            real = call.op(*mapped(call.arguments, lambda x, sizes=sizes: in_other_sizes(x, sizes)))
        except (IndexError, ValueError, torch.linalg.LinAlgError):
            continue  # the numbers don't suit: a singular matrix, an index out of range
        if described(unknown, with_values(values)) != described(real, int):
            yield f"{call}: {values}: {described(unknown, with_values(values))} for {described(real, int)}"


@pytest.mark.parametrize("family", sorted({op.kind for op in ops.table.values() if op.recorded}))
@pytest.mark.heavy
def test_ops_on_unknown_sizes_are_what_they_are_on_numbers(family: str) -> None:
    found = [d for op, calls in all_calls().items() if op.kind == family for c in calls for d in checked(c)]
    assert not found, "\n".join(found[:20])


def checked(call: OpCall) -> Iterator[str]:
    """The differences; none for ops that ask for data."""
    if call.op.name not in ASKING_FOR_DATA:
        yield from differences(call)


TO_ANOTHER_DEVICE = ["to_device"]  # no call of the sheets goes there
ONLY_FROM_PYTORCHS_STREAM = ["mt19937_random", "mt19937_rejected"]  # no graph draws from it


def test_every_op_is_called() -> None:
    uncalled = [op.name for op in ops.table.values() if op.recorded and not all_calls().get(op)]
    assert uncalled == TO_ANOTHER_DEVICE + ONLY_FROM_PYTORCHS_STREAM


def test_which_ops_ask_for_data() -> None:
    asking = set()
    for op, calls in all_calls().items():
        try:
            symbolically(calls[0])
        except FakeDataError:
            asking.add(op.name)
    assert asking == ASKING_FOR_DATA


def test_which_ops_fix_sizes() -> None:
    tied = set()
    for op, calls in all_calls().items():
        for call in calls if op.name not in ASKING_FOR_DATA else ():
            env, unknown = symbolically(call)
            if unknown is None or any(value.constant is not None for value in env.replacements.values()):
                tied.add(op.name)
    assert tied <= set(SPECIALISING), tied - set(SPECIALISING)
