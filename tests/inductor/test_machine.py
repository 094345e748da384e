"""The machine that kernels are compiled for: what is found out, what follows the environment, what is kept apart."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numba import types

from minitorch_compile import logs
from minitorch_compile.inductor import machine
from minitorch_compile.inductor.machine import current, host, named, using
from minitorch_compile.inductor.runtime import code_cache, compile_pool, object_store
from minitorch_compile.inductor.runtime.kernel_function import kernel

PC, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"


@pytest.mark.parametrize(
    "cpu, triple, vector_bytes, registers, can",
    [
        ("x86-64", PC, 16, 16, set()),
        ("sandybridge", PC, 32, 16, set()),
        ("haswell", PC, 32, 16, {"fma", "float16"}),
        ("znver3", PC, 32, 16, {"fma", "float16"}),
        ("skylake-avx512", PC, 64, 32, {"fma", "float16"}),
        ("cascadelake", PC, 64, 32, {"fma", "float16", "vnni"}),
        ("sapphirerapids", PC, 64, 32, {"fma", "float16", "bfloat16", "vnni"}),
        ("znver4", PC, 64, 32, {"fma", "float16", "bfloat16", "vnni"}),
        ("generic", ARM, 16, 32, {"fma", "float16"}),
        ("neoverse-v1", ARM, 16, 32, {"fma", "float16", "bfloat16"}),
    ],
)
def test_a_name_says_what_a_processor_can_do(cpu, triple, vector_bytes, registers, can):
    found = named(cpu, triple=triple)
    assert (found.vector_bytes, found.registers, found.instructions) == (vector_bytes, registers, can)


def test_features_count_beside_the_name():
    assert named("x86-64", "+avx2,+fma", PC).vector_bytes == 32
    assert named("haswell", "-avx", PC).vector_bytes == 16
    assert named("x86-64", "+amx-tile", PC).can("amx")


SEEN = """
from minitorch_compile.inductor.machine import host
from numba.core.registry import cpu_target
print(host().cpu, host().vector_bytes, repr(cpu_target.target_context.codegen()._tm_features))
"""


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="names processors of this kind")
@pytest.mark.parametrize("features, vector_bytes", [({}, 16), ({"NUMBA_CPU_FEATURES": "+avx2"}, 32)])
@pytest.mark.heavy
def test_the_environment_names_the_machine_and_a_name_alone_brings_no_features_of_this_one(features, vector_bytes):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CPU_")}
    done = subprocess.run(
        [sys.executable, "-c", SEEN],
        env={**environment, "NUMBA_CPU_NAME": "x86-64", **features},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    added = features.get("NUMBA_CPU_FEATURES", "")
    assert done.stdout.strip() == f"x86-64 {vector_bytes} {added!r}"


def test_machines_have_keys_of_their_own():
    keys = []
    for one in (named("x86-64", triple=PC), named("haswell", triple=PC), named("haswell", "-f16c", PC)):
        with using(one):
            keys.append((code_cache.cache_key("x = 1\n"), object_store.environment()))
    assert len({name for name, _ in keys}) == len({environment for _, environment in keys}) == 3


def test_cores_are_no_part_of_a_key():
    assert replace(host(), cores=1).key == replace(host(), cores=64).key
    assert replace(host(), caches=(1, 2, 3)).key != host().key


def test_as_many_processes_compile_as_there_are_cores(monkeypatch):
    monkeypatch.delenv("MTC_COMPILE_THREADS", raising=False)
    with using(replace(host(), cores=3)):
        assert compile_pool.wanted_threads() == 3


def test_kernels_for_another_machine_are_not_compiled_here():
    function = kernel("test_machine_double", types.float32, types.float32)(double)
    other = named("generic", triple=ARM if host().triple.startswith("x86") else PC)
    with using(other), pytest.raises(RuntimeError, match="can't be compiled here, where Numba compiles for"):
        function.compiled
    assert current() is host()
    x, out = np.arange(3, dtype=np.float32), np.empty(3, np.float32)
    function(0, 3, x, out)
    assert out.tolist() == [0, 2, 4]


def double(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = x[i] + x[i]


def test_the_log_describes_the_machine():
    with logs.capture("machine") as records:
        machine.host.__wrapped__()
    assert records[0].text == str(host())
    assert f"{host().registers} registers of {host().vector_bytes} bytes" in records[0].text


def test_caches_are_as_the_system_says(monkeypatch, tmp_path):
    for number, (level, kind, size) in enumerate([(1, "Data", "48K"), (1, "Instruction", "32K"), (2, "Unified", "2M")]):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{value}\n")
    monkeypatch.setattr(machine, "CACHES", tmp_path)
    assert machine.cache_sizes() == (48 << 10, 2 << 20, machine.USUAL_CACHES[2])
    monkeypatch.setattr(machine, "CACHES", tmp_path / "none")
    assert machine.cache_sizes() == machine.USUAL_CACHES
