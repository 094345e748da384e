"""Look inside the compiler: each stage can print what it made, under PyTorch's artifact names.

From the shell, ``MTC_LOGS="graph_breaks,guards" python train.py`` prints two artifacts to stderr. From Python:

>>> from minitorch_compile import logs
>>> guards = logs.artifact("guards")
>>> with logs.capture("guards") as records:
...     if guards.is_on:            # an attribute: free when off, so building the text costs nothing
...         guards("x.shape == (3, 4)")
>>> records
[Record(name='guards', text='x.shape == (3, 4)')]
>>> logs.set_logs(gaurds=True)
Traceback (most recent call last):
ValueError: logs: no artifact named 'gaurds'. Did you mean 'guards'? The artifacts are: ...
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from minitorch_compile.environment_variables import report_wrong

ENVIRONMENT_VARIABLE, VARIABLE_OF_PYTORCH = "MTC_LOGS", "TORCH_LOGS"
# What PyTorch's components show, in artifacts of here; those that are not listed have the same name.
COMPONENTS: dict[str, list[str]] = {
    "dynamo": ["graph_breaks", "recompiles", "graph_code"],
    "aot": ["aot_graphs"],
    "inductor": ["ir_post_fusion", "output_code", "fusion"],
    "dynamic": ["recompiles", "graph_sizes"],
}

ARTIFACTS: dict[str, str] = {
    "bytecode": "the bytecode of a traced function, before and after Dynamo rewrote it",
    "trace_source": "each source line as the tracer reaches it",
    "trace_bytecode": "each instruction as the tracer executes it, with the stack",
    "trace_call": "each function call that the tracer inlines, with the columns it came from",
    "graph": "the captured graph as a table",
    "graph_code": "the captured graph as Python source",
    "graph_sizes": "the size of every value in the captured graph",
    "graph_breaks": "why and where a graph was broken",
    "guards": "the conditions under which compiled code may be used again",
    "recompiles": "which guard failed when a function was compiled again",
    "recompiles_verbose": "the same with all cache entries that were tried",
    "side_effects": "the mutations that compiled code replays after its graph has run",
    "machine": "the processor that kernels are compiled for: its vectors, instructions, caches and cores",
    "cache": "lookups in the on-disk code cache, hits and misses",
    "aot_joint_graph": "the joint forward and backward graph",
    "aot_graphs": "the forward and the backward graph after partitioning",
    "joint_graph_passes": "what each graph pass changed, and how long it took",
    "partition": "what the partitioner saves for the backward and what it recomputes",
    "pre_grad_graphs": "the captured graph after the passes that run before automatic differentiation",
    "post_grad_graphs": "the primitive graph that is lowered to loops",
    "fallbacks": "operations that run as they are, since no kernel can be generated for them",
    "ir_pre_fusion": "loop IR, one loop nest an operation",
    "ir_post_fusion": "loop IR after fusion",
    "fusion": "each pair of loops considered for fusion, and why it was not fused",
    "schedule": "the order of the kernels, and what each computes",
    "memory_plan": "when each buffer is allocated, reused and freed",
    "output_code": "the generated source file of a graph",
    "kernel_code": "the generated source of each kernel",
    "autotuning": "the candidates measured and the winner",
    "perf_hints": "missed optimisations that the user can do something about",
    "dynamic": "decisions about dynamic shapes",
    "cudagraphs": "when CUDA graphs are recorded, replayed or refused",
    "compile_times": "how long each stage of a compilation took",
}


class Record(NamedTuple):
    """One logged text."""

    name: str
    text: str


class Artifact:
    """The logger of one artifact. Call it with a text; it does nothing while `is_on` is False."""

    __slots__ = ("name", "is_on")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_on = False

    def __call__(self, text: str) -> None:
        if self.is_on:
            record = Record(self.name, str(text))
            takers = [capture.records for capture in _captures if self.name in capture.names]
            for records in takers:
                records.append(record)
            if not takers:
                _write(record)

    def __repr__(self) -> str:
        return f"<artifact {self.name}: {'on' if self.is_on else 'off'}>"


class Capture(NamedTuple):
    """One running `capture`: the artifacts it takes, and what it got so far."""

    names: set[str]
    records: list[Record]


_artifacts = {name: Artifact(name) for name in ARTIFACTS}
_captures: list[Capture] = []  # innermost last


def _write(record: Record) -> None:
    """One line goes behind its label; a longer text goes below it, untouched, so that it can be pasted."""
    separator = "\n" if "\n" in record.text else " "
    print(f"[{record.name}]{separator}{record.text}", file=sys.stderr)


def artifact(name: str) -> Artifact:
    """The logger of one artifact; the same object each time."""
    _check(name)
    return _artifacts[name]


def set_logs(*names: str, **switches: bool) -> None:
    """Turn on exactly these artifacts, and all others off: `set_logs("guards")` or `set_logs(guards=True)`.

    `set_logs()` turns everything off; the name "all" stands for every artifact, and a leading "-" takes one out again.

    >>> set_logs("all", "-guards")
    >>> artifact("guards").is_on, artifact("fusion").is_on
    (False, True)
    >>> set_logs()
    """
    _switch(_selected([*names, *(name if on else "-" + name for name, on in switches.items())]))


def _selected(names: Iterable[str]) -> set[str]:
    """The artifacts that a list such as ("all", "-guards") stands for."""
    chosen: set[str] = set()
    for name in names:
        _check(name.removeprefix("-"))
        meant = ARTIFACTS if name.removeprefix("-") == "all" else {name.removeprefix("-")}
        chosen = chosen.difference(meant) if name.startswith("-") else chosen.union(meant)
    return chosen


def _switch(on: set[str]) -> None:
    for name, logger in _artifacts.items():
        logger.is_on = name in on


def enabled() -> list[str]:
    """The names of the artifacts that are on."""
    return [name for name, logger in _artifacts.items() if logger.is_on]


@contextmanager
def capture(*names: str) -> Iterator[list[Record]]:
    """Collect these artifacts in a list instead of printing them; the previous setting returns afterwards."""
    running = Capture(_selected(names), [])
    before = set(enabled())
    _switch(before | running.names)
    _captures.append(running)
    try:
        yield running.records
    finally:
        _captures.pop()
        _switch(before)


def _check(name: str) -> None:
    if name not in _artifacts and name != "all":
        close = difflib.get_close_matches(name, _artifacts, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = ", ".join(sorted(_artifacts))
        raise ValueError(f"logs: no artifact named {name!r}.{hint} The artifacts are: {known}.")


def describe() -> str:
    """A table of the artifacts and what each shows; printed by ``MTC_LOGS=help``."""
    width = max(map(len, ARTIFACTS))
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in ARTIFACTS.items())


def set_logs_from_environment() -> None:
    """Read MTC_LOGS, and PyTorch's TORCH_LOGS: names separated by commas, "all", "-name", or "help".

    A name that doesn't exist is left out.
    """
    names = [name.strip() for name in os.environ.get(ENVIRONMENT_VARIABLE, "").split(",") if name.strip()]
    for given in os.environ.get(VARIABLE_OF_PYTORCH, "").split(","):
        name = given.strip().lstrip("+-")
        names += [] if given.strip().startswith("-") else COMPONENTS.get(name, [name] if name else [])
    if "help" in names:
        print(f"{ENVIRONMENT_VARIABLE} takes names separated by commas:\n{describe()}", file=sys.stderr)
        names = [name for name in names if name != "help"]
    known = [name for name in names if name.removeprefix("-") in {"all", *ARTIFACTS}]
    for name in set(names).difference(known):
        close = difflib.get_close_matches(name, ARTIFACTS, n=1)
        allowed = f"{close[0] if close else 'help'!r}, or other names that MTC_LOGS=help lists"
        report_wrong(ENVIRONMENT_VARIABLE, name, allowed, ", ".join(known) or "no log")
    set_logs(*known)


set_logs_from_environment()
