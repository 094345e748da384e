"""Where control can go in a program: successors, and how many `except` and `with` blocks are open at an instruction.

>>> from minitorch_compile.dynamo.decode import decode
>>> def read(path):
...     with open(path) as file:
...         text = file.read()
...     return text
>>> program = decode(read.__code__)
>>> loads = {inst.argval: index for index, inst in enumerate(program.instructions) if inst.opname == "LOAD_FAST"}
>>> [(name, open_with_blocks(program, loads[name])) for name in ("path", "file", "text")]
[('path', 0), ('file', 1), ('text', 0)]
"""

from __future__ import annotations

from collections.abc import Iterator

from .instructions import Program

# These only move values: the exception table may name a handler for them, but it is never used.
NEVER_RAISES = frozenset(
    {"COPY", "SWAP", "POP_TOP", "PUSH_NULL", "PUSH_EXC_INFO", "POP_EXCEPT", "LOAD_CONST", "STORE_FAST", "JUMP"}
)


def successors(program: Program, index: int) -> Iterator[int]:
    """The instructions that can run next when nothing is raised."""
    inst = program.instructions[index]
    if inst.target is not None:
        yield inst.target
    if inst.falls_through:
        yield index + 1


def can_come_back(program: Program, index: int) -> bool:
    """Whether control can reach the instruction again after it was left: whether it is in a loop.

    A jump backwards alone is no loop: from 3.12 on, handlers stand at the end of the code and jump back behind their
    block.
    """
    seen: set[int] = set()
    pending = [index]
    while pending:
        current = pending.pop()
        following = list(successors(program, current))
        entry = program.handler_of(current)
        if entry is not None and program.instructions[current].opname not in NEVER_RAISES:
            following.append(entry.target)
        if index in following:
            return True
        pending += [position for position in following if position not in seen]
        seen.update(following)
    return False


def handler_depths(program: Program) -> dict[int, int]:
    """For each reachable instruction: in how many `except`/`finally` handlers it is, that is, how many exceptions are
    being handled when it runs in a frame that was called with none."""
    depths: dict[int, int] = {}
    pending = [(0, 0)]
    while pending:
        index, depth = pending.pop()
        if index in depths:
            continue
        depths[index] = depth
        opname = program.instructions[index].opname
        after = depth + (opname == "PUSH_EXC_INFO") - (opname == "POP_EXCEPT")
        pending.extend((next_index, after) for next_index in successors(program, index))
        entry = program.handler_of(index)
        if entry is not None and opname not in NEVER_RAISES:
            pending.append((entry.target, depth))
    return depths


def enclosing_handlers(program: Program, index: int) -> Iterator[int]:
    """The handlers that an exception raised here passes if each raises it again, from the inside out."""
    entry = program.handler_of(index)
    while entry is not None:
        yield entry.target
        entry = program.handler_of(entry.target)


def open_with_blocks(program: Program, index: int) -> int:
    """How many `with` blocks of the function are entered and not left at this instruction."""
    after_push = (program.instructions[handler + 1] for handler in enclosing_handlers(program, index))
    return sum(inst.opname == "WITH_EXCEPT_START" for inst in after_push)
