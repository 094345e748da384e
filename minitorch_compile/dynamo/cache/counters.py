"""How often what happened, under PyTorch's names: `torch._dynamo.utils.counters`.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> counters.clear()
>>> _ = optimize(lambda x: x.sin() + 1, eager)(ones(2))
>>> counters["frames"], counters["stats"]
(Counter({'total': 1, 'ok': 1}), Counter({'calls_captured': 2, 'unique_graphs': 1}))
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minitorch_compile.dynamo.errors import GraphBreak
    from minitorch_compile.fx import GraphModule

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


def count_frame() -> None:
    """A frame is about to be compiled."""
    counters["frames"]["total"] += 1


def count_compiled() -> None:
    """It was."""
    counters["frames"]["ok"] += 1


def count_graph(module: GraphModule) -> None:
    """A graph goes to the backend."""
    counters["stats"]["unique_graphs"] += 1
    counters["stats"]["calls_captured"] += sum(node.op.startswith("call") for node in module.graph.nodes)


def count_break(broken: GraphBreak) -> None:
    """A place where a graph ended, counted by its reason."""
    counters["graph_break"][f"{broken.title}: {broken.reason}"] += 1
