"""Generated files on disk: found again, rebuilt when damaged, never read from a folder that others can write to."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from minitorch_compile.inductor import code_cache, compile_graph
from minitorch_compile.inductor.code_cache import cache_folder, cache_key, folder_problem, write_once
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import PROGRAMS

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, time
from minitorch_compile.inductor import compile_graph, code_cache
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import PROGRAMS
function, arrays = PROGRAMS["softmax"]
tensors = tensors_of(arrays)
run = compile_graph(record(function, tensors))
kernels = [step[0] for step in run.__globals__["call"].steps]
print(float(run(*tensors)[0].array.sum()), sum(kernel.compiled.cache_hits for kernel in kernels))
"""


def run_program(folder):
    environment = {**os.environ, "MTC_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    total, hits = done.stdout.split()
    return float(total), int(hits)


@pytest.fixture(scope="module")
def filled_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    total, hits = run_program(folder)
    assert round(total) == 16 and hits == 0
    return folder


def test_a_second_process_finds_the_compiled_kernels(filled_folder):
    files = sorted(filled_folder.rglob("graph_*"))
    before = [file.stat().st_mtime_ns for file in files]
    total, hits = run_program(filled_folder)
    assert round(total) == 16
    assert hits == 1  # the one kernel came from the disk
    assert [file.stat().st_mtime_ns for file in files] == before


def test_damaged_files_are_made_again(filled_folder):
    (path,) = filled_folder.rglob("graph_*.py")
    text = path.read_text()
    path.write_text(text + "\nraise SystemExit\n")
    for number, file in enumerate(filled_folder.rglob("*.nbi")):
        file.write_bytes([b"", b"not a pickle", b"\x80\x04\x95garbage"][number % 3])
    total, _ = run_program(filled_folder)
    assert round(total) == 16 and path.read_text() == text


def test_the_key_depends_on_the_source_and_on_the_machine(monkeypatch):
    first = cache_key("a = 1")
    assert first == cache_key("a = 1") != cache_key("a = 2")
    monkeypatch.setattr(code_cache, "environment", lambda: "another processor")
    assert cache_key("a = 1") != first


def test_writing_is_atomic_and_leaves_a_right_file_alone(tmp_path):
    path = write_once(tmp_path / "folder" / "file.py", "x = 1\n")
    stamp = path.stat().st_mtime_ns
    assert write_once(path, "x = 1\n").stat().st_mtime_ns == stamp
    write_once(path, "x = 2\n")
    assert path.read_text() == "x = 2\n" and [p.name for p in path.parent.iterdir()] == ["file.py"]


def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert folder_problem(shared) == "can be written to by other users"
    monkeypatch.setenv("MTC_CACHE_DIR", str(shared))
    with pytest.warns(UserWarning, match="can be written to by other users. Set MTC_CACHE_DIR"):
        used = cache_folder()
    assert used != shared and folder_problem(used) is None


def test_a_file_in_the_place_of_the_folder_is_a_warning_not_a_crash(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="can't be made"):
        cache_folder()


def test_the_same_graph_is_compiled_once_in_a_process():
    function, arrays = PROGRAMS["softmax"]
    tensors = tensors_of(arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (compile_graph(record(function, tensors)) for _ in range(2))
    assert first is second
    assert_close(first(*tensors)[0].array, expected(record(function, tensors), tensors)[0])
