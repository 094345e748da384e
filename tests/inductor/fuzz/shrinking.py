"""Makes a failing program smaller: fewer results, fewer lines, values given as inputs instead of computed.

Each attempt is a program of its own, kept if it still fails; greedy, until nothing helps any more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import minitorch_compile as torch
from tests.inductor.fuzz.programs import SCOPE, Input, Program, names_read, names_stored


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest failing program that single steps lead to."""
    while True:
        for smaller in _smaller(program):
            if fails(smaller):
                program = smaller
                break
        else:
            return program


def _smaller(program: Program) -> Iterator[Program]:
    for i in range(len(program.outputs)):
        if len(program.outputs) > 1:
            yield replace(program, outputs=program.outputs[:i] + program.outputs[i + 1 :]).without_unused()
    for i in range(len(program.lines)):
        yield from _without_line(program, i)
    if program.dynamic:
        yield replace(program, dynamic=False)
    if program.emulate_precision_casts:
        yield replace(program, emulate_precision_casts=False)
    if program.gradients:
        yield replace(program, gradients=False)
    for name, spec in program.inputs.items():
        if spec.layout != "contiguous":
            yield replace(program, inputs=program.inputs | {name: replace(spec, layout="contiguous")})


def _without_line(program: Program, i: int) -> Iterator[Program]:
    """Without a line; what it stored becomes an input, if it is needed."""
    rest = program.lines[:i] + program.lines[i + 1 :]
    stored = names_stored(program.lines[i])
    needed = stored & set().union(*map(names_read, rest), program.outputs)
    if not needed:
        yield replace(program, lines=rest).without_unused()
        return
    values = _values_after(program, i)
    if all(isinstance(values[n], torch.Tensor) for n in needed):
        made = {n: _input_of(values[n].detach()) for n in needed}
        outputs = [o for o in program.outputs if o not in needed]
        if outputs:
            smaller = replace(program, lines=rest, inputs=program.inputs | made, outputs=outputs)
            yield smaller.without_unused()


def _input_of(value: Any) -> Input:
    if not value.is_floating_point():
        return Input(np.array(value.numpy()))
    wide = value.float() if value.dtype in (torch.float16, torch.bfloat16) else value
    return Input(np.array(wide.numpy()), element=str(value.dtype).removeprefix("torch."))


def _values_after(program: Program, last: int) -> dict[str, Any]:
    scope: dict[str, Any] = dict(SCOPE) | dict(zip(program.inputs, program.tensors()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in program.lines[: last + 1]:
            exec(line, scope)
    return scope
