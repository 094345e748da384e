"""The table of `make bench-peers`, without PyTorch: our side of it stands in for both."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.__main__ import chosen_rows, keep
from benchmarks.peers.__main__ import main as bench_peers
from benchmarks.peers.comparison import compare_runs
from benchmarks.peers.measure import WAYS, Measurement, compare
from benchmarks.peers.process import OURS, THEIRS, Settings, Worker
from benchmarks.peers.table import header, lines, summary

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
        assert worker.answer() == "ready"
        worker.ask("open", row, 1)
        files = [str(tmp_path / f"{way}.npz") for way in ("eager", "compiled")]
        assert all(worker.ask("first", Path(file).stem, file) > 0 for file in files)
        eager, compiled = (np.load(file)["arr_0"] for file in files)
        np.testing.assert_allclose(eager, compiled, rtol=1e-5)
        assert worker.ask("time", "compiled", 3, "wall") > 0
        assert worker.ask("peak", "compiled") < 2**24
        assert worker.ask("versions")["numpy"] == np.__version__
    finally:
        worker.close()


def test_a_worker_that_fails_says_why(tmp_path):
    with pytest.raises(ChildProcessError, match="KeyError: 'no such row'"):
        Worker(OURS, "no such row", Settings(theirs=sys.executable), tmp_path).answer()


def test_different_results_are_an_error(tmp_path):
    files = {}
    for number, key in enumerate(WAYS):
        files[key] = str(tmp_path / f"{number}.npz")
        np.savez(files[key], np.array([1.0, 2.0 + (number == 1) * 0.1]))
    with pytest.raises(ArithmeticError, match="minitorch_compile compiled is 4.5e-02 away from torch eager"):
        compare(files)


TWO = Settings(theirs="", threads=(1, 2))


def measured(
    *figures: float, row: str = "some row", threads: str = "1", rounds: tuple[float, ...] = (1.0,)
) -> Measurement:
    """A row whose ways took these seconds, each round times its factor."""
    turns = {" ".join(way): [seconds * factor for factor in rounds] for way, seconds in zip(WAYS, figures)}
    return Measurement(row, "kernels", {threads: turns}, cold={OURS: 1.0, THEIRS: 2.0})


def on_two_threads(ours: float, theirs: float) -> Measurement:
    """A row that one thread computes compiled in 2 ms and in 1 ms."""
    found = measured(4e-3, 2e-3, 5e-3, 1e-3)
    found.turns.update(measured(4e-3, ours, 5e-3, theirs, threads="2").turns)
    found.peak = {
        f"{library} {way}": size for (library, way), size in zip(WAYS, (6_000_000, 4_000_000, 3_000_000, 8_000_000))
    }
    return found


def test_the_table_says_who_is_ahead():
    found = on_two_threads(1e-3, 0.8e-3)
    one, two = lines(found, TWO).splitlines()
    assert one.split()[-2:] == ["0.50", "2.00"]
    cells = [two[at : at + 11].strip() for at in range(36, len(two), 11)]
    assert cells[:7] == ["4.00 ms", "5.00 ms", "1.25", "1.00 ms", "800 us", "0.80", "4.00"]
    assert cells[7:] == ["2.00", "1.25", "1.00 s", "2.00 s", "6.0", "3.0", "4.0", "8.0"]
    assert len(header(TWO)) == len(two)
    said = summary([found], TWO)
    assert "behind PyTorch, compiled: some row 0.50" in said
    assert "behind PyTorch, compiled: some row 0.80" in said
    assert "compiled slower than eager: none" in said
    assert "scaling less than PyTorch: none" in said
    assert "first call slower than torch.compile's: none" in said
    assert "more memory than PyTorch, eager: some row 0.50" in said
    assert "more memory than PyTorch, compiled: none" in said
    assert "scaling less than PyTorch: some row 0.50" in summary([on_two_threads(2e-3, 0.5e-3)], TWO)


def test_the_table_says_where_compiling_loses():
    one = Settings(theirs="", memory=False)
    assert "compiled slower than eager: some row 0.75" in summary([measured(3e-3, 4e-3, 5e-3, 5e-3)], one)
    assert "compiled slower than eager: none" in summary([measured(3e-5, 4e-5, 5e-5, 5e-5)], one)


ROUNDS = (1.0, 1.02, 0.98, 1.01, 0.99)


@pytest.mark.parametrize(
    ("now", "rounds", "worse"),
    [
        ((4e-3, 2e-3, 5e-3, 1e-3), ROUNDS, []),
        ((4e-3, 2.4e-3, 5e-3, 1e-3), ROUNDS, ["1.20 some row compiled, 1 threads"]),
        ((4e-3, 2.4e-3, 5e-3, 1e-3), (1.0, 0.7, 1.4, 0.8, 1.3), []),  # spread further than it moved
        ((8e-3, 4e-3, 10e-3, 2e-3), ROUNDS, []),  # the machine is half as quick
        ((8e-3, 6e-3, 10e-3, 2e-3), ROUNDS, ["1.50 some row compiled, 1 threads"]),
    ],
)
def test_two_runs_are_compared_beyond_noise(now, rounds, worse, tmp_path):
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    runs = measured(4e-3, 2e-3, 5e-3, 1e-3, rounds=ROUNDS), measured(*now, rounds=rounds)
    for file, each, version in zip(files, runs, ("1.0", "1.1")):
        keep(file, [each], Settings(theirs=""), {"torch": {"library": version}})
    said, is_worse = compare_runs(*map(str, files))
    assert "torch library: 1.0 before, 1.1 now" in said
    found = said.split("worse: ")[1].split("better: ")[0].strip().splitlines()[1:]
    assert [" ".join(line.split()) for line in found] == worse
    assert is_worse == bool(worse)


def test_a_row_that_fails_now_is_named(tmp_path):
    files = [str(tmp_path / "old.json"), str(tmp_path / "new.json")]
    sound, other = measured(4e-3, 2e-3, 5e-3, 1e-3), measured(4e-3, 2e-3, 5e-3, 1e-3, row="other")
    failing = Measurement("other", "kernels", problem="wrong result")
    for file, rows in zip(files, ([sound, other], [sound, failing])):
        keep(Path(file), rows, Settings(theirs=""), {})
    assert "fails now: other" in compare_runs(*files)[0]
    assert json.loads(Path(files[1]).read_text())["rows"][1]["problem"] == "wrong result"
    keep(Path(files[1]), [failing], Settings(theirs=""), {})
    with pytest.raises(ValueError, match="no row was measured in both"):
        compare_runs(*files)


def test_without_pytorch_it_says_what_to_set(monkeypatch, capsys):
    monkeypatch.setenv("TORCH_PYTHON", "")
    assert bench_peers(["--only", "softmax tiny"]) == 2
    assert "set TORCH_PYTHON" in capsys.readouterr().err
