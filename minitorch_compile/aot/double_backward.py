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
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from minitorch_compile.aot.subgraph import extract
from minitorch_compile.autograd import grad
from minitorch_compile.autograd.node import Grad, modified_inplace
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import set_grad_enabled
from minitorch_compile.tensor.tensor_base import TensorBase


class Arguments:
    """The arguments of one call, as long as somebody else keeps them; the last `kept` of them in any case."""

    __slots__ = ("references", "versions")

    def __init__(self, arguments: Sequence[Any], kept: int = 0) -> None:
        count = len(arguments) - kept
        # Notes are taken at every call, hence no function call for each argument.
        self.references = [
            weakref.ref(x) if i < count and isinstance(x, TensorBase) else x for i, x in enumerate(arguments)
        ]
        self.versions = [x.storage.version if isinstance(x, TensorBase) else 0 for x in arguments]

    def tensors(self, needed: Mapping[int, str]) -> list[Any]:
        """All arguments, None for those that nobody needs. RuntimeError if one is gone or was overwritten.

        `needed` are the positions and names of the others.
        """
        found: list[Any] = [None] * len(self.references)
        for i, name in needed.items():
            reference = self.references[i]
            x = found[i] = reference() if isinstance(reference, weakref.ref) else reference
            if x is None:
                raise RuntimeError(
                    "backward with create_graph=True through a compiled function runs its program again, but its"
                    f" argument '{name}' no longer exists; keep a reference to it until then, or call the plain"
                    " function where you need create_graph=True"
                )
            if isinstance(x, TensorBase) and x.storage.version != self.versions[i]:
                raise modified_inplace(x, self.versions[i], x.grad_fn, x.output_index)
        return found


class PlainProgram:
    """The functional program of a compiled function. `differentiable`: which of its outputs have tangents; `inputs`:
    the positions of the arguments that require grad; `written`: of those that the program overwrites; `kept`: how many
    of the last arguments exist for this call only.
    """

    def __init__(
        self,
        module: GraphModule,
        differentiable: Sequence[int],
        inputs: Sequence[int],
        written: Collection[int] = (),
        kept: int = 0,
    ) -> None:
        self.module = module
        self.differentiable = tuple(differentiable)
        self.inputs = tuple(inputs)
        self.written = frozenset(written)
        self.kept = kept
        self._parts: dict[tuple[int, ...], GraphModule] = {}

    def gradients(self, arguments: Arguments, grads: Sequence[Grad], wanted: Sequence[bool]) -> list[Grad]:
        """The gradients of the arguments in `inputs` where `wanted`, with a history; None where there is none.

        `grads` are those of the differentiable outputs, None for outputs that nobody differentiated.
        """
        given = {position: g for position, g in zip(self.differentiable, grads, strict=True) if g is not None}
        part = self._part(tuple(given))
        needed = {i: node.name for i, node in enumerate(part.graph.find_nodes(op="placeholder")) if node.users}
        for i in self.written.intersection(needed):
            raise RuntimeError(
                "backward with create_graph=True through a compiled function runs its program again, but this one"
                f" overwrites its argument '{needed[i]}'; call the plain function where you need create_graph=True, or"
                " write to a clone()"
            )
        values = arguments.tensors(needed)
        asked = [i for i, want in zip(self.inputs, wanted, strict=True) if want and i in needed]
        for i in asked:  # an argument may be computed from another one: a view of each keeps their gradients apart
            values[i] = ops.view_as(values[i], values[i])
        results = _Recorded(part).run(*values)
        pairs = [(x, g) for x, g in zip(results, given.values(), strict=True) if x.requires_grad]
        if not asked or not pairs:
            return [None] * len(self.inputs)
        outputs, grads = zip(*pairs, strict=True)
        found = grad(outputs, [values[i] for i in asked], grads, create_graph=True, allow_unused=True)
        gradient_of = dict(zip(asked, found, strict=True))
        return [gradient_of.get(i) for i in self.inputs]

    def _part(self, outputs: tuple[int, ...]) -> GraphModule:
        """What computes these outputs."""
        if outputs not in self._parts:
            graph = self.module.graph
            returned = graph.output_node().args[0]
            arguments = graph.find_nodes(op="placeholder")
            self._parts[outputs] = extract(self.module, arguments, [returned[i] for i in outputs])
        return self._parts[outputs]


class _Recorded(Interpreter):
    """Runs a functional program under the tape, each node in the grad mode that it was captured in."""

    def run_node(self, node: Node) -> Any:
        with set_grad_enabled("no_grad" not in node.meta):
            return super().run_node(node)
