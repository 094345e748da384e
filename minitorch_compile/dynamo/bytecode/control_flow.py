"""Where control can go in a program: successors, loops, and the blocks that handle an exception.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> def count(items):
...     total = 0
...     for item in items:
...         total += 1
...     return total
>>> program = decode(count.__code__)
>>> [inst.opname for index, inst in enumerate(program.instructions) if can_come_back(program, index)][:3]
['FOR_ITER', 'STORE_FAST', 'LOAD_FAST']
"""

from __future__ import annotations

from collections.abc import Iterator

from minitorch_compile.dynamo.bytecode.instructions import Program

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
    return index in reachable(program, index)


def reachable(program: Program, index: int) -> set[int]:
    """The instructions that control can come to after this one, handlers included."""
    seen: set[int] = set()
    pending = [index]
    while pending:
        current = pending.pop()
        following = list(successors(program, current))
        entry = program.handler_of(current)
        if entry is not None and program.instructions[current].opname not in NEVER_RAISES:
            following.append(entry.target)
        pending += [position for position in following if position not in seen]
        seen.update(following)
    return seen


def is_written_after(program: Program, index: int, slot: str) -> bool:
    """Whether the slot may lose its value behind the instruction, before the frame ends."""
    later = (program.instructions[position] for position in reachable(program, index))
    return any(inst.opname in ("STORE_FAST", "DELETE_FAST") and inst.argval == slot for inst in later)


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


def caught_names(program: Program, handler: int) -> list[str] | None:
    """The global names of the classes that a handler asks an exception for, if it raises all others again.

    None if it does something with any exception, as `finally` and `with` do, or asks in another way.

    >>> from minitorch_compile.dynamo.bytecode.decode import decode
    >>> def first(items):
    ...     try:
    ...         return items[0]
    ...     except IndexError:
    ...         return None
    >>> program = decode(first.__code__)
    >>> handlers = [at for at, inst in enumerate(program.instructions) if inst.opname == "PUSH_EXC_INFO"]
    >>> [caught_names(program, handler) for handler in handlers]
    [['IndexError']]
    """
    names, index = [], handler + 1
    while program.instructions[index].opname != "RERAISE":
        asked = program.instructions[index : index + 3]
        if [inst.opname for inst in asked] != ["LOAD_GLOBAL", "CHECK_EXC_MATCH", "POP_JUMP_IF_FALSE"]:
            return None
        names.append(asked[0].argval)
        assert asked[2].target is not None
        index = asked[2].target
    return names


def enclosing_handlers(program: Program, index: int) -> Iterator[int]:
    """The handlers that an exception raised here passes if each raises it again, from the inside out."""
    entry = program.handler_of(index)
    while entry is not None:
        yield entry.target
        entry = program.handler_of(entry.target)
