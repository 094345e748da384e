"""`torch.ops.where("softmax")`: where an op is declared, and where each floor keeps its rule for it.

>>> from minitorch_compile import ops
>>> print(ops.where("softmax"))
ops.softmax: reduction
  declaration    minitorch_compile/tensor/ops/reduction.py:...
  derivative     minitorch_compile/autograd/derivatives/reduction.py:...
  batching rule  minitorch_compile/func/batching/reductions.py:...
  decomposition  minitorch_compile/prims/decompositions/reduction.py:...
  lowering       amax: minitorch_compile/inductor/lowering/reduction.py:...
...
>>> ops.where("relu_").decomposition
'written as ops.relu, whose result is stored'
>>> ops.where("sofmax")
Traceback (most recent call last):
AttributeError: ops.where: there is no op named 'sofmax'; did you mean softmax, ...?

Ops that a program defined (`torch.library`) are here under their namespace: `torch.ops.mylib.scale`. `load_library`
defines those of another package's compiled library, if they are written here.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

from minitorch_compile.autograd.derivative_table import DERIVATIVES, NOT_DIFFERENTIABLE
from minitorch_compile.func.batching import rules as batching
from minitorch_compile.func.control_flow import cond_op, while_loop_op
from minitorch_compile.library import namespaces
from minitorch_compile.library.native_libraries import load_library, loaded_libraries
from minitorch_compile.prims import Prim, closure
from minitorch_compile.prims import table as prim_table
from minitorch_compile.prims.decomposition_table import has_rule, refusal_of, rule_of
from minitorch_compile.prims.example_calls import example_calls
from minitorch_compile.prims.reduction_tree import Reduction
from minitorch_compile.profiler import record_ops
from minitorch_compile.tensor.dispatch.aten_names import AtenNamespace
from minitorch_compile.tensor.dispatch.op import Op, table
from minitorch_compile.tensor.dispatch.op_families import AliasOp
from minitorch_compile.tensor.functions import aten_only  # noqa: F401  enters its functions
from minitorch_compile.tensor.tensor_base import FakeDataError

__all__ = ["load_library", "loaded_libraries", "where"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(__file__).parent.name
LESSONS = "authoring/lessons"
TAUGHT = 3  # a lesson that speaks of an op less often is about something else
ITS_PARTS = "that of its parts"

for _op in record_ops.OPS:
    namespaces.show(f"profiler::{_op.__name__}", _op)
namespaces.show_in(globals())
aten = AtenNamespace("torch.ops.aten", "PyTorch's names for the ops of the table.")
higher_order = SimpleNamespace(cond=cond_op, while_loop=while_loop_op)


@dataclass(frozen=True)
class Place:
    """A line of a file, as editors and terminals open it."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


Rule = Place | str  # where a rule is; or why there is none, or whose it is


@dataclass(frozen=True, repr=False)
class Where:
    """All places that know an op. `parts` are what a composite op calls; `lowering` has the prims that it comes to."""

    op: Op
    declaration: Place
    parts: tuple[str, ...]
    derivative: Rule
    batching_rule: Rule
    decomposition: Rule
    lowering: dict[str, Rule] | str
    lesson: Place | None

    def __repr__(self) -> str:
        lowering = (
            [self.lowering] if isinstance(self.lowering, str) else [f"{k}: {v}" for k, v in self.lowering.items()]
        )
        lines: dict[str, list[object]] = {
            "declaration": [self.declaration],
            "parts": [", ".join(self.parts)] * bool(self.parts),
            "derivative": [self.derivative],
            "batching rule": [self.batching_rule],
            "decomposition": [self.decomposition],
            "lowering": [*lowering],
            "lesson": [self.lesson] * (self.lesson is not None),
        }
        written = [f"  {name * (i == 0):13}  {text}" for name, texts in lines.items() for i, text in enumerate(texts)]
        return "\n".join([f"{self.op!r}: {self.op.kind}", *written])


def where(op: Any) -> Where:
    """Where an op is declared, and where its derivative, batching rule, decomposition and lowering are.

    op: a name, "softmax", "Tensor.add_", "F.relu", "linalg.inv", "prims.exp"; or what bears it, torch.softmax or
        torch.Tensor.softmax.
    AttributeError, with similar names, if there is no such name; TypeError for what is no op.
    """
    found = _named(op) if isinstance(op, str) else _borne_by(op)
    source = _source_of(found)
    return Where(
        found,
        declaration_of(found),
        _parts(found),
        _derivative(source),
        _batching_rule(source),
        _decomposition(found, source),
        _lowering(source),
        _lesson(found.__name__.rstrip("_")),
    )


# ------------------------------------------------------------------------------------------ which op is meant


def _named(name: str) -> Op:
    """The op of a name, written as in the op table or as in a program."""
    short = name.removeprefix("torch.").removeprefix("ops.").replace("nn.functional.", "F.")
    if short.startswith("prims.") and short.removeprefix("prims.") in prim_table:
        return prim_table[short.removeprefix("prims.")]
    for known in (short, short.replace(".", "_"), f"F.{short}"):
        if known in table:
            return table[known]
    value: Any = importlib.import_module(PACKAGE)  # the package's face, which imports this file
    for part in short.split("."):
        value = value.nn.functional if part == "F" else getattr(value, part, None)
    if value is None:
        raise _unknown(name, short)
    return _borne_by(value)


