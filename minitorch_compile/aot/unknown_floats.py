"""Graphs that are given floats, for compilers of graphs on tensors: each float arrives as a 0-d tensor.

A learning rate that changes is an operand of the kernels, read from memory like any other. What a rule must know of it
(`dropout` compares its probability with 0 and 1) is decided by the value at hand, and holds for a *version*: a call
whose floats answer otherwise gets another version.

>>> import minitorch_compile as torch
>>> from minitorch_compile import logs
>>> step = torch.compile(lambda x, lr: torch.nn.functional.leaky_relu(x, lr), dynamic=True)
>>> with logs.capture("dynamic") as records:
...     [step(torch.tensor([-2.0, 2.0]), lr).tolist() for lr in (0.5, 0.25, 0.75)]
[[-1.0, 2.0], [-0.5, 2.0], [-1.5, 2.0]]
>>> [record.text for record in records if "version" in record.text]
['version 1 for lr = 0.5, and whatever else is so']

Source: torch/fx/passes/_tensorify_python_scalars.py, which does the same to graphs of prims.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile import logs
from minitorch_compile.aot.float_nodes import number_of
from minitorch_compile.fx import Graph, GraphModule, Node
from minitorch_compile.symbolic import Assumptions, FrozenShapeEnv, SymFloat
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.numerics.dtype import float64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, from_parts

Compiled = Callable[..., Any]
Backend = Callable[[GraphModule, list[Any]], Compiled]

NO_SIZES = Size()
MOST_VERSIONS = 32  # beyond that, the oldest is forgotten
log = logs.artifact("dynamic")


class ForAllFloats:
    """The callable for a graph with unknown floats. `backend` gets graphs on tensors, one for each version."""

    def __init__(self, backend: Backend, graph: GraphModule, example_inputs: Sequence[Any]) -> None:
        self.backend = backend
        self.graph = graph
        self.example_inputs = list(example_inputs)
        self._floats = {i: f"f{i}" for i, x in enumerate(example_inputs) if isinstance(x, SymFloat)}
        self._versions: list[tuple[Assumptions, Compiled]] = []
        self._lock = threading.Lock()
        # At once, since rules may ask for sizes, too: they can until the guards are written.
        self._compiled({name: example_inputs[i].hint for i, name in self._floats.items()})

    def __call__(self, *arguments: Any) -> Any:
        given, values = list(arguments), dict[str, float]()
        for i, name in self._floats.items():
            values[name] = given[i]
            given[i] = as_tensor(given[i])
        assumed, compiled = self._version(values) or self._compiled(values)
        assumed.at(values)
        return compiled(*given)

    def _version(self, values: dict[str, float]) -> tuple[Assumptions, Compiled] | None:
        """The one for these floats, if there is one."""
        for version in self._versions:
            if version[0].hold(values):
                return version
        return None

    def _compiled(self, values: dict[str, float]) -> tuple[Assumptions, Compiled]:
        with self._lock:
            known = self._version(values)
            if known is None:
                assumed = Assumptions(values)
                if log.is_on:
                    log(f"version {len(self._versions) + 1} for {self._told(values)}, and whatever else is so")
                known = assumed, self._backend_or_plain(assumed)
                if assumed.conditions and log.is_on:
                    log(f"it is for {' and '.join(assumed.conditions)}")
                self._versions = [*self._versions[-(MOST_VERSIONS - 1) :], known]
            return known

    def _backend_or_plain(self, assumed: Assumptions) -> Compiled:
        """A later version may ask of sizes what no guard says, as a branch does that was not taken before."""
        try:
            return self.backend(*on_tensors(self.graph, self.example_inputs, assumed, self._floats))
        except FrozenShapeEnv as error:
            log(f"this version runs op by op: {error}")
            return self._plain

    def _plain(self, *given: Any) -> Any:
        return self.graph(*[x.item() if i in self._floats else x for i, x in enumerate(given)])

    def _told(self, values: dict[str, float]) -> str:
        names = {name: self.example_inputs[i] for i, name in self._floats.items()}
        return ", ".join(f"{names[name]} = {value}" for name, value in values.items())


def as_tensor(number: float) -> TensorBase:
    """A float as a 0-d tensor of float64."""
    memory = Storage(np.array((number,), np.float64))  # which kernels ask for at once
    return from_parts(memory, 0, NO_SIZES, (), float64, CPU)


def on_tensors(
    module: GraphModule, example_inputs: Sequence[Any], assumed: Assumptions, names: dict[int, str]
) -> tuple[GraphModule, list[Any]]:
    """The graph and its example inputs with a 0-d tensor for each float, which the graph begins by reading.

    `names` are those of the floats in what is assumed, by their positions.
    """
    graph, counterpart = Graph(), dict[Node, Any]()
    examples = list(example_inputs)
    for i, node in enumerate(module.graph.find_nodes(op="placeholder")):
        counterpart[node] = graph.node_copy(node, counterpart.__getitem__)
        if i in names:
            examples[i] = empty_fake((), None, float64)
            counterpart[node].meta = {"val": examples[i]}
    for i, node in enumerate(module.graph.find_nodes(op="placeholder")):
        if i in names:
            counterpart[node] = graph.call_function(number_of, (counterpart[node],))
            counterpart[node].meta["val"] = SymFloat(names[i], assumed)
    for node in module.graph.nodes:
        if node.op != "placeholder":
            counterpart[node] = graph.node_copy(node, counterpart.__getitem__)
    return GraphModule(module.attributes, graph, class_name=module.class_name), examples
