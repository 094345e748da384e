"""Assemble: a program of normalised instructions becomes a code object of the running CPython version.

Three steps. *Lower*: each instruction becomes raw instructions by the rules of `assemble_rules.py`; jumps name
labels. *Lay out*: byte offsets, with EXTENDED_ARG prefixes and inline caches, until the jumps fit. *Write*:
instructions, constants, names, exception table, location table, stack size.

>>> from dataclasses import replace
>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> def clamp(x, low=0):
...     return low if x < low else x
>>> program = decode(clamp.__code__)
>>> worse = tuple(replace(i, argval=">") if i.opname == "COMPARE_OP" else i for i in program.instructions)
>>> clamp.__code__ = assemble(replace(program, instructions=worse))
>>> clamp(-3), clamp(3)
(-3, 0)
"""

from __future__ import annotations

import dis
import opcode
import sys
import types
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from dis import Positions

from minitorch_compile.dynamo.bytecode.assemble_rules import rules_for
from minitorch_compile.dynamo.bytecode.decode_rules import UnsupportedBytecode
from minitorch_compile.dynamo.bytecode.exception_table import ByteRange, encode_exception_table
from minitorch_compile.dynamo.bytecode.instructions import Instruction, Program
from minitorch_compile.dynamo.bytecode.location_table import encode_location_table
from minitorch_compile.frame_marks import generated


def assemble(program: Program) -> types.CodeType:
    """A code object that runs the program; everything but the instructions (names, flags, file) comes from
    `program.code`."""
    return generated(Assembler(program).code())


@dataclass(slots=True)
class RawOp:
    """One CPython instruction being laid out. `target` is a label; `arg` of a jump is known only once offsets are."""

    opname: str
    arg: int
    target: Hashable
    positions: Positions | None
    prefixes: int = 0  # EXTENDED_ARG before it

    @property
    def opcode(self) -> int:
        return opcode.opmap[self.opname]

    @property
    def caches(self) -> int:
        """Code units of inline cache after it. `opcode` keeps the table by name since 3.13, by number before."""
        table = opcode._inline_cache_entries  # type: ignore[attr-defined]
        return table.get(self.opname, 0) if isinstance(table, dict) else table[self.opcode]

    @property
    def units(self) -> int:
        return self.prefixes + 1 + self.caches


