"""The functions of torch.cond and torch.while_loop in a graph: each compiled as a graph of its own, when first run.

A function may be called with other tensors each time, as in a loop; so a version is for arguments that look like those
which it was compiled for. With numbers among its arguments it is run call by call, since those of a loop change in each
round; and so it is inside a transform such as vmap, where a tensor is more than its numbers.

>>> from minitorch_compile.aot.make_fx import make_fx
>>> from minitorch_compile.tensor import ones
>>> asked, doubled = [], make_fx(lambda x: (x + x,))(ones(1))
>>> double = CompiledSubgraph(doubled, lambda graph, examples: asked.append(examples) or graph)
>>> [double(ones(n))[0].shape[0] for n in (2, 3, 2)], len(asked)
([2, 3, 2], 2)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.aot.specialized_sizes import with_sizes
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.symbolic import Symbol, SymInt
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.grad_mode import is_grad_enabled
from minitorch_compile.tensor.modes.symbolic_layout import unknown_sizes
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like

Compiled = Callable[..., Any]
Backend = Callable[[GraphModule, list[Any]], Compiled]

MOST_VERSIONS = 32  # beyond that, the oldest is forgotten


class CompiledSubgraph:
    """A graph as a function of tensors and numbers."""

    def __init__(self, module: GraphModule, backend: Backend) -> None:
        self.module = module
        self.backend = backend
        self._versions: OrderedDict[tuple[Any, ...], Compiled] = OrderedDict()

    def __call__(self, *arguments: Any) -> Any:
        if stacks.transforms or not all(isinstance(x, TensorBase) for x in arguments):
            return self.module(*arguments)
        looks = (is_grad_enabled(), *map(_look, arguments))
        version = self._versions.get(looks)
        if version is None:
            version = self._versions[looks] = self._version(arguments)
            if len(self._versions) > MOST_VERSIONS:
                self._versions.popitem(last=False)
        return version(*arguments)

    def _version(self, arguments: Sequence[Any]) -> Compiled:
        """Compiled for the sizes at hand; run as it is if these don't tell all that the graph is about."""
        nodes = self.module.graph.nodes
        values = _sizes_told(self.module, arguments)
        met = {s for node in nodes for size in unknown_sizes(node.meta.get("val")) for s in size.expression.symbols}
        if not values:
            return self.backend(self.module, examples(arguments))
        if not met <= values.keys():
            return self.module
        return self.backend(with_sizes(self.module, [], values)[0], examples(arguments))


def _sizes_told(module: GraphModule, arguments: Sequence[Any]) -> dict[Symbol, int]:
    """The symbols that are a size of an argument, with the size that it has."""
    values = {}
    for node, x in zip(module.graph.find_nodes(op="placeholder"), arguments, strict=True):
        for size, known in zip(node.meta["val"].sizes, x.sizes, strict=True):
            symbol = size.expression.only_symbol if isinstance(size, SymInt) else None
            if symbol is not None:
                values[symbol] = known
    return values


def _look(x: TensorBase) -> tuple[Any, ...]:
    return tuple(x.sizes), tuple(x.strides), x.offset, x.dtype, x.device, x.requires_grad


def examples(arguments: Sequence[TensorBase]) -> list[TensorBase]:
    """Fakes that look like the arguments, and share memory as they do."""
    storages: dict[int, Any] = {}
    made = []
    for x in arguments:
        example = fake_like(x)
        example.storage = storages.setdefault(id(x.storage.memory), example.storage)
        made.append(example)
    return made
