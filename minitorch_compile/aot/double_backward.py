"""Gradients that are to be differentiated again: the program runs once more, as plain operations.

A compiled backward pass leaves no history. With create_graph=True it is not used: the functional program is run op by
op under the tape, on the arguments of the call, and `autograd.grad` does the rest. It costs what the plain program
costs, and gives gradients of every order.

>>> import minitorch_compile as torch
>>> cube = torch.compile(lambda x: x * x * x)
>>> x = torch.tensor(2.0, requires_grad=True)
>>> (first,) = torch.autograd.grad(cube(x), x, create_graph=True)
>>> torch.autograd.grad(first, x)
(tensor(12.),)

A call doesn't keep its arguments alive for that: it would make every training step larger. Parameters and data live
longer than the pass anyway; an argument that doesn't is an error that says so.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from minitorch_compile.aot.float_nodes import number_of
from minitorch_compile.aot.subgraph import extract
from minitorch_compile.autograd import grad
from minitorch_compile.autograd.node import Edge, Grad, modified_inplace
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import set_grad_enabled

RUNS_AGAIN = "backward with create_graph=True through a compiled function runs its program again, but"


class PlainProgram:
    """The functional program of a compiled function. `differentiable`: which of its outputs have tangents; `inputs`:
    the positions of the arguments that require grad; `written`: of those that the program overwrites. The last `drawn`
    arguments, seed and offset, are made for each call, as those are that hold a float.
    """

    def __init__(
        self,
        module: GraphModule,
        differentiable: Sequence[int],
        inputs: Sequence[int],
        written: Collection[int] = (),
        drawn: int = 0,
    ) -> None:
        self.module = module
        self.differentiable = tuple(differentiable)
        self.inputs = tuple(inputs)
        self.written = frozenset(written)
        placeholders = module.graph.find_nodes(op="placeholder")
        looks = [node.meta["val"] for node in placeholders]
        sizes = [i for i, look in enumerate(looks) if isinstance(look, SymInt)]
        floats = [i for i, node in enumerate(placeholders) if any(user.target is number_of for user in node.users)]
        self.tensors = [i for i in range(len(looks)) if i not in sizes]
        self.held = [*sizes, *floats, *range(len(looks) - drawn, len(looks))]
        self.others = [i for i in self.tensors if i not in self.inputs and i not in self.held]
        self._parts: dict[tuple[int, ...], GraphModule] = {}

    def gradients(
        self, arguments: Arguments, edges: Sequence[Edge], grads: Sequence[Grad], wanted: Sequence[bool]
    ) -> list[Grad]:
        """The gradients of the arguments in `inputs`, to which `edges` lead, where `wanted`, with a history.

        `grads` are those of the differentiable outputs, None for outputs that nobody differentiated.
        """
        given = {position: g for position, g in zip(self.differentiable, grads, strict=True) if g is not None}
        part = self._part(tuple(given))
        values = list(self._values(part, arguments, dict(zip(self.inputs, edges, strict=True))))
        asked = [i for i, want in zip(self.inputs, wanted, strict=True) if want and values[i] is not None]
        for i in asked:  # an argument may be computed from another one: a view of each keeps their gradients apart
            values[i] = ops.view_as(values[i], values[i])
        results = _Recorded(part).run(*values)
        pairs = [(x, g) for x, g in zip(results, given.values(), strict=True) if x.requires_grad]
        if not asked or not pairs:
            return [None] * len(self.inputs)
        outputs, tangents = zip(*pairs, strict=True)
        found = grad(outputs, [values[i] for i in asked], tangents, create_graph=True, allow_unused=True)
        gradient_of = dict(zip(asked, found, strict=True))
        return [gradient_of.get(i) for i in self.inputs]

    def _part(self, outputs: tuple[int, ...]) -> GraphModule:
        """What computes these outputs, of all the arguments."""
        if outputs not in self._parts:
            graph = self.module.graph
            returned = graph.output_node().args[0]
            self._parts[outputs] = extract(
                self.module, graph.find_nodes(op="placeholder"), [returned[i] for i in outputs]
            )
        return self._parts[outputs]

    def _values(self, part: GraphModule, arguments: Arguments, edges: dict[int, Edge]) -> Iterator[Any]:
        """The arguments, None for those that the part doesn't read. RuntimeError if one is gone or was overwritten."""
        versions = dict(zip(self.tensors, arguments.versions, strict=True))
        for i, node in enumerate(part.graph.find_nodes(op="placeholder")):
            if not node.users:
                yield None
                continue
            x = arguments.find(i, edges)
            if x is None:
                raise RuntimeError(
                    f"{RUNS_AGAIN} its argument '{node.name}' no longer exists; keep a reference to it until then, or"
                    " call the plain function where you need create_graph=True"
                )
            if i in self.written:
                raise RuntimeError(
                    f"{RUNS_AGAIN} it overwrites its argument '{node.name}'; write to a clone(), or call the plain"
                    " function where you need create_graph=True"
                )
            if i in versions and x.storage.version != versions[i]:
                raise modified_inplace(x, versions[i], x.grad_fn, x.output_index)
            yield x


class Arguments:
    """The arguments of one call, as long as somebody else keeps them, and the versions of their storages.

    It is made at every call, so leaves, which most arguments are, need no note: the edges of the call's node know them.
    """

    __slots__ = ("held", "references", "versions")

    def __init__(self, arguments: Sequence[Any], plain: PlainProgram) -> None:
        inner = [i for i in plain.inputs if arguments[i].grad_fn is not None]
        self.references = {i: weakref.ref(arguments[i]) for i in (*plain.others, *inner)}
        self.held = {i: arguments[i] for i in plain.held}
        tensors = [arguments[i] for i in plain.tensors] if len(plain.tensors) < len(arguments) else arguments
        self.versions = [x.storage.version for x in tensors]

    def find(self, position: int, edges: dict[int, Edge]) -> Any:
        """The argument, None if it no longer exists."""
        if position in self.held:
            return self.held[position]
        if position in self.references:
            return self.references[position]()
        leaf: Any = edges[position][0]
        return None if leaf is None else leaf.variable


class _Recorded(Interpreter):
    """Runs a functional program under the tape, each node in the grad mode that it was captured in."""

    def run_node(self, node: Node) -> Any:
        with set_grad_enabled("no_grad" not in node.meta):
            return super().run_node(node)
