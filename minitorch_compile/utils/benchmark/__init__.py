"""torch.utils.benchmark: times of statements, as many runs as they need, and tables of several.

>>> timer = Timer("x + 1", globals={"x": 1}, label="adding")
>>> measured = timer.timeit(100)
>>> measured.number_per_run, len(measured.times), measured.median > 0
(100, 1, True)
"""

from minitorch_compile.utils.benchmark.compare import Compare
from minitorch_compile.utils.benchmark.measurement import Measurement, TaskSpec, select_unit, trim_sigfig
from minitorch_compile.utils.benchmark.timer import Language, Timer, timer

__all__ = ["Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "trim_sigfig"]
