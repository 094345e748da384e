"""One compiled frame, linked: the user's line, the instructions it became, the graph nodes these left behind.

>>> from minitorch_compile.dynamo.explaining.explain import explain
>>> from minitorch_compile.tensor import ones
>>> def step(x, scale):
...     y = x * scale
...     return y + 1
>>> print(explain(step)(ones(3), 2).frames[0])                                            # doctest: +ELLIPSIS
step, <doctest ...>:1
    2 |     y = x * scale
          0 LOAD_FAST            'x'
          1 LOAD_FAST            'scale'
          2 BINARY_OP            '*'                 mul = x * 2
          3 STORE_FAST           'y'
    3 |     return y + 1
          4 LOAD_FAST            'y'
          5 LOAD_CONST           1
          6 BINARY_OP            '+'                 add = mul + 1
          7 RETURN_VALUE

`scale` has left no trace but a guard: the graph has its value. In a notebook this is a table; pointing at a node marks
the instruction that made it, and the other way round. A loop that was unrolled shows all its nodes beside the one
instruction; an inlined call shows those of its callee, with the callee's line.
"""

from __future__ import annotations

import html
import itertools
import linecache
from collections.abc import Iterator
from dataclasses import dataclass

from minitorch_compile.dynamo.bytecode.control_flow import handler_depths
from minitorch_compile.dynamo.bytecode.instructions import CONDITIONAL_JUMPS, Program
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.resuming.resume import shown_name
from minitorch_compile.dynamo.rewriting.breaking import EMITTERS
from minitorch_compile.fx import Node
from minitorch_compile.fx.expressions import ExpressionWriter
from minitorch_compile.source_place import source_place

SHOWN = 4  # nodes beside one instruction, before "... and 12 more"
COLUMN = 52  # where the nodes begin
BREAK_STYLE = "border-left:3px solid #c33;padding-left:8px;margin:2px"
CELL_STYLE = "text-align:left;vertical-align:top;white-space:pre;font-family:monospace;border-top:1px solid #8884"


@dataclass(frozen=True)
class Row:
    """Instructions that stand one after the other for one line; `nodes` has the texts of each one's graph nodes."""

    line: int | None
    source: str
    instructions: list[tuple[int, str]]
    nodes: dict[int, list[str]]


class FrameView:
    """What became of one frame: `rows` from top to bottom, then the generated function that runs instead."""

    def __init__(self, program: Program, entry: Entry) -> None:
        self.program = program
        self.entry = entry
        code = program.code
        self.name = shown_name(code)
        self.place = source_place(code.co_filename, code.co_firstlineno)
        self.rows = list(self._rows())

    @property
    def generated_code(self) -> str:
        """The Python source of what runs instead of the frame: guards, the graph's call, side effects, the rest."""
        return self.entry.source

    def _rows(self) -> Iterator[Row]:
        nodes = self._nodes()
        instructions = self.program.instructions
        reached = sorted(handler_depths(self.program))
        for line, group in itertools.groupby(reached, key=lambda index: instructions[index].line):
            indices = list(group)
            source = linecache.getline(self.program.code.co_filename, line).rstrip() if line else ""
            texts = [(index, str(instructions[index])) for index in indices]
            yield Row(line, source, texts, {index: nodes[index] for index in indices if index in nodes})

    def _nodes(self) -> dict[int, list[str]]:
        """The graph's nodes, as text, by the instruction of this frame that they come from."""
        found: dict[int, list[str]] = {}
        module = self.entry.graph_module
        for node in module.graph.nodes if module is not None else ():
            if "instruction" in node.meta and node.op != "placeholder":
                found.setdefault(node.meta["instruction"], []).append(self._text(node))
        shown = {index: _shortened(texts) for index, texts in found.items()}
        index = self._break_index()
        if index is not None:
            shown.setdefault(index, []).append("--- the graph breaks here ---")
        return shown

    def _break_index(self) -> int | None:
        """The instruction at which tracing stopped: the last one of the expression that is named."""
        broken = self.entry.graph_break
        if broken is None:
            return None
        here = broken.stack[0]
        found = None
        for index, inst in enumerate(self.program.instructions):
            at = inst.positions
            if at and (at.lineno, at.col_offset, at.end_col_offset) == (here.lineno, here.start, here.end):
                found = index if inst.opname in EMITTERS or inst.opname in CONDITIONAL_JUMPS else found
        return found

    def _text(self, node: Node) -> str:
        text = f"{node.name} = {ExpressionWriter().expression(node)}"
        filename, line, _ = node.meta["stack"]
        inlined = (filename, line) not in self._own_lines()
        return f"{text}  # {source_place(filename, line)}" if inlined else text

    def _own_lines(self) -> set[tuple[str, int | None]]:
        return {(self.program.code.co_filename, inst.line) for inst in self.program.instructions}

    # --- showing ------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        lines = [f"{self.name}, {self.place}"]
        for row in self.rows:
            lines.append(f"{row.line or '':5} | {row.source}".rstrip())
            for index, text in row.instructions:
                lines += _beside(f"{index:11} {text}", row.nodes.get(index, []))
        if self.entry.graph_break is not None:
            lines += ["", self.entry.graph_break.describe()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        view = f"frame{id(self)}"
        head = "<tr><th>line</th><th>instructions</th><th>graph</th></tr>"
        body = "".join(map(self._html_row, self.rows))
        broken = self.entry.graph_break
        shown = f"<pre style='{BREAK_STYLE}'>{html.escape(broken.describe())}</pre>" if broken else ""
        generated = f"<details><summary>what runs instead</summary><pre>{html.escape(self.generated_code)}</pre>"
        title = f"<p><b>{html.escape(self.name)}</b>, {html.escape(self.place)}</p>"
        table = f"<table>{head}{body}</table>"
        return f"<div id='{view}'>{self._style(view)}{title}{table}{shown}{generated}</details></div>"

    def _html_row(self, row: Row) -> str:
        source = f"{row.line or ''}  {html.escape(row.source)}"
        middle = "".join(
            f"<span class='i{index}'>{index:3} {html.escape(text)}</span>\n" for index, text in row.instructions
        )
        right: list[str] = []
        for position, (index, _) in enumerate(row.instructions):
            texts = row.nodes.get(index, [])
            right += [""] * (position - len(right) if texts else 0)  # level with the instruction, if there is room
            right += [f"<span class='i{index}'>{html.escape(text)}</span>" for text in texts]
        cells = "".join(f"<td style='{CELL_STYLE}'>{text}</td>" for text in (source, middle, "\n".join(right)))
        return f"<tr>{cells}</tr>"

    def _style(self, view: str) -> str:
        """Pointing at one end of a link marks both: no script, so it works in exported pages too."""
        linked = sorted(index for row in self.rows for index in row.nodes)
        rules = (f"#{view}:has(.i{i}:hover) .i{i}{{background:#fc06}}" for i in linked)
        return f"<style>{''.join(rules)}</style>"


def _shortened(texts: list[str]) -> list[str]:
    more = len(texts) - SHOWN
    return texts if more <= 0 else [*texts[:SHOWN], f"... and {more} more"]


def _beside(left: str, right: list[str]) -> list[str]:
    """An instruction with its nodes to the right, one a line."""
    first, *rest = right or [""]
    return [f"{left.ljust(COLUMN)} {first}".rstrip(), *(f"{'':{COLUMN}} {text}" for text in rest)]
