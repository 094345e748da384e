"""Writes docs/ops.md: every op, and what is known of it at each floor. An empty place in the table is an error.

    python tools/op_table.py            write the page
    python tools/op_table.py --check    fail if it is out of date, or if an op lacks something

An op is computed by a NumPy kernel, is a view (a rule on sizes and strides), is made of other ops (a composite), or is
the in-place form of another. A composite needs nothing of its own: its parts have it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import minitorch_compile  # noqa: E402
from minitorch_compile import prims  # noqa: E402, F401  (fills the table of decompositions)
from minitorch_compile.autograd.derivative_table import DERIVATIVES, NOT_DIFFERENTIABLE  # noqa: E402
from minitorch_compile.func.batching.rules import FAMILIES, RULES, WITHOUT_A_RULE  # noqa: E402
from minitorch_compile.inductor.device_calls import quantiles  # noqa: E402, F401  (declares its ops)
from minitorch_compile.inductor.device_calls.data_sized import data_sized  # noqa: E402
from minitorch_compile.inductor.device_calls.kernel_rules import KERNEL_RULES  # noqa: E402
from minitorch_compile.inductor.device_calls.random_draws import PHILOX  # noqa: E402
from minitorch_compile.inductor.device_calls.solver_rules import SOLVERS  # noqa: E402
from minitorch_compile.inductor.lowering.table import WITHOUT_A_KERNEL  # noqa: E402
from minitorch_compile.inductor.targets import find_target  # noqa: E402
from minitorch_compile.prims.decomposition_table import has_rule, refusal_of, refuses_some  # noqa: E402
from minitorch_compile.tensor import ops  # noqa: E402
from minitorch_compile.tensor.dispatch.op import Op  # noqa: E402
from tests.battery.sheet import calls, names_called  # noqa: E402
from tests.prims import samples, samples_algorithms, samples_images  # noqa: E402, F401

PAGE = ROOT / "docs" / "ops.md"
PARTS = "its parts"
HOLE = "MISSING"


@dataclass(frozen=True)
class Row:
    """What the page says of one op."""

    op: str
    computed: str
    shapes: str
    derivative: str
    decomposition: str
    batching: str
    tried: str


def rows() -> Iterator[Row]:
    on_sheets = Counter(name for call in calls() for name in names_called(call.text))
    for name in sorted(ops.table, key=str.lower):
        op = ops.table[name]
        yield Row(name, computed(op), shapes(op), derivative(op), decomposition(op), batching(op), tried(op, on_sheets))


def computed(op: Op) -> str:
    if op.kind == "composite":
        return "other ops"
    if op.kind == "inplace":
        return f"`{op.functional.name}`, stored"  # type: ignore[attr-defined]
    return "a view" if op.kind == "view" else f"NumPy, {op.kind}"


def shapes(op: Op) -> str:
    """Where sizes, strides and dtype of the result come from when there is no data."""
    if op.kind == "composite":
        return PARTS
    if op.kind == "inplace":
        return "the target's"
    if getattr(op, "shape_depends_on_data", False):
        return "depends on the data"
    own_rule = getattr(op, "_rule", op.kind)
    return HOLE if own_rule is None else "its own rule" if callable(own_rule) else f"the {op.kind} rule"


def derivative(op: Op) -> str:
    if op.kind == "composite":
        return PARTS
    if op.kind == "inplace":
        return f"that of `{op.functional.name}`"  # type: ignore[attr-defined]
    if op in DERIVATIVES:
        return "formula"
    return NOT_DIFFERENTIABLE.get(op) or ("no tensor goes in" if not op.tensor_parameters else HOLE)


def decomposition(op: Op) -> str:
    if op.kind == "composite":
        return PARTS
    if op.kind == "inplace":
        return "functionalised first"
    some_calls = ", most calls" if refuses_some(op) else ""
    return f"into prims{some_calls}" if has_rule(op) else refusal_of(op) or HOLE


def batching(op: Op) -> str:
    """What vmap makes of the op."""
    if op.kind == "composite":
        return PARTS
    if op.kind == "creation":
        return "the same for all examples"
    if op in RULES:
        return "its own rule"
    if getattr(op, "rows", False):
        return "works on rows"
    return f"the {op.kind} rule" if op.kind in FAMILIES else WITHOUT_A_RULE.get(op.name, HOLE)


def tried(op: Op, on_sheets: Counter[str]) -> str:
    """How many calls with awkward arguments the tests make."""
    twin = getattr(op, "functional", op).name
    count = max(on_sheets[name] for name in (op.name, f"F.{twin}"))
    sampled = sum(1 for _ in samples.calls(op))
    if not count and not sampled:
        return "through what is made of it" if is_internal(op) else HOLE
    return ", ".join([f"{count} lines"] * bool(count) + [f"{sampled} samples"] * bool(sampled))


def is_internal(op: Op) -> bool:
    """Whether the op is only a part of others, without a public name."""
    public = op.namespaces & {"torch", "method", "functional"}
    return not public or op.name.startswith("_") or op.kind == "random" or not hasattr(minitorch_compile, op.name)


def page(table: list[Row]) -> str:
    kinds = Counter(op.kind for op in ops.table.values())
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    lines = [
        "# The ops",
        "",
        "Generated by `tools/op_table.py`; a test keeps it up to date and fails if a place is empty.",
        "",
        f"{len(table)} ops: {counts}.",
        "`F.relu` is the form that `nn.functional` has where it differs from `torch.relu`; `linalg_inv` is",
        "`torch.linalg.inv`. An op is *tried* on lines of the call sheets (`tests/battery/calls`), each in several",
        "memory layouts and element types and on fake tensors, and on samples of its decomposition",
        "(`tests/prims/samples.py`).",
        "",
        "| op | computed by | sizes and strides | derivative | decomposition | under vmap | tried |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += ["| `" + "` | ".join(_cells(row)) for row in table]
    return "\n".join([*lines, *in_main_memory()]) + "\n"


def in_main_memory() -> list[str]:
    """What a GPU has no kernels for, as lines of the page."""
    solved = {prim.name for prim in SOLVERS}
    reasons = {
        name: why
        for name, why in WITHOUT_A_KERNEL.items()
        if name not in KERNEL_RULES and name not in solved and not name.startswith("fft")
    }
    reasons |= dict.fromkeys(find_target("cuda").missing, "there is no device function of it")
    elsewhere = {*data_sized, *PHILOX, ops.to_device}  # which are made of others there, or are copies
    refused = {op.name: refusal_of(op) for op in ops.table.values() if op not in elsewhere}
    return [
        *("", "## In main memory for a GPU", ""),
        "Eager operations on a GPU are kernels. What is made of these prims, and these ops, is computed in main memory",
        "and copied back; each op says so once, by a warning. Fourier transforms are not listed: cuFFT computes them,",
        "where nvmath-python is installed (`inductor/device_calls/library_rules.py`); nor are systems of equations and",
        "factorizations: cuSOLVER and cuBLAS compute them there, in float32 and float64, but for matrices without",
        "elements. `linalg.eig` and `linalg.matrix_exp` are not connected.",
        *("", "| prim | why |", "| --- | --- |"),
        *(f"| `{name}` | {reasons[name]} |" for name in sorted(reasons)),
        *("", "| op | why |", "| --- | --- |"),
        *(f"| `{name}` | {why} |" for name, why in sorted(refused.items(), key=lambda pair: pair[0].lower()) if why),
    ]


def _cells(row: Row) -> tuple[str, str]:
    name, *others = astuple(row)
    return name, " | ".join(others) + " |"


def holes(table: list[Row]) -> list[str]:
    return [f"{row.op}: {field}" for row in table for field, value in vars(row).items() if value == HOLE]


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/ops.md.")
    parser.add_argument("--check", action="store_true", help="fail if the page is out of date")
    table = list(rows())
    for hole in holes(table):
        print(f"docs/ops.md: {hole} is missing")
    text = page(table)
    if parser.parse_args().check:
        if PAGE.read_text(encoding="utf-8") != text:
            print("docs/ops.md is out of date; run python tools/op_table.py")
            return 1
    else:
        PAGE.write_text(text, encoding="utf-8")
    return bool(holes(table))


if __name__ == "__main__":
    sys.exit(main())
