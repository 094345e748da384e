"""Compiled code on disk: found again by other processes, made again when damaged, keyed by all that it depends on."""

import ctypes
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from llvmlite import binding as llvm
from numba.core.registry import cpu_target

from minitorch_compile.inductor import compile_graph
from minitorch_compile.inductor.device_calls import kernel_store
from minitorch_compile.inductor.kernels.vecmath import exp_float32
from minitorch_compile.inductor.runtime import code_cache, inlined_code, object_store
from minitorch_compile.inductor.runtime.code_cache import cache_key, write_once
from minitorch_compile.inductor.runtime.inlined_code import INLINED_SOURCES
from minitorch_compile.inductor.runtime.kernel_function import kernel, types
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import PROGRAMS

ROOT = Path(__file__).parents[2]
PROGRAM = """
from minitorch_compile.inductor import compile_graph
from minitorch_compile.inductor.runtime import kernel_function
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import PROGRAMS
function, arrays = PROGRAMS["softmax"]
tensors = tensors_of(arrays)
run = compile_graph(record(function, tensors))
kernels = [step[0] for step in run.__globals__["call"].steps]
print(float(run(*tensors)[0].array.sum()), sum(kernel.was_kept for kernel in kernels), len(kernels))
"""


def start_program(folder):
    environment = {**os.environ, "MTC_CACHE_DIR": str(folder), "MTC_LOGS": "cache"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end_of(process):
    """How many kernels came from the disk, and the log."""
    output, log = process.communicate(timeout=600)
    assert process.returncode == 0, log[-3000:]
    total, kept, kernels = output.split()
    assert round(float(total)) == 16 and int(kernels) == 1
    return int(kept), log


def run_program(folder):
    return end_of(start_program(folder))


@pytest.fixture(scope="module")
def filled_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    assert run_program(folder)[0] == 0
    return folder


def test_a_second_process_finds_the_compiled_kernels_and_writes_nothing(filled_folder):
    files = sorted(filled_folder.rglob("mtc_*"))
    before = [file.stat().st_mtime_ns for file in files]
    kept, log = run_program(filled_folder)
    assert kept == 1 and "not on disk" not in log
    assert [file.stat().st_mtime_ns for file in files] == before and sorted(filled_folder.rglob("mtc_*")) == files


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once_do_not_disturb_each_other(tmp_path):
    for process in [start_program(tmp_path) for _ in range(2)]:
        end_of(process)
    assert not list(tmp_path.rglob("*.tmp"))
    assert run_program(tmp_path)[0] == 1


@pytest.mark.slow
def test_a_damaged_kernel_is_compiled_again_with_one_line_in_the_log(filled_folder):
    (path,) = filled_folder.rglob("mtc_*.o")
    whole = path.read_bytes()
    path.write_bytes(flipped(whole))
    kept, log = run_program(filled_folder)
    assert kept == 0 and len(re.findall("damaged, compiled again", log)) == 1
    assert path.read_bytes() == whole
    assert run_program(filled_folder)[0] == 1


def flipped(entry):
    """The bytes with one bit in the middle changed."""
    middle = len(entry) // 2
    return entry[:middle] + bytes([entry[middle] ^ 1]) + entry[middle + 1 :]


ENTRY = object_store.pack("key", "symbol", bytes(range(100)))
DAMAGED = {
    "empty": b"",
    "cut": ENTRY[:-1],
    "flipped": flipped(ENTRY),
    "another symbol": ENTRY.replace(b"symbol", b"zymbol"),
    "another version": ENTRY.replace(b"object 2", b"object 1"),
    "of another kernel": object_store.pack("other", "symbol", bytes(range(100))),
    "a pickle": b"cos\nsystem\n(S'exit 1'\ntR.",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_entry_is_none(damage):
    assert object_store.unpack("key", ENTRY) == ("symbol", bytes(range(100)))
    assert object_store.unpack("key", DAMAGED[damage]) is None


def test_what_runs_is_the_text_and_not_the_file_that_another_process_left(filled_folder):
    (path,) = filled_folder.rglob("mtc_*.py")
    text = path.read_text()
    path.write_text(text + "\nraise SystemExit\n")
    assert run_program(filled_folder)[0] == 1 and path.read_text() == text


def test_the_key_depends_on_the_source_and_on_the_machine(monkeypatch):
    first = cache_key("a = 1")
    assert first == cache_key("a = 1") != cache_key("a = 2")
    monkeypatch.setattr(code_cache, "environment", lambda: "another processor")
    assert cache_key("a = 1") != first


# ------------------------------------------------------------------------------------------------ keys of kernels


def function_of(text, name="minitorch_compile_generated_test"):
    scope = {"__name__": name}
    exec(text, scope)
    return scope["f"]


FUNCTION = "SCALE = 2\ndef f(lo, hi, x):\n    for i in range(lo, hi):\n        x[i] = x[i] * SCALE + 1\n"


def key_of(text, signature="void(int64)"):
    return object_store.key_of("f", signature, function_of(text))


def test_where_a_kernel_stands_and_what_else_is_in_the_file_do_not_matter():
    assert key_of(FUNCTION) == key_of("OTHER = 5\n\n\n" + FUNCTION) is not None


@pytest.mark.parametrize(
    ("before", "after"), [("+ 1", "+ 1.0"), ("+ 1", "+ 2"), ("SCALE = 2", "SCALE = 3"), ("+", "-")]
)
def test_what_a_kernel_computes_is_in_its_key(before, after):
    assert key_of(FUNCTION) != key_of(FUNCTION.replace(before, after))


def test_the_machine_and_the_signature_are_in_its_key(monkeypatch):
    first = key_of(FUNCTION)
    assert key_of(FUNCTION, "void(float64)") != first
    monkeypatch.setattr(object_store, "environment", lambda: "another processor")
    assert key_of(FUNCTION) != first


def test_a_function_of_the_users_has_no_key():
    assert object_store.key_of("f", "void(int64)", function_of(FUNCTION, "notebook")) is None
    assert not kernel("test_not_kept", types.float64)(function_of(FUNCTION, "notebook")).was_kept


def test_every_module_with_native_code_is_in_the_digest():
    floor = Path(object_store.__file__).parent.parent
    native = re.compile(
        r"^\s*@(njit|kept_njit|kept|inlined|compiled|intrinsic|instruction|native)\b|= (njit|native_function)\(",
        re.MULTILINE,
    )
    found = {path for path in floor.rglob("*.py") if native.search(path.read_text())}
    of_gpus = {path for pattern in kernel_store.SOURCES for path in floor.parent.glob(pattern)}
    assert len(found) > 10 and found <= of_gpus | {path for pattern in INLINED_SOURCES for path in floor.glob(pattern)}


def test_kernels_are_stale_when_a_plan_that_they_read_changes() -> None:
    floor = Path(inlined_code.__file__).parent.parent
    texts = [path.read_text() for path in floor.glob("kernels/*.py")]
    imports = re.compile(r"^from minitorch_compile\.kernel_library(?:\.(\w+))? import (\w+)", re.MULTILINE)
    read = {module or name for text in texts for module, name in imports.findall(text)}
    covered = {path.stem for pattern in INLINED_SOURCES for path in floor.glob(pattern)}
    assert {"convolution_plan", "tile_sizes"} <= read <= covered


def test_what_numba_keeps_of_inlined_functions_is_stale_when_any_of_them_changes(monkeypatch):
    """Numba sees a change in the file of exp only, not in those of the instructions that exp is made of."""
    kept = exp_float32._cache
    key = lambda: kept._index_key((types.float32,), cpu_target.target_context.codegen())
    before = key()
    assert key() == before
    monkeypatch.setattr(inlined_code, "inlined_digest", lambda: "another")
    assert key() != before


# ------------------------------------------------------------------------------------------------ generated files


def test_a_file_that_is_right_is_left_alone(tmp_path):
    path = write_once(tmp_path / "folder" / "file.py", "x = 1\n")
    stamp = path.stat().st_mtime_ns
    assert write_once(path, "x = 1\n").stat().st_mtime_ns == stamp
    write_once(path, "x = 2\n")
    assert path.read_text() == "x = 2\n" and [p.name for p in path.parent.iterdir()] == ["file.py"]


def test_the_same_graph_is_compiled_once_in_a_process():
    function, arrays = PROGRAMS["softmax"]
    tensors = tensors_of(arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (compile_graph(record(function, tensors)) for _ in range(2))
    assert first is second
    assert_close(first(*tensors)[0].array, expected(record(function, tensors), tensors)[0])


HELPER_OF_ANOTHER_PROCESS = """
define linkonce_odr i64 @helper() noinline {{
  ret i64 {value}
}}
define i64 @kernel_{value}() {{
  %result = call i64 @helper()
  ret i64 %result
}}
"""


def test_object_files_do_not_share_functions_of_the_same_name():
    """Two processes may give one name to two functions (Numba numbers them): each kernel has to call its own."""
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    addresses = {}
    for value in (1, 2):
        module = llvm.parse_assembly(HELPER_OF_ANOTHER_PROCESS.format(value=value))
        addresses[value] = object_store.link(f"kernel_{value}", machine.emit_object(module))
    assert {value: ctypes.CFUNCTYPE(ctypes.c_int64)(address)() for value, address in addresses.items()} == {1: 1, 2: 2}
