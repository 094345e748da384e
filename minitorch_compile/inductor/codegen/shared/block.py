"""The text of a kernel while it is being written: a tree of indented blocks.

Lines can be added to any open block, so a value that doesn't change in a loop is written before the loop that is being
filled. Stores wait for the end of their block: within one iteration, everything is read before anything is overwritten.

>>> kernel = Block("def double(lo, hi, x):")
>>> loop = kernel.open("for i in range(lo, hi):")
>>> loop.add("t0 = x[i]")
>>> kernel.add("two = float32(2)")
>>> loop.store("x[i] = t0 * two")
>>> loop.close()
>>> print(kernel.text())
def double(lo, hi, x):
    two = float32(2)
    for i in range(lo, hi):
        t0 = x[i]
        x[i] = t0 * two
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from minitorch_compile.inductor.ir.index import Symbol
from minitorch_compile.tensor.numerics.dtype import dtype


class Value(NamedTuple):
    """An element in generated code: the name of a variable, its dtype, and the block in which it was computed."""

    name: str
    dtype: dtype
    block: Block


class Block:
    """A header and the indented lines below it. `variables` are the loop variables that the header binds.

    `confines`: what is computed inside stays there, even if it could be known outside, because a condition forbids it.
    """

    def __init__(self, header: str, parent: Block | None = None, variables: frozenset[Symbol] = frozenset()) -> None:
        self.header = header
        self.parent = parent
        self.variables = variables
        self.depth: int = parent.depth + 1 if parent else 0
        self.confines = header.startswith("if ")
        self.known: dict[str, Value] = {}  # expression -> the value that it has in this block
        self._lines: list[str | Block] = []
        self._stores: list[str] = []
        self._waiting: set[Hashable] = set()  # what the stores write
        self._last_comment = ""

    def open(self, header: str, variables: frozenset[Symbol] = frozenset()) -> Block:
        """A block inside this one; its text goes where it is closed."""
        return Block(header, self, variables)

    def close(self) -> None:
        """Puts the block into its parent, unless it is empty."""
        assert self.parent is not None
        self.flush()
        if self._lines:
            self.parent._lines.append(self)

    def flush(self) -> None:
        """Puts the stores so far here: what follows reads what they wrote."""
        self._lines += self._stores
        self._stores = []
        self._waiting.clear()

    def add(self, line: str) -> None:
        self._lines.append(line)

    def comment(self, text: str) -> None:
        """A comment above the next line, unless the one above it says the same."""
        if text != self._last_comment:
            self._lines.append(f"# {text}")
            self._last_comment = text

    def store(self, line: str, target: Hashable = None) -> None:
        """A line for the end of the block, which writes to `target`."""
        self._stores.append(line)
        self._waiting.add(target)

    def waits(self, target: Hashable) -> bool:
        """Whether a store to `target` waits in this block or one around it: a load would come too early."""
        return any(target in block._waiting for block in self.around())

    def find(self, expression: str) -> Value | None:
        """The value of an expression that this block or one around it has computed."""
        block: Block | None = self
        while block is not None:
            if expression in block.known:
                return block.known[expression]
            block = block.parent
        return None

    def around(self) -> Iterator[Block]:
        """This block and those around it, outermost last."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def text(self, indent: str = "") -> str:
        lines = [indent + self.header] if self.header else []
        inner = indent + "    " if self.header else indent
        for line in [*self._lines, *self._stores]:
            lines.append(line.text(inner) if isinstance(line, Block) else inner + line)
        return "\n".join(lines)
