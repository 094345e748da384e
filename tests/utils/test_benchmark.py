"""torch.utils.benchmark: timers, measurements, tables."""

import pytest

import minitorch_compile as torch
from minitorch_compile.utils.benchmark import Compare, Measurement, TaskSpec, Timer, select_unit


def test_a_statement_is_run_in_blocks():
    seen = []
    timer = Timer("x + 1", globals={"x": torch.ones(2)}, label="add", num_threads=1)
    measured = timer.blocked_autorange(callback=lambda number, time: seen.append(number), min_run_time=0.01)
    assert sum(measured.raw_times) >= 0.01
    assert seen == [measured.number_per_run] * len(measured.raw_times)
    assert timer.timeit(5).number_per_run == 5
    assert timer.adaptive_autorange(max_run_time=0.02).median > 0


def test_statements_stand_indented_and_know_torch():
    timer = Timer(
        """
        y = x + 1
        y.relu()
        """,
        setup="""
            x = torch.ones(2)
        """,
    )
    measured = timer.timeit(2)
    assert (measured.task_spec.stmt, measured.task_spec.setup) == ("y = x + 1\ny.relu()", "x = torch.ones(2)")
    with pytest.raises(ValueError, match="global_setup is C\\+\\+ only, got `#include <a>`. Most likely this code can"):
        Timer("pass", global_setup="#include <a>")


def test_what_is_no_statement_is_refused():
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        Timer(len)
    with pytest.raises(NotImplementedError, match="blocked_autorange"):
        Timer("pass").repeat()


def test_a_measurement_shows_statements_of_several_lines_and_warns_as_pytorch_does():
    spec = TaskSpec("a\nb", "c\nd", sub_label="s", description="D")
    shown = repr(Measurement(1, [1.0, 1.0, 1.2, 1.3, 1.2], spec)).split("\n", 1)[1]
    assert shown == (
        "stmt: (s)\n  a\n  b\n\nD\nsetup:\n  c\n  d\n\n  Median: 1.20 s\n  IQR:    0.20 s (1.00 to 1.20)\n"
        "  5 measurements, 1 runs per measurement, 1 thread\n"
        "  WARNING: Interquartile range is 16.7% of the median measurement.\n"
        "           This could indicate system fluctuation."
    )
    steady = Measurement(1, [0.2] * 5, spec)
    assert (steady.has_warnings, steady.significant_figures) == (False, 4)


def test_a_measurement_knows_its_spread():
    measured = Measurement(10, [1e-5, 2e-5, 3e-5, 2e-5], TaskSpec("f()", "pass", sub_label="x"))
    assert measured.median == measured.mean == pytest.approx(2e-6)
    assert measured.iqr == pytest.approx(5e-7)
    assert (measured.title, measured.as_row_name, measured.meets_confidence()) == ("f(): x", "x", False)
    assert select_unit(2e-6) == ("us", 1e-6)
    assert len(Measurement.merge([measured, measured])[0].times) == 8


def test_a_table_has_a_row_for_each_sub_label():
    results = [
        Measurement(1, [t], TaskSpec("s", "pass", "", "sums", name, size, num_threads=n))
        for name, t in (("loop", 4e-3), ("vector", 1e-3))
        for size in ("10", "20")
        for n in (1, 2)
    ]
    lines = str(Compare(results)).splitlines()
    assert "sums" in lines[0]
    assert [line.split() for line in lines[2:5]] == [
        ["1", "threads:", lines[2].split()[-1]],
        ["loop", "|", "4", "|", "4"],
        ["vector", "|", "1", "|", "1"],
    ]
    assert "Times are in milliseconds (ms)." in lines
