"""Decode: a CPython code object becomes a `Program` of normalised instructions.

CPython changes its bytecode in every minor version: instructions merge and split, a call's NULL moves, loops end
differently. All of that is settled here, once, by the rules of `decode_rules.py`; nothing above this file asks for
the version.

>>> def positive_part(x):
...     if x.sum() > 0:
...         return x
>>> program = decode(positive_part.__code__)
>>> [str(inst) for inst in program.instructions if inst.opname in ("CALL", "COMPARE_OP")]
['CALL                 (0, ())', "COMPARE_OP           '>'"]
>>> program.instructions[0].line - positive_part.__code__.co_firstlineno
1
"""

from __future__ import annotations

import bisect
import dis
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from minitorch_compile.dynamo.bytecode.decode_rules import RawInstruction, UnsupportedBytecode, rules_for
from minitorch_compile.dynamo.bytecode.exception_table import parse_exception_table
from minitorch_compile.dynamo.bytecode.instructions import ExceptionEntry, Instruction, Program, slot_names

# Programs by the identity of their code object, which the program keeps alive. Not by equality: equal code objects
# can come from different files. What was decoded can be decoded again and is dropped when there is too much; what was
# assembled stays.
_decoded: dict[int, Program] = {}
_assembled: dict[int, Program] = {}
_MAX_DECODED = 4096


def decode(code: types.CodeType) -> Program:
    """The program of a code object of the running version. Raises UnsupportedBytecode for template strings."""
    program = _assembled.get(id(code)) or _decoded.get(id(code))
    if program is None:
        if len(_decoded) >= _MAX_DECODED:
            _decoded.clear()
        program = _decoded[id(code)] = Decoder(code).program()
    return program


def remember(program: Program) -> None:
    """From now on, `decode(program.code)` gives this very program: its instruction numbers are those the assembler
    was given."""
    _assembled[id(program.code)] = program


def forget_decoded() -> None:
    """Decode everything anew when it is asked for; what was assembled stays."""
    _decoded.clear()


class Decoder:
    """Goes through the raw instructions once; each rule emits what stands for one of them. Targets are byte offsets
    until the end.

    Rules may look at the neighbours: `emitted[-1]` behind, `following` ahead.
    """

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.rules = rules_for(sys.version_info[:2])
        self.emitted: list[Instruction] = []
        self.keyword_names: tuple[str, ...] = ()  # of a KW_NAMES, for the CALL after it (3.11, 3.12)
        two_of_a_name = not {*code.co_varnames, *code.co_cellvars}.isdisjoint(code.co_freevars)
        names = slot_names(code) if two_of_a_name else ()
        self.raw = [
            RawInstruction(raw.opname, raw.arg or 0, _operand(raw, names), raw.argrepr, raw.offset, raw.positions)
            for raw in dis.get_instructions(code)
            if raw.opname not in ("CACHE", "EXTENDED_ARG")
        ]
        self.position = 0

    def program(self) -> Program:
        while self.position < len(self.raw):
            raw = self.raw[self.position]
            self.position += 1
            self._apply_rule(raw)
        self.offsets = [inst.offset or 0 for inst in self.emitted]
        instructions = (
            inst if inst.target is None else replace(inst, target=self.index_at(inst.target)) for inst in self.emitted
        )
        return Program(self.code, tuple(instructions), tuple(self._exception_entries()))

    def _apply_rule(self, raw: RawInstruction) -> None:
        rule = self.rules.get(raw.opname)
        if rule is None:
            line = raw.positions.lineno if raw.positions else None
            raise UnsupportedBytecode(
                f"{self.code.co_qualname}, line {line}: the instruction {raw.opname} is not interpreted "
                "(template strings are not supported)."
            )
        rule(self, raw)

    def emit(self, opname: str, argval: Any = None, target: int | None = None) -> None:
        """Add an instruction that stands for the raw one at hand."""
        raw = self.raw[self.position - 1]
        self.emitted.append(Instruction(opname, argval, target, raw.positions, raw.offset))

    @property
    def following(self) -> RawInstruction:
        """The raw instruction after the one at hand."""
        return self.raw[self.position]

    def skip_following(self) -> None:
        self.position += 1

    def index_at(self, offset: int) -> int:
        """The first instruction made from this byte offset, or from a later one if what was here left nothing
        behind."""
        return bisect.bisect_left(self.offsets, offset)

    def _exception_entries(self) -> Iterator[ExceptionEntry]:
        if not self.code.co_exceptiontable:
            return  # no `try`, no `with`
        for start, end, target, depth, lasti in parse_exception_table(self.code.co_exceptiontable):
            entry = ExceptionEntry(self.index_at(start), self.index_at(end), self.index_at(target), depth, lasti)
            if entry.start < entry.end:
                yield entry


def _operand(raw: dis.Instruction, names: Sequence[str]) -> Any:
    """What dis says it means. It names slots by their variables; where two have one name, `names` are the slots."""
    if not names or raw.arg is None or raw.opcode not in dis.hasfree and raw.opcode not in dis.haslocal:
        return raw.argval
    return (names[raw.arg >> 4], names[raw.arg & 15]) if isinstance(raw.argval, tuple) else names[raw.arg]
