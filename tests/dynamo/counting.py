"""Graphs and operations of small functions, counted alike under PyTorch and under this package.

A file in tests/dynamo/counted is a program for PyTorch: `import torch` finds the one or the other. Each function marked
with `@counts` is compiled, called once, and what the backend was given is counted: one number of operations for each
graph. tools/record_counts.py writes what PyTorch says to tests/dynamo/recorded_counts.json.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parent / "counted"
RECORDED = Path(__file__).resolve().parent / "recorded_counts.json"

Arguments = Callable[[Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A function of a program file, loaded as `module`, and how to make its arguments, given torch."""

    name: str
    module: Any
    function: Callable[..., Any]
    arguments: Arguments


def matrix(torch: Any) -> Any:
    """[2, 3] float32: 0, 0.25, ..., 1.25"""
    return torch.arange(6, dtype=torch.float32).view(2, 3) / 4


def one_matrix(torch: Any) -> tuple[Any, ...]:
    return (matrix(torch),)


def counts(arguments: Any) -> Any:
    """Marks a function as a case: `@counts`, or `@counts(lambda torch: (argument, ...))`."""
    if getattr(arguments, "__name__", "<lambda>") != "<lambda>":
        return _marked(arguments, one_matrix)
    return lambda function: _marked(function, arguments)


def _marked(function: Callable[..., Any], arguments: Arguments) -> Callable[..., Any]:
    module = sys.modules[function.__module__]
    module.__dict__.setdefault("CASES", []).append(Case(function.__name__, module, function, arguments))
    return function


def program_files() -> list[Path]:
    return sorted(file for file in PROGRAMS.glob("*.py") if file.stem not in ("conftest", "__init__"))


def load(file: Path) -> list[Case]:
    """The cases of a file; whoever calls this says what `import torch` is to find."""
    spec = importlib.util.spec_from_file_location(f"counted_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses, enums and `counts` look their module up there
    spec.loader.exec_module(module)
    return module.CASES  # type: ignore[no-any-return]


def counted(case: Case, torch: Any) -> list[int]:
    """How many operations each graph of one compiled call has, in the order in which they were compiled."""
    sizes: list[int] = []

    def backend(module: Any, example_inputs: list[Any]) -> Any:
        sizes.append(sum(node.op.startswith("call") for node in module.graph.nodes))
        return module

    torch.compiler.reset()
    torch.manual_seed(0)
    torch.compile(case.function, backend=backend)(*case.arguments(torch))
    return sizes
