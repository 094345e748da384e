"""What a Timer gives: times, and what they are of.

>>> measured = Measurement(10, [10.0, 20.0, 30.0], TaskSpec("f()", "pass"))
>>> measured.median, measured.mean, select_unit(measured.median)
(2.0, 2.0, ('s', 1.0))
>>> measured
<minitorch_compile.utils.benchmark.utils.common.Measurement object at 0x...>
f()
  Median: 2.00 s
  3 measurements, 10 runs per measurement, 1 thread
  WARNING: Interquartile range is 50.0% of the median measurement.
           This suggests significant environmental influence.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
ENOUGH = 4  # measurements, for their spread to be shown
WIDE, TOO_WIDE = 0.1, 0.25  # spreads, as a share of the median, of which a measurement warns
LEAST_WIDTH = 2.5e-8  # seconds: no median is known better
MOST_FIGURES = 4


@dataclass(frozen=True)
class TaskSpec:
    """What was measured, and how it is called in a table."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """Label and sub_label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup, if there is one."""
        if self.setup in ("pass", ""):
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """All of it in some lines; a blank one after what takes several."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join(f"{part}\n" if "\n" in part else part for part in parts if part)


@dataclass
class Measurement:
    """Times of several runs: `raw_times` of `number_per_run` each."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__ or name == "title":
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """The seconds of one run, in each measurement."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        return float(np.median(self._some()))

    @property
    def mean(self) -> float:
        return float(np.mean(self._some()))

    @property
    def iqr(self) -> float:
        """How far the middle half of the times spreads."""
        low, high = np.quantile(self._some(), [0.25, 0.75])
        return float(high - low)

    def _some(self) -> list[float]:
        if not self.raw_times:
            raise ValueError("Measurement: there are no times")
        return self.times

    @property
    def significant_figures(self) -> int:
        """How many figures of the median mean something, by the spread of the middle half of the times."""
        times = sorted(self._some())
        middle = times[len(times) // 4 : math.ceil(3 * len(times) / 4)]
        width = max(1.645 * float(np.std(middle)) / math.sqrt(len(middle)), LEAST_WIDTH)
        return min(max(math.floor(math.log10(self.median / width)), 1), MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times spread so much that they should not be trusted."""
        return self._warning() != ""

    def _warning(self) -> str:
        if self.meets_confidence():
            return ""
        advice = (
            "This could indicate system fluctuation."
            if self.meets_confidence(TOO_WIDE)
            else "This suggests significant environmental influence."
        )
        share = f"{self.iqr / self.median * 100:.1f}%"
        return f"  WARNING: Interquartile range is {share} of the median measurement.\n           {advice}"

    def meets_confidence(self, threshold: float = WIDE) -> bool:
        """Whether the spread of the times is below that share of their median."""
        return self.iqr / self.median < threshold

    @property
    def as_row_name(self) -> str:
        return self.sub_label or self.stmt or "[Unknown]"

    @property
    def title(self) -> str:
        return self.task_spec.title

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Those of the same task as one each."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for measured in measurements:
            groups.setdefault(measured.task_spec, []).append(measured)
        return [Measurement(1, [t for m in group for t in m.times], spec) for spec, group in groups.items()]

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        threads = f"{self.task_spec.num_threads} thread{'s' if self.task_spec.num_threads > 1 else ''}"
        lines = [object.__repr__(self), self.task_spec.summarize()]
        if len(self.times) == 1:
            counts = f"  1 measurement, {self.number_per_run} runs , {threads}"  # the blank is PyTorch's
            return "\n".join([*lines, f"  {self.median / scale:.2f} {unit}", counts])
        lines.append(f"  Median: {self.median / scale:.2f} {unit}")
        if len(self.times) >= ENOUGH:
            low, high = (x / scale for x in np.quantile(self.times, [0.25, 0.75]))
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(f"  {len(self.times)} measurements, {self.number_per_run} runs per measurement, {threads}")
        return "\n".join([*lines, *filter(None, [self._warning()])])


Measurement.__module__ = "minitorch_compile.utils.benchmark.utils.common"  # as PyTorch shows it


def select_unit(t: float) -> tuple[str, float]:
    """A unit in which a time has few digits, and how many seconds it has."""
    power = math.log10(t) // 3 if t > 0 else -3
    name = {-3: "ns", -2: "us", -1: "ms"}.get(int(min(max(power, -3), 0)), "s")
    return name, UNITS[name]


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to n figures.

    >>> trim_sigfig(1234.5, 2)
    1200.0
    """
    if x == 0:
        return 0.0
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements: Iterable[Any]) -> Sequence[Any]:
    """Each once, in the order in which they come."""
    return list(dict.fromkeys(elements))
