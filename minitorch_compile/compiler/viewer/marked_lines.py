"""Which node of the prims each line of a loop or a kernel was written for.

Whoever writes lines knows the origin of each. Where `names_nodes` is set, its text ends with a mark, which is read from
the finished lines, and taken out of them. A line without a mark belongs to what it mentions:

>>> text = ["# exp: train.py:3 \\u27e6exp_1\\u27e7", "t1 = exp(t0)", "out0[i0] = t1"]
>>> for line, nodes in kernel_lines(text):
...     print(line, nodes)
t1 = exp(t0) ['exp_1']
out0[i0] = t1 ['exp_1']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from minitorch_compile.inductor.ir.printer import PrintHandler

MARK = re.compile(r" ?\u27e6([^\u27e7]*)\u27e7")
VARIABLE = re.compile(r"\b[a-z_]*\d[\w]*\b")
ASSIGNED = re.compile(r"\s*(\w+) = ")

Marked = tuple[str, list[str]]  # a line, and the names of nodes


class MarkedPrinter(PrintHandler):
    """Marks each line of a loop body with the node that it computes."""

    def line(self, text: str) -> str:
        return super().line(f"{text} \u27e6{self.origin.node}\u27e7" if self.origin is not None else text)


def loop_lines(lines: Sequence[str]) -> Iterator[Marked]:
    """The lines of a printed loop without marks, each with its nodes."""
    known: dict[str, list[str]] = {}
    for line in lines:
        yield _with_nodes(MARK.sub("", line), MARK.findall(line), known)


def kernel_lines(lines: Sequence[str]) -> Iterator[Marked]:
    """The lines of a kernel without its comments. A comment is about the lines below it in the same block."""
    known: dict[str, list[str]] = {}
    comments: list[tuple[int, list[str]]] = []  # of the blocks that are open, with their indentation
    for line in lines:
        indent = len(line) - len(line.lstrip())
        while comments and comments[-1][0] > indent:
            comments.pop()
        if line.lstrip().startswith("#"):
            while comments and comments[-1][0] == indent:
                comments.pop()
            comments.append((indent, MARK.findall(line)))
            continue
        about = comments[-1][1] if comments and comments[-1][0] == indent and re.match(r"\s*t\d+ = ", line) else []
        yield _with_nodes(line, about, known)


def _with_nodes(line: str, nodes: list[str], known: dict[str, list[str]]) -> Marked:
    if not nodes:
        nodes = list(dict.fromkeys(node for name in VARIABLE.findall(line) for node in known.get(name, ())))
    assigned = ASSIGNED.match(line)
    if assigned:
        known[assigned[1]] = list(dict.fromkeys([*known.get(assigned[1], ()), *nodes]))
    return line, nodes
