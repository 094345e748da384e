"""A table: aligned text, HTML in a notebook, and for programs its records.

>>> Table([{"model": "MLP", "epoch ms": 31.25}, {"model": "CNN", "epoch ms": 4100.0}])
model  epoch ms
MLP       31.25
CNN       4,100
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

RECORDS = "application/vnd.minitorch_compile.table+json"


@dataclass(frozen=True)
class Table:
    """One row a record, all with the same keys. Columns of numbers stand to the right, the others to the left."""

    records: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> list[str]:
        return list(self.records[0]) if self.records else []

    def _is_numeric(self, column: str) -> bool:
        return all(isinstance(record[column], int | float) for record in self.records)

    def _texts(self) -> list[list[str]]:
        return [[_text(record[column]) for column in self.columns] for record in self.records]

    def __repr__(self) -> str:
        rows = [self.columns, *self._texts()]
        widths = [max(map(len, cells)) for cells in zip(*rows)]
        right = [self._is_numeric(column) for column in self.columns]
        lines = []
        for row in rows:
            cells = [text.rjust(w) if number else text.ljust(w) for text, w, number in zip(row, widths, right)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _html(self) -> str:
        sides = ["right" if self._is_numeric(column) else "left" for column in self.columns]

        def line(cells: Sequence[str], tag: str) -> str:
            written = [f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides)]
            return "<tr>" + "".join(written) + "</tr>"

        body = "".join(line(texts, "td") for texts in self._texts())
        return f"<table><thead>{line(self.columns, 'th')}</thead><tbody>{body}</tbody></table>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        # The records are not under application/json: JupyterLab would show those, folded, instead of the table.
        return {"text/plain": repr(self), "text/html": self._html(), RECORDS: list(map(dict, self.records))}


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}" if isinstance(value, float) else str(value)
