"""A compiled program for each way in which its arguments lie in memory, as far as that matters to it.

It rarely does. A program that overwrites an argument must know who shares the argument's memory (`shared_memory.py`),
and one that calls as_strided with an offset counts from the start of the memory, wherever the argument begins in it.

>>> from minitorch_compile.aot.aot_function import aot_function
>>> from minitorch_compile.aot.interpret import interpret
>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.tensor import arange
>>> doubled_first = aot_function(symbolic_trace(lambda x, y: (x.mul_(2), y + 0)), [arange(3), arange(3)], interpret)
>>> whole = arange(4)
>>> doubled_first(whole[:3], whole[1:])[1]                # y sees what was written to x
tensor([2, 4, 3])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.aot.aliasing.shared_memory import Sharing, repeats_elements, sharing_of
from minitorch_compile.aot.call_compiler import CompiledGraph
from minitorch_compile.aot.functional_program import FunctionalProgram
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like
from minitorch_compile.user_warnings import warn_user

Compile = Callable[[Sequence[Any], Sharing | None], CompiledGraph]


class ForEachLayout:
    """The program, compiled by `compile_for` when arguments come that lie in a new way.

    `compiled` is for arguments that lie as `examples` do. Where a program can't be compiled for a way, `plain` runs,
    and a warning says so.
    """

    def __init__(
        self,
        program: FunctionalProgram,
        compiled: CompiledGraph,
        examples: Sequence[Any],
        compile_for: Compile,
        plain: Callable[..., Any],
    ) -> None:
        self.compiled = compiled
        self.compile_for = compile_for
        self.plain = plain
        self.written = frozenset(m.input for m in program.mutations)
        self.placed = tuple(program.placed)
        self.seen = self.offsets(examples)
        self.repeats = any(repeats_elements(examples[i]) for i in self.written)
        self.others: dict[Any, CompiledGraph | NotImplementedError] = {}

    def offsets(self, arguments: Sequence[Any]) -> tuple[int, ...]:
        """Where those arguments begin of which that matters."""
        return tuple(arguments[i].offset for i in self.placed)

    def __call__(self, *arguments: Any) -> Any:
        storages = [x.storage for x in arguments if isinstance(x, TensorBase)]
        offsets = self.offsets(arguments)
        if offsets == self.seen and len(set(storages)) == len(storages) and not self.repeats:
            return self.compiled(*arguments)
        try:
            sharing = sharing_of(arguments, self.written)
            if sharing is None and offsets == self.seen:
                return self.compiled(*arguments)
            compiled = self.compiled_for(arguments, offsets, sharing)
        except NotImplementedError as error:
            warn_user(f"{error}; the function runs uncompiled this time")
            return self.plain(*arguments)
        return compiled(*arguments, *(sharing.bases if sharing else ()))

    def compiled_for(
        self, arguments: Sequence[Any], offsets: tuple[int, ...], sharing: Sharing | None
    ) -> CompiledGraph:
        """The program for arguments like these, made on first use. NotImplementedError if it can't be."""
        key = offsets, sharing and sharing.key(arguments)
        if key not in self.others:
            try:
                _check_sizes(arguments)
                self.others[key] = self.compile_for([fake_like(x) for x in arguments], sharing)
            except NotImplementedError as error:
                self.others[key] = error
        found = self.others[key]
        if isinstance(found, NotImplementedError):
            raise found
        return found


def _check_sizes(arguments: Sequence[Any]) -> None:
    """NotImplementedError if the graph is for unknown sizes: the sizes are numbers among its arguments."""
    if any(isinstance(x, int) for x in arguments):
        raise NotImplementedError(
            "aot: arguments of unknown sizes share memory that is overwritten, or lie at another offset than as_strided"
            " was traced for; compile with dynamic=False, or pass a clone() of one"
        )
