"""The table of `make bench-peers`, without PyTorch: our side of it stands in for both."""

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.__main__ import chosen_rows
from benchmarks.peers.__main__ import main as bench_peers
from benchmarks.peers.measure import OURS, THEIRS, WAYS, Measurement, Settings, Worker, compare
from benchmarks.peers.table import header, line, summary

CATEGORIES = {"kernels", "inference", "training", "whole step"}


def test_rows_have_names_of_their_own_and_known_categories():
    rows = chosen_rows([])
    assert len({row.name for row in rows}) == len(rows) > 80
    assert {row.category for row in rows} == CATEGORIES
    assert [row.name for row in chosen_rows(["softmax tiny"])] == ["softmax tiny"]


@pytest.mark.slow
@pytest.mark.parametrize("row", ["softmax tiny", "mlp_batch_1 training"])
def test_a_worker_runs_a_row_both_ways_to_the_same_result(row, tmp_path):
    worker = Worker(OURS, row, Settings(theirs=sys.executable), tmp_path)
    try:
        files = [str(tmp_path / f"{way}.npz") for way in ("eager", "compiled")]
        assert all(worker.ask("first", Path(file).stem, file) > 0 for file in files)
        eager, compiled = (np.load(file)["arr_0"] for file in files)
        np.testing.assert_allclose(eager, compiled, rtol=1e-5)
        assert worker.ask("time", "compiled", 3, "wall") > 0
    finally:
        worker.close()


def test_a_worker_that_fails_says_why(tmp_path):
    with pytest.raises(ChildProcessError, match="KeyError: 'no such row'"):
        Worker(OURS, "no such row", Settings(theirs=sys.executable), tmp_path)


def test_different_results_are_an_error(tmp_path):
    files = {}
    for number, key in enumerate(WAYS):
        files[key] = str(tmp_path / f"{number}.npz")
        np.savez(files[key], np.array([1.0, 2.0 + (number == 1) * 0.1]))
    with pytest.raises(ArithmeticError, match="minitorch_compile compiled is 4.5e-02 away from torch eager"):
        compare(files)


def test_the_table_says_who_is_ahead():
    times = {" ".join(way): seconds for way, seconds in zip(WAYS, (4e-3, 2e-3, 5e-3, 1e-3))}
    measured = Measurement("some row", "kernels", times, cold={OURS: 1.0, THEIRS: 2.0})
    assert line(measured, memory=False).split()[-5:] == ["2.00", "1.00", "s", "2.00", "s"]
    assert len(header(memory=True)) > len(header(memory=False))
    assert "behind: some row 0.50" in summary([measured])
    assert "slower than eager: none" in summary([measured])
    assert "1 of 1 rows" in summary([measured])


def test_the_table_says_where_compiling_loses():
    times = {" ".join(way): seconds for way, seconds in zip(WAYS, (3e-3, 4e-3, 5e-3, 5e-3))}
    assert "slower than eager: some row 0.75" in summary([Measurement("some row", "kernels", times)])
    tiny = {way: seconds / 100 for way, seconds in times.items()}
    assert "slower than eager: none" in summary([Measurement("tiny row", "kernels", tiny)])


def test_without_pytorch_it_says_what_to_set(monkeypatch, capsys):
    monkeypatch.setenv("TORCH_PYTHON", "")
    assert bench_peers(["--only", "softmax tiny"]) == 2
    assert "set TORCH_PYTHON" in capsys.readouterr().err
