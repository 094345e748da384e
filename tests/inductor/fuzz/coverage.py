"""Which ops of the table random programs call: by the names in their lines, or as parts of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import mode
from minitorch_compile.tensor.dispatch.op import Op
from tests.battery.sheet import names_called
from tests.inductor.fuzz.growing import grow
from tests.inductor.fuzz.judging import run


class _Recorder:
    """A mode that notes the names of the ops that reach it."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.names.add(op.name)
        return op(*args, **kwargs)


def ops_not_called(seeds: Iterable[int]) -> tuple[list[str], int]:
    """The ops that no program of these seeds calls, forward or backward; and how many there are in all."""
    recorder = _Recorder()
    for seed in seeds:
        program = grow(seed)
        if program.outputs:
            with mode(recorder):
                run(program, program.function())
            recorder.names |= set().union(*(names_called(node) for node in _expressions(program.lines)))
    return sorted(set(ops.table) - recorder.names), len(ops.table)


def _expressions(lines: list[str]) -> list[str]:
    """What a line computes, as an expression."""
    return [line.split(" = ", 1)[-1] for line in lines]
