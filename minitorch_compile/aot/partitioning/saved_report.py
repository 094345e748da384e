"""What a partition keeps in memory from the forward to the backward pass, in bytes.

>>> from minitorch_compile.aot.joint_graph import trace_joint
>>> from minitorch_compile.aot.partitioning.min_cut import min_cut_partition
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake
>>> x, w = empty_fake((8, 8)), empty_fake((8, 8))
>>> w.requires_grad = True
>>> joint = trace_joint(trace(lambda x, w: ((x @ w).sin().exp().cos(),), [x, w]), [True])
>>> print(min_cut_partition(joint).report)
saves 2 tensors, 512 bytes, 256 of them arguments (without recomputation 768 bytes)
  mm  f32[8, 8]  256 bytes
  x   f32[8, 8]  256 bytes, an argument
computes again: sin, exp
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field

from minitorch_compile.aot.partitioning.recomputation import is_constant, is_float, is_size, is_view, total_bytes
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import value_text

MOST_NAMES = 12


def is_work(node: Node) -> bool:
    """Whether a node computes something: views, constants and the items of tuples cost nothing."""
    computes = node.op == "call_function" and node.target is not operator.getitem
    return computes and not (is_view(node) or is_constant(node) or is_size(node) or is_float(node))


@dataclass
class SavedReport:
    """What a partition saves. `bytes_if_all_saved` is what `default_partition` saves, which computes next to nothing
    again; `recomputed` are the operations of the forward pass that the backward pass does again, views apart."""

    saved: list[Node]
    bytes_if_all_saved: int
    recomputed: list[Node] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return total_bytes(self.saved)

    @property
    def argument_bytes(self) -> int:
        """Of the saved bytes those of arguments, which are in memory anyway."""
        return total_bytes(node for node in self.saved if node.op == "placeholder")

    def summary(self) -> str:
        """The first line."""
        return (
            f"saves {len(self.saved)} tensors, {self.bytes} bytes, {self.argument_bytes} of them arguments"
            f" (without recomputation {self.bytes_if_all_saved} bytes)"
        )

    def __str__(self) -> str:
        names = max((len(node.name) for node in self.saved), default=0)
        sizes = max((len(value_text(node.meta["val"])) for node in self.saved), default=0)
        rows = [self._row(node, names, sizes) for node in self.saved]
        return "\n".join([self.summary(), *rows, *_names_of(self.recomputed)])

    def _row(self, node: Node, names: int, sizes: int) -> str:
        argument = ", an argument" if node.op == "placeholder" else ""
        text = value_text(node.meta["val"])
        return f"  {node.name.ljust(names)}  {text.ljust(sizes)}  {total_bytes([node])} bytes{argument}"


def _names_of(recomputed: Sequence[Node]) -> list[str]:
    """One line, or none."""
    names = [node.name for node in recomputed[:MOST_NAMES]]
    if len(recomputed) > MOST_NAMES:
        names.append(f"and {len(recomputed) - MOST_NAMES} more")
    return [f"computes again: {', '.join(names)}"] if names else []
