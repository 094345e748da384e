"""A table for people and for programs: aligned text, HTML in a notebook, and JSON beside them.

>>> Table(["model", "epoch ms"], [["MLP", 31.25], ["CNN", 4100.0]])
model  epoch ms
MLP       31.25
CNN       4,100
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Table:
    """Columns of numbers stand to the right, the others to the left."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def _is_numeric(self, column: int) -> bool:
        return all(isinstance(row[column], int | float) for row in self.rows)

    def _texts(self) -> list[list[str]]:
        return [[f"{cell:,.6g}" if isinstance(cell, float) else str(cell) for cell in row] for row in self.rows]

    def __repr__(self) -> str:
        texts = [list(self.columns), *self._texts()]
        widths = [max(len(row[column]) for row in texts) for column in range(len(self.columns))]
        lines = []
        for row in texts:
            cells = [
                text.rjust(width) if self._is_numeric(column) else text.ljust(width)
                for column, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _html(self) -> str:
        sides = ["right" if self._is_numeric(column) else "left" for column in range(len(self.columns))]

        def line(cells: Sequence[str], tag: str) -> str:
            written = [f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides)]
            return "<tr>" + "".join(written) + "</tr>"

        body = "".join(line(texts, "td") for texts in self._texts())
        return f"<table><thead>{line(self.columns, 'th')}</thead><tbody>{body}</tbody></table>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        records = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"text/plain": repr(self), "text/html": self._html(), "application/json": records}
