"""Liveness: which slots can still be read, before they are written, from an instruction on.

A function that is continued in a resume function passes it exactly these. Computed backwards over the program,
exception edges included, until nothing changes.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> def area(width, height, unit):
...     product = width * height
...     return product, unit
>>> program = decode(area.__code__)
>>> sorted(live_slots(program, 0)), sorted(live_slots(program, 4))
(['height', 'unit', 'width'], ['product', 'unit'])
"""

from __future__ import annotations

from minitorch_compile.dynamo.bytecode.control_flow import successors
from minitorch_compile.dynamo.bytecode.instructions import Instruction, Program

PLAIN_READS = {"LOAD_FAST", "LOAD_FAST_AND_CLEAR", "DELETE_FAST", "MAKE_CELL"}
CELL_READS = {"LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_FROM_DICT_OR_DEREF"}  # all need the cell in the slot
READS = frozenset(PLAIN_READS | CELL_READS)
WRITES = frozenset({"STORE_FAST", "LOAD_FAST_AND_CLEAR", "MAKE_CELL", "DELETE_FAST"})
# Calls of these read the frame without an instruction that says so.
READS_ALL_SLOTS = frozenset({"locals", "vars", "dir", "eval", "exec"})

_live_before: dict[int, tuple[Program, list[frozenset[str]]]] = {}


def live_slots(program: Program, index: int) -> frozenset[str]:
    """The slots whose content matters when `program` goes on at `index`."""
    if id(program) not in _live_before:
        _live_before[id(program)] = program, _solve(program)
    return _live_before[id(program)][1][index] | _read_behind_the_scenes(program)


def _solve(program: Program) -> list[frozenset[str]]:
    """The live slots before each instruction."""
    live: list[frozenset[str]] = [frozenset()] * (len(program.instructions) + 1)
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(program.instructions))):
            before = _live_at(program, index, live)
            changed |= before != live[index]
            live[index] = before
    return live


def _live_at(program: Program, index: int, live: list[frozenset[str]]) -> frozenset[str]:
    after = frozenset[str]().union(*(live[next_index] for next_index in successors(program, index)))
    entry = program.handler_of(index)
    on_error = live[entry.target] if entry else frozenset()
    inst = program.instructions[index]
    return (after - _slots(inst, WRITES)) | _slots(inst, READS) | on_error


def _slots(inst: Instruction, opnames: frozenset[str]) -> frozenset[str]:
    return frozenset({inst.argval}) if inst.opname in opnames else frozenset()


def _read_behind_the_scenes(program: Program) -> frozenset[str]:
    names = {inst.argval for inst in program.instructions if inst.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    if names & READS_ALL_SLOTS:
        return frozenset(program.slot_names)
    if "super" in names and "__class__" in program.slot_names:
        return frozenset({"__class__", *program.code.co_varnames[:1]})
    return frozenset()
