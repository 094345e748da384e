"""Compare: a table of measurements, a row for each sub_label, a column for each description.

>>> from minitorch_compile.utils.benchmark.measurement import Measurement, TaskSpec
>>> rows = [("loop", 4e-6), ("sum", 1e-6)]
>>> results = [Measurement(1, [t], TaskSpec("s", "pass", "", "adding", name, "100")) for name, t in rows]
>>> print(Compare(results))
[---- adding ----]
            |  100
1 threads: -------
      loop  |    4
      sum   |    1
<BLANKLINE>
Times are in microseconds (us).
<BLANKLINE>
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.utils.benchmark.measurement import Measurement, ordered_unique, select_unit, trim_sigfig

IN_WORDS = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


class Compare:
    """Collects measurements, and shows them side by side."""

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim_significant_figures = False
        self._highlight_warnings = False

    def extend_results(self, results: Any) -> None:
        """More of them. ValueError for what is no Measurement."""
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(each)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Shows only figures that mean something."""
        self._trim_significant_figures = True

    def colorize(self, rowwise: bool = False) -> None:
        """Nothing: tables are plain text here."""

    def highlight_warnings(self) -> None:
        """Marks times that spread by more than a tenth."""
        self._highlight_warnings = True

    def print(self) -> None:
        """Prints the tables."""
        print(self)

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        tables = [
            self._table(label, [m for m in merged if m.task_spec.label == label])
            for label in ordered_unique(m.task_spec.label for m in merged)
        ]
        return "\n".join(tables)

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        unit, scale = select_unit(min(m.median for m in results))
        columns = ordered_unique(m.task_spec.description for m in results)
        rows = ordered_unique((m.task_spec.num_threads, m.task_spec.env, m.as_row_name) for m in results)
        rows = sorted(rows, key=lambda row: row[0])
        found = {
            (m.task_spec.num_threads, m.task_spec.env, m.as_row_name, m.task_spec.description): self._time(m, scale)
            for m in results
        }
        names = [f"      {f'({env}) ' if env else ''}{name}" for _, env, name in rows]
        first = max(map(len, names)) + 2
        widths = [max(len(str(c or "")), *(len(found.get((*row, c), "")) for row in rows)) for c in columns]
        lines = [" " * first + "  ".join(f"|  {c or '':>{w}}" for c, w in zip(columns, widths, strict=True))]
        threads = None
        for row, name in zip(rows, names, strict=True):
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(len(lines[0]), "-"))
            cells = [f"|  {found.get((*row, c), ''):>{w}}" for c, w in zip(columns, widths, strict=True)]
            lines.append(name.ljust(first) + "  ".join(cells))
        title = f" {label or 'Comparison'} ".center(max(len(lines[0]) - 2, 3), "-")
        note = f"\nTimes are in {IN_WORDS[unit]}s ({unit}).\n"
        warned = "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"
        marked = self._highlight_warnings and any(m.has_warnings for m in results)
        return "\n".join([f"[{title}]", *lines, note]) + (warned if marked else "")

    def _time(self, measured: Measurement, scale: float) -> str:
        value = measured.median / scale
        if self._trim_significant_figures:
            value = trim_sigfig(value, measured.significant_figures)
        mark = (
            f"(! {measured.iqr / measured.median:.0%}) " if self._highlight_warnings and measured.has_warnings else ""
        )
        return f"{mark}{value:.0f}" if value >= 100 or value == round(value) else f"{mark}{value:.1f}"
