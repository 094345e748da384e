"""Kernels for a processor that this is not: of every kind, LLVM accepts and assembles what is generated for it."""

import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from tests.inductor.foreign import GENERATED

ROOT = Path(__file__).parents[2]
WRITTEN_BY_HAND = {
    "convolution_float32", "convolution_weight_grad_float32", "convolution_input_grad_float32", "winograd_float32",
    "channels_last_gather_float32", "channels_last_weight_grad_float32", "max_pool2d_float32",
    "max_pool2d_backward_float32", "attention_float32_float32", "attention_backward_float32_bool",
    "pack_panels_float32", "packed_product_float32", "batched_tiles_float32", "parallel_for", "run_chunk",
}  # fmt: skip
ON_WHOLE_VECTORS = ("convolution_float32", "channels_last_gather_float32", "packed_product_float32", "winograd_float32")


@pytest.mark.slow
@pytest.mark.slow
def test_every_kind_of_kernel_assembles_for_neon():
    done = subprocess.run(
        [sys.executable, "-m", "tests.inductor.foreign", "aarch64-unknown-linux-gnu", "generic", "float32"],
        cwd=ROOT,
        env={**os.environ, "MTC_LOGS": ""},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    kernels = {name: (int(size), int(vectors)) for name, size, vectors in map(str.split, done.stdout.splitlines())}
    assert kernels.keys() >= WRITTEN_BY_HAND and len(kernels) > len(WRITTEN_BY_HAND) + len(GENERATED)
    assert all(size > 0 for size, _ in kernels.values())
    assert all(kernels[name][1] > 50 for name in ON_WHOLE_VECTORS)


@pytest.mark.parametrize(
    "triple",
    ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "arm64-apple-macosx", "x86_64-pc-windows-msvc"],
)
def test_a_record_is_passed_as_its_words_one_after_the_other(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=2)
    count, record = 11, ", ".join(["i64"] * 11)
    stores = "".join(f"%p{k} = getelementptr i64, ptr %to, i64 {k} store i64 %v{k}, ptr %p{k} " for k in range(count))
    taken = "".join(f"%v{k} = extractvalue {{{record}}} %record, {k} " for k in range(count))
    words = ", ".join(f"i64 %v{k}" for k in range(count))
    as_record = f"define void @f(i64 %lo, i64 %hi, {{{record}}} %record, ptr %to) {{ {taken} {stores} ret void }}"
    as_words = f"define void @f(i64 %lo, i64 %hi, {words}, ptr %to) {{ {stores} ret void }}"
    code = [
        machine.emit_assembly(llvm.parse_assembly(f'target triple = "{triple}" {text}'))
        for text in (as_record, as_words)
    ]
    assert code[0] == code[1]
