"""Backends for tests and lessons: run graphs as they are, and count them.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.tensor import tensor
>>> counter = CompileCounter()
>>> optimize(lambda x: (x + 1) * 2, counter)(tensor([1.0]))
tensor([4.])
>>> counter.frame_count, counter.op_count
(1, 2)
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from minitorch_compile.dynamo.eval_frame import optimize, region_of
from minitorch_compile.dynamo.frame_evaluation.backend_slot import backend_named
from minitorch_compile.fx import GraphModule


def eager(module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """The simplest backend: the graph itself."""
    return module


class CompileCounter:
    """A backend that runs graphs as they are and counts graphs and operations."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.frame_count = 0
        self.op_count = 0
        self.graphs: list[GraphModule] = []

    def __call__(self, module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.frame_count += 1
        self.op_count += sum(node.op.startswith("call") for node in module.graph.nodes)
        self.graphs.append(module)
        return module


class CompileCounterWithBackend(CompileCounter):
    """The same, with another backend that compiles the graphs: a name or a function."""

    def __init__(self, backend: Any) -> None:
        super().__init__()
        self.backend = backend

    def __call__(self, module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        super().__call__(module, example_inputs)
        return backend_named(self.backend)(module, example_inputs)


class EagerAndRecordGraphs:
    """A backend that runs graphs as they are and keeps them."""

    def __init__(self) -> None:
        self.graphs: list[GraphModule] = []

    def __call__(self, module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.graphs.append(module)
        return module


def captured(function: Callable[..., Any], *args: Any) -> str:
    """The graphs of one call, one a line.

    >>> from minitorch_compile.tensor import tensor
    >>> print(captured(lambda x, factors: [x * k for k in factors], tensor([1.0]), [2, 3]))
    x -> (x * 2, x * 3)
    """
    counter = CompileCounter()
    optimize(function, counter)(*args)
    return "\n".join(module.graph.compact() for module in counter.graphs)


def generated(function: Callable[..., Any], *args: Any) -> str:
    """What runs instead of the function when its guards hold: the generated body, without guards and comments.

    >>> from minitorch_compile.tensor import tensor
    >>> print(generated(lambda x, log: log.append(x + 1), tensor([1.0]), []))
    (out_0,) = graph(x)
    log.append(out_0)
    return None
    """
    compiled = optimize(function, eager)
    compiled(*args)
    entry = region_of(compiled).caches[0].entries[0]
    body = entry.source.partition("    except READ_ERRORS:\n            return MISS\n")[2].rpartition("    return ")[0]
    lines = [line for line in textwrap.dedent(body).splitlines() if not line.startswith("#")]
    return "\n".join(_without_fallback(lines))


# What deals with a graph that raises, see `graph_failure.py`.
FALLBACK = ("before_", "failure_", "if failure_", "    return raise_as_", "    return run_plainly")


def _without_fallback(lines: list[str]) -> list[str]:
    """The call of the graph and the breaking statement by themselves, not what happens if they raise
    (`graph_failure.py`, `break_writer.py`)."""
    shown: list[str] = []
    for line in lines:
        if line.startswith(("    failure_", "    raise raised_at(", "    raise raised_below(")):
            shown.pop()  # the except
            start = max(index for index, earlier in enumerate(shown) if earlier == "try:")
            shown[start:] = [statement.removeprefix("    ") for statement in shown[start + 1 :]]
        elif not line.startswith(FALLBACK):
            shown.append(line)
    return shown