def _unknown(name: str, short: str) -> AttributeError:
    by_name = {known.rpartition(".")[2]: known for known in reversed(table)}
    similar = difflib.get_close_matches(short.rpartition(".")[2], by_name, 3)
    hint = f"did you mean {', '.join(by_name[s] for s in similar)}?" if similar else "docs/ops.md lists all"
    return AttributeError(f"ops.where: there is no op named {name!r}; {hint}")


def _borne_by(value: Any) -> Op:
    """The op itself, or the one that a method or function of its name calls."""
    if isinstance(value, Op):
        return value
    name = getattr(value, "__name__", None)
    if callable(value) and str(getattr(value, "__module__", "")).startswith(PACKAGE) and name in table:
        return table[name]
    raise TypeError(f"ops.where: op must be an op, its name, or a method or function of one, but got {value!r}")


def _source_of(op: Op) -> Op:
    """The op that has the rules: of an in-place op, the one that it stores; of a second name, the first."""
    while isinstance(op, AliasOp) or hasattr(op, "functional"):
        op = op.of if isinstance(op, AliasOp) else op.functional
    return op


# ------------------------------------------------------------------------------------------ what each floor has


def _place(function: Callable[..., Any]) -> Place:
    rule: Any = inspect.unwrap(function)
    code: CodeType = (rule.kernel if isinstance(rule, Prim) else rule).__code__  # some ops are prims of other names
    return _in_project(code.co_filename, code.co_firstlineno)


def _in_project(file: str, line: int) -> Place:
    """A place, relative to the folder of the package where it is in it."""
    path = Path(file)
    return Place(path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else file, line)


def declaration_of(op: Op) -> Place:
    """The line of the module that declares the op."""
    return _in_project(*op.declared_at) if op.declared_at else _place(op.kernel)


def _derivative(op: Op) -> Rule:
    if op in DERIVATIVES:
        return _place(DERIVATIVES[op].formula)
    if op.kind == "composite":
        return ITS_PARTS
    if isinstance(op, Prim):
        return "none: gradients are taken before ops become prims"
    return f"none: {NOT_DIFFERENTIABLE.get(op, 'no tensor goes in')}"


def _batching_rule(op: Op) -> Rule:
    rule = batching.rule_of(op)
    if rule is not batching.one_by_one:
        return _place(rule)
    if op.kind == "composite":
        return ITS_PARTS
    if isinstance(op, Prim) or op.kind == "creation":
        return "none: a batch never reaches it" if isinstance(op, Prim) else "the same for all examples"
    return f"none: {batching.WITHOUT_A_RULE[op.name]}"


def _decomposition(op: Op, source: Op) -> Rule:
    if source.kind == "composite":
        return ITS_PARTS
    if hasattr(op, "functional"):
        return f"written as {source!r}, whose result is stored"
    if isinstance(source, Prim):
        return "none: a prim is not decomposed any further"
    return _place(rule_of(source)) if has_rule(source) else f"none: {refusal_of(source)}"


def _parts(op: Op) -> tuple[str, ...]:
    """What a composite op calls, in an example; none where there is no example, or where it needs data."""
    tree = _tree(op) if op.kind == "composite" else None
    return tuple(dict.fromkeys(part.name for part in tree.below)) if isinstance(tree, Reduction) else ()


def _lowering(op: Op) -> dict[str, Rule] | str:
    """The rule of each prim that an example of the op comes down to."""
    if isinstance(op, Prim):
        return {op.name: _lowering_of_prim(op.name)}
    tree = _tree(op)
    if isinstance(tree, str):
        return tree
    return {name: _lowering_of_prim(name) for name in sorted(tree.prims)} or "nothing is left to compute"


def _lowering_of_prim(name: str) -> Rule:
    from minitorch_compile.inductor.lowering import WITHOUT_A_KERNEL
    from minitorch_compile.inductor.lowering import table as lowerings

    return _place(lowerings[name]) if name in lowerings else f"none: {WITHOUT_A_KERNEL[name]}"


def _tree(op: Op) -> Reduction | str:
    """How the op's example comes down to prims; or why that can't be said."""
    if op.name not in example_calls():
        return "through the ops that are made of it"
    try:
        tree = closure(op.name)
    except FakeDataError:
        return "depends on the data"
    assert isinstance(tree, Reduction)
    return tree


# ------------------------------------------------------------------------------------------ the lesson


@cache
def _lesson(name: str) -> Place | None:
    """Where a lesson writes the function, beside the op, or else speaks of the op most; if the lessons are there."""
    files = sorted((ROOT / LESSONS).glob("*.py"))
    for file in files:
        written = _lines_with(rf"^def {name}\(", file)
        if written and _lines_with(rf"(torch|ops|x|y)\.{name}\b", file):
            return _in_project(str(file), written[0])
    spoken = {file: _lines_with(rf"^# .*`(\w+\.)*{name}(\([^`]*\))?`", file) for file in files}
    most = max(files, key=lambda file: len(spoken[file]), default=None)
    return _in_project(str(most), spoken[most][0]) if most and len(spoken[most]) >= TAUGHT else None


def _lines_with(pattern: str, file: Path) -> list[int]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]
