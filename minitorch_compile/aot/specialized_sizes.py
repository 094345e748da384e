"""One captured graph for all sizes, compiled for each set of sizes when it is first met.

Some backends make code for sizes that are numbers. For them a graph with unknown sizes is kept as it is; at each call
the sizes at hand are put in for the symbols, and what was compiled for the same sizes before is used again. So tracing
and guards are paid for once, and kernels are as good as with fixed sizes.

>>> import minitorch_compile as torch
>>> from minitorch_compile import logs
>>> double = torch.compile(lambda x: x.view(-1) * x.shape[0], dynamic=True, backend="aot_eager_decomp_partition")
>>> with logs.capture("dynamic") as records:
...     shapes = [double(torch.ones(n, 2)).shape for n in (3, 4, 3)]
>>> shapes, [record.text for record in records][-1]
([torch.Size([6]), torch.Size([8]), torch.Size([6])], 'compiling for s0 = 4, s1 = 2: 2 of at most 32 sets of sizes')
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile import logs
from minitorch_compile.fx import Graph, GraphModule, Node
from minitorch_compile.fx.size_nodes import has_plain_calls
from minitorch_compile.symbolic import SizeFloat, SymInt
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like

Compiled = Callable[..., Any]
Backend = Callable[[GraphModule, list[Any]], Compiled]

SIZES = (SymInt, SizeFloat)
Values = Mapping[Any, Any]
MOST_VERSIONS = 32  # beyond that, the oldest is forgotten
log = logs.artifact("dynamic")


def for_known_sizes(backend: Backend) -> Backend:
    """A backend that compiles for sizes that are numbers, as one that takes graphs with unknown sizes, too."""

    @functools.wraps(backend)
    def compile_for_any_sizes(graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        if any(isinstance(x, SymInt) for x in example_inputs) and not has_plain_calls(graph.graph):
            return SpecializedGraphs(backend, graph, example_inputs)
        return backend(graph, example_inputs)

    return compile_for_any_sizes


class SpecializedGraphs:
    """The callable for a graph with unknown sizes: `backend` is asked once for each set of sizes."""

    def __init__(self, backend: Backend, graph: GraphModule, example_inputs: Sequence[Any]) -> None:
        self.backend = backend
        self.graph = graph
        self.example_inputs = list(example_inputs)
        self._sizes = [i for i, x in enumerate(example_inputs) if isinstance(x, SIZES)]
        self._tensors = [i for i, x in enumerate(example_inputs) if not isinstance(x, SIZES)]
        self._versions: OrderedDict[tuple[float, ...], Compiled] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        sizes = tuple([arguments[i] for i in self._sizes])
        version = self._versions.get(sizes)
        if version is None:
            version = self._compiled(sizes)
        return version(*[arguments[i] for i in self._tensors])

    def _compiled(self, sizes: tuple[float, ...]) -> Compiled:
        with self._lock:
            if sizes not in self._versions:
                values = self._values(sizes)
                if len(self._versions) >= MOST_VERSIONS:
                    self._versions.popitem(last=False)
                if log.is_on:
                    at_hand = ", ".join(f"{symbol} = {value}" for symbol, value in values.items())
                    count = len(self._versions) + 1
                    log(f"compiling for {at_hand}: {count} of at most {MOST_VERSIONS} sets of sizes")
                self._versions[sizes] = self.backend(*with_sizes(self.graph, self.example_inputs, values))
            return self._versions[sizes]

    def _values(self, sizes: tuple[float, ...]) -> Values:
        """By the symbols, and by the texts of floats."""
        examples = [self.example_inputs[i] for i in self._sizes]
        names = [x.text if isinstance(x, SizeFloat) else x.expression.only_symbol for x in examples]
        return {name: size for name, size in zip(names, sizes, strict=True) if name is not None}


def with_sizes(
    module: GraphModule, example_inputs: Sequence[Any], values: Values
) -> tuple[GraphModule, list[TensorBase]]:
    """The graph and its example inputs with numbers for the unknown sizes, which are no inputs any more."""
    known = _KnownSizes(values)
    graph, counterpart = Graph(), dict[Node, Any]()
    for node in module.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, SIZES):
            counterpart[node] = known.of(value)
            continue
        made = counterpart[node] = graph.node_copy(node, counterpart.__getitem__)
        made.meta = {**node.meta, "val": known.of(value)} if "val" in node.meta else dict(node.meta)
    examples = [known.of(x) for x in example_inputs if not isinstance(x, SIZES)]
    return GraphModule(module.attributes, graph, class_name=module.class_name), examples


class _KnownSizes:
    """Puts numbers in for symbols. Fakes that share a storage share one afterwards."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self._storages: dict[int, tuple[Storage, Storage]] = {}

    def of(self, value: Any) -> Any:
        """A size, a fake tensor or a nesting of them, without unknown sizes."""
        if isinstance(value, SymInt):
            return value.expression.evaluate(self.values)
        if isinstance(value, SizeFloat):
            return self.values[value.text]
        if isinstance(value, TensorBase):
            return self._tensor(value)
        if type(value) in (tuple, list, Size):
            return type(value)(map(self.of, value))
        return value

    def _tensor(self, x: TensorBase) -> Any:
        fake = fake_like(x)
        fake.sizes, fake.strides = Size(map(self.of, x.sizes)), tuple(map(self.of, x.strides))
        fake.offset = self.of(x.offset)
        fake.storage = self._storages.setdefault(id(x.storage), (x.storage, fake.storage))[1]
        return fake