class Assembler:
    """Collects raw instructions and labels from the rules, then writes the code object. A label is an instruction's
    index, a landing (below), or a `new_label()`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.version = sys.version_info[:2]
        self.rules = rules_for(self.version)
        self.ops: list[RawOp] = []
        self.labels: dict[Hashable, int] = {}  # label -> index in ops
        self.consts = list(program.code.co_consts[:1])  # the first one is the docstring
        self.const_index = {id(const): index for index, const in enumerate(self.consts)}
        self.names: dict[str, int] = {}
        self.slots = {name: index for index, name in enumerate(program.slot_names)}
        self.landings: dict[int, set[str]] = {}  # instruction index -> opnames that need a landing before it
        self.index = 0
        self.positions: Positions | None = None

    # --- what the rules call ------------------------------------------------------------------------------------------

    def emit(self, opname: str, arg: int = 0) -> None:
        self.ops.append(RawOp(opname, arg, None, self.positions))

    def emit_jump(self, opname: str, label: Hashable) -> None:
        self.ops.append(RawOp(opname, 0, label, self.positions))

    def emit_truth_test(self) -> None:
        """From 3.13 on, jumps and `not` want an exact bool."""
        if self.version >= (3, 13):
            self.emit("TO_BOOL")

    def emit_not_taken(self) -> None:
        """From 3.14 on, monitoring wants a mark where a conditional jump was not taken."""
        if self.version >= (3, 14):
            self.emit("NOT_TAKEN")

    def const(self, value: object) -> int:
        """By identity, so that 1, 1.0 and True stay apart; `self.consts` keeps the ids valid."""
        if id(value) not in self.const_index:
            self.const_index[id(value)] = len(self.consts)
            self.consts.append(value)
        return self.const_index[id(value)]

    def name(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))

    def slot(self, name: str) -> int:
        return self.slots[name]

    def new_label(self) -> Hashable:
        return object()

    def place(self, label: Hashable) -> None:
        """The label means whatever is emitted next."""
        self.labels[label] = len(self.ops)

    def is_backward(self, inst: Instruction) -> bool:
        assert inst.target is not None
        return inst.target <= self.index

    def landing_of(self, inst: Instruction) -> Hashable:
        """Where a FOR_ITER or SEND jumps to from 3.12 on, see `_emit_landings`."""
        return self._own_landing(inst) or (inst.opname, inst.target)

    def _own_landing(self, inst: Instruction) -> int | None:
        """The END_SEND that the program itself has before the target of this SEND."""
        assert inst.target is not None
        before = inst.target - 1
        ends = inst.opname == "SEND" and self.program.instructions[before].opname == "END_SEND"
        return before if ends else None

    # --- lowering -----------------------------------------------------------------------------------------------------

    def lower(self) -> None:
        """Fill `ops` and `labels`."""
        self._find_landings()
        start = self._prologue_end()
        if self.program.code.co_freevars:
            self.emit("COPY_FREE_VARS", len(self.program.code.co_freevars))
        for index, inst in enumerate(self.program.instructions):
            self.index = index
            if index == start:
                self.emit("RESUME", 0)
            self.positions = inst.positions
            self._emit_landings()
            self.place(index)
            self._apply_rule(inst)
        self.place(len(self.program.instructions))

    def _apply_rule(self, inst: Instruction) -> None:
        if inst.opname not in self.rules:
            version = ".".join(map(str, self.version))
            raise UnsupportedBytecode(
                f"assemble: CPython {version} has nothing for {inst}. Was the program decoded by another version?"
            )
        self.rules[inst.opname](self, inst)

    def _prologue_end(self) -> int:
        """How many instructions come before RESUME: the cells, and for a generator its making."""
        instructions = self.program.instructions
        end = 0
        while instructions[end].opname == "MAKE_CELL":
            end += 1
        return end + 2 if instructions[end].opname == "RETURN_GENERATOR" else end

    def _find_landings(self) -> None:
        if self.version == (3, 11):
            return
        for inst in self.program.instructions:
            if inst.opname in ("FOR_ITER", "SEND") and inst.target is not None and not self._own_landing(inst):
                self.landings.setdefault(inst.target, set()).add(inst.opname)

    def _emit_landings(self) -> None:
        """From 3.12 on, FOR_ITER and SEND leave their iterator on the stack when they jump, and must jump to an
        instruction that removes it. Ours remove it themselves, so that instruction goes before their target."""
        for opname in sorted(self.landings.get(self.index, ())):
            if self.program.instructions[self.index - 1].falls_through:
                self.emit_jump("JUMP_FORWARD", self.index)
            self.place((opname, self.index))
            self.emit("END_FOR" if opname == "FOR_ITER" else "END_SEND")
            if opname == "FOR_ITER" and self.version >= (3, 13):
                self.emit("POP_TOP" if self.version == (3, 13) else "POP_ITER")

    # --- layout -------------------------------------------------------------------------------------------------------

    def lay_out(self) -> None:
        """Give every jump its operand and every large operand its prefixes. Prefixes only grow, so this ends."""
        changed = True
        while changed:
            self._set_offsets()
            changed = False
            for position, op in enumerate(self.ops):
                if op.target is not None:
                    op.arg = self._distance(position, op)
                prefixes = max(op.prefixes, (op.arg.bit_length() - 1) // 8) if op.arg else op.prefixes
                changed |= prefixes != op.prefixes
                op.prefixes = prefixes

    def _set_offsets(self) -> None:
        """`self.offsets[i]`: the code unit where `ops[i]` starts, its prefixes included; the last one is the end."""
        self.offsets = [0]
        for op in self.ops:
            self.offsets.append(self.offsets[-1] + op.units)

    def _distance(self, position: int, op: RawOp) -> int:
        """Jumps count code units from behind the instruction and its caches."""
        forward = self.offsets[self.labels[op.target]] - self.offsets[position + 1]
        return -forward if "BACKWARD" in op.opname else forward

    # --- writing ------------------------------------------------------------------------------------------------------

    def code(self) -> types.CodeType:
        self.lower()
        self.lay_out()
        template = self.program.code
        spans = [(op.positions, op.units) for op in self.ops]
        return template.replace(
            co_code=b"".join(self._encoded(op) for op in self.ops),
            co_consts=tuple(self.consts),
            co_names=tuple(self.names),
            co_exceptiontable=encode_exception_table(self._byte_ranges()),
            co_linetable=encode_location_table(spans, template.co_firstlineno),
            co_stacksize=max(self._stack_size(), template.co_stacksize),
        )

    def _encoded(self, op: RawOp) -> bytes:
        units = bytearray()
        for shift in range(8 * op.prefixes, 0, -8):
            units += bytes((opcode.EXTENDED_ARG, op.arg >> shift & 0xFF))
        units += bytes((op.opcode, op.arg & 0xFF))
        return bytes(units) + bytes(2 * op.caches)

    def _byte_ranges(self) -> Iterator[ByteRange]:
        for entry in self.program.exception_table:
            start, end, target = (2 * self.offsets[self.labels[i]] for i in (entry.start, entry.end, entry.target))
            yield ByteRange(start, end, target, entry.depth, entry.lasti)

    def _stack_size(self) -> int:
        """The deepest stack on any path, from the effect of each raw instruction."""
        depths: dict[int, int] = {}
        deepest = 0
        handlers = [(self.labels[e.target], e.depth + e.lasti + 1) for e in self.program.exception_table]
        pending = [(0, 0), *handlers]
        while pending:
            position, depth = pending.pop()
            if position >= len(self.ops) or depths.get(position, -1) >= depth:
                continue
            depths[position] = depth
            deepest = max(deepest, depth)
            pending.extend(self._successors(position, depth))
        return deepest

    def _successors(self, position: int, depth: int) -> Iterator[tuple[int, int]]:
        op = self.ops[position]
        arg = op.arg if op.opcode >= opcode.HAVE_ARGUMENT else None
        if op.target is not None:
            yield self.labels[op.target], depth + dis.stack_effect(op.opcode, op.arg, jump=True)
        if op.opname not in ("JUMP_FORWARD", "JUMP_BACKWARD", "RETURN_VALUE", "RAISE_VARARGS", "RERAISE"):
            pushed = op.opname == "RETURN_GENERATOR"  # CPython counts the first sent value elsewhere
            yield position + 1, depth + (1 if pushed else dis.stack_effect(op.opcode, arg, jump=False))
