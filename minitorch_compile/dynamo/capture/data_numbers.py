"""Numbers that only the data tell, in the graph: sizes of `x[mask]`, and what `.item()` gives.

Each is a node. A whole number is a symbol besides, an unbacked one. What shape rules expect of it (to be neither 0 nor
1, to be equal to another) is checked by nodes; if it is not so, the plain function runs.

>>> from minitorch_compile import config
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones, zeros
>>> def f(x):
...     return x[x > 0] * ones(2), zeros(x.sum().long().item())
>>> with config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
...     print(captured(f, ones(2)).replace("; ", "\\n"))                  # doctest: +NORMALIZE_WHITESPACE
x -> getitem = x[x > 0]
size = getitem.size(0)
check_expected = check_expected(2 <= size, '2 <= u0')
check_expected_1 = check_expected(size == 2, 'u0 == 2')
item = x.sum().long().item()
check_expected_2 = check_expected(2 <= item, '2 <= u1')
(getitem * ones(2), zeros(item))

`meta["runs_plainly"]` marks such nodes: no backend compiles them. `meta["decides"]` has the symbols
that the sizes of a node's value decide, each with its dimension, or None if the value itself is the number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile import config
from minitorch_compile.dynamo.errors import UnexpectedData, Unsupported, UserError
from minitorch_compile.dynamo.execution.concrete import COMPARE
from minitorch_compile.dynamo.fakes.graph_steps import is_inside
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.tensors.data_numbers import DataNumberVariable
from minitorch_compile.dynamo.variables.tracer import Output
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import Range, Relation, Symbol, SymInt
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.modes.symbolic_layout import unknown_sizes
from minitorch_compile.tensor.numerics.dtype import BOOL, FLOATING
from minitorch_compile.tensor.numerics.numeric_limits import iinfo
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
    from minitorch_compile.fx.size_nodes import SizeNodes


def check_expected(holds: bool, text: str) -> None:
    """UnexpectedData unless what was expected of the data is so."""
    if not holds:
        raise UnexpectedData(f"Runtime assertion failed for expression {text}")


def is_float(number: Any) -> bool:
    """Whether it is a float and no other number."""
    return type(number) is float


class DataNumbers(Output):
    """The nodes of such numbers."""

    size_nodes: SizeNodes
    frames: list[SymbolicInterpreter]
    places: dict[Symbol, tuple[Node, int]]  # of which node a symbol is the size, in which dimension
    checked: dict[Relation, Node]  # what was expected, and is in the graph
    whole: bool  # the graph must not break: then such numbers are in it, whatever the options say

    # --- sizes --------------------------------------------------------------------------------------------------------

    def new_data_size(self, within: Range) -> SymInt | None:
        """A symbol for a size that data decide; None if the graph is to break."""
        if not (self.whole or config.capture_dynamic_output_shape_ops) or is_inside(self.graph):
            return None
        return self.sizes.env.create_unbacked(within)

    def bind_data_sizes(self, node: Node, fake: TensorBase) -> None:
        """The sizes of this new tensor say what the symbols are that were met for the first time."""
        unbacked = self.sizes.env.unbacked
        for dim, size in enumerate(fake.sizes):
            symbol = size.expression.only_symbol if isinstance(size, SymInt) else None
            if symbol in unbacked and symbol is not None and not self._is_bound(symbol):
                self.places[symbol] = node, dim
                node.meta["decides"] = {**node.meta.get("decides", {}), symbol: dim}
        for symbol in {s for size in unknown_sizes(fake) for s in size.expression.symbols}:
            if symbol in unbacked and not self._is_bound(symbol):
                raise Unsupported(
                    "data-dependent-shape", f"a size of {node.target} is computed from one that is not seen."
                )

    def _is_bound(self, symbol: Symbol) -> bool:
        return symbol in self.places or self.size_nodes.knows(symbol)

    def data_size_node(self, symbol: Symbol) -> Node:
        """The node that reads a size from the tensor that has it."""
        if symbol not in self.places:
            raise UserError.of(symbol)
        tensor, dim = self.places[symbol]
        with self.graph.inserting_after(tensor):
            node = self.graph.call_method("size", (tensor, dim))
        node.meta.update(_told_of(tensor), runs_plainly=True)
        return node

    def forget_data_numbers(self, kept: set[Node]) -> None:
        """The other nodes were taken out of the graph."""
        self.places = {symbol: place for symbol, place in self.places.items() if place[0] in kept}
        self.checked = {relation: node for relation, node in self.checked.items() if node in kept}

    # --- numbers ------------------------------------------------------------------------------------------------------

    @property
    def captures_numbers(self) -> bool:
        """Whether `.item()` is a number of the graph."""
        return self.whole or config.capture_scalar_outputs

    def item_of(self, tensor: TensorVariable) -> Value | None:
        """tensor.item() as a number of the graph, None if the graph is to break."""
        fake = tensor.fake
        count = numel(fake.sizes)
        if not self.captures_numbers or type(count) is not int or count != 1 or is_inside(self.graph):
            return None
        if fake.dtype.category == FLOATING:
            return DataNumberVariable(self, self._number("item", (tensor.node,), math.nan), float)
        if fake.dtype.category == BOOL:
            return DataNumberVariable(self, self._number("item", (tensor.node,), True), bool)
        if fake.dtype.category > FLOATING:
            return None
        limits = iinfo(fake.dtype)
        return self._whole(self._number("item", (tensor.node,), None), Range(limits.min, limits.max))

    def whole_number(self, function: Callable[..., Any], args: list[Value]) -> Value:
        node = self.plain_node(function, args, None)
        node.meta["may_raise"] = True  # int(nan)
        return self._whole(node, Range(-math.inf, math.inf))

    def unknown_whole_number(self, node: Node) -> Value:
        """The number that a node gives, of which nothing is known."""
        return self._whole(node, Range(-math.inf, math.inf))

    def _whole(self, node: Node, within: Range) -> Value:
        """The number that a node gives, as a symbol."""
        number = node.meta["val"] = self.sizes.env.create_unbacked(within)
        (symbol,) = number.expression.symbols
        node.meta["decides"] = {symbol: None}
        self.size_nodes.know(symbol, node)
        return self.from_python(number)

    def plain_node(self, function: Callable[..., Any], args: list[Value], seen: Any) -> Node:
        """A call that runs as it is: arithmetic of such numbers, a comparison. `seen` has the type of the result."""
        return self._number(function, tuple(self.tracer.graph_argument(arg) for arg in args), seen)

    def _number(self, target: Any, arguments: tuple[Any, ...], seen: Any) -> Node:
        kind = "call_method" if isinstance(target, str) else "call_function"
        node = self.graph.create_node(kind, target, arguments, {})
        node.meta.update(self.place(), val=seen, runs_plainly=True)
        return node

    def place(self) -> dict[str, Any]:
        """What a node keeps of where it was made."""
        tracer = self.tracer
        return {"stack": tracer.user_line(), "module": tracer.module_path(), "instruction": self.frames[0].current}

    # --- what must hold -----------------------------------------------------------------------------------------------

    def expect(self, relation: Relation) -> None:
        """Holds from now on: the graph checks it."""
        self.sizes.env.expect(relation)
        self.write_checks()

    def write_checks(self) -> None:
        """The nodes that check what was expected since, of numbers that are in the graph. What is not, a size inside of
        one operation, that operation finds out by itself."""
        for relation in self.sizes.env.expected:
            unbacked = relation.difference.symbols & self.sizes.env.unbacked
            if relation in self.checked or not all(map(self._is_bound, unbacked)):
                continue
            if is_inside(self.graph):
                raise UserError.of(relation)
            sides = tuple(self.size_nodes.expression(side, self.sizes.env) for side in relation.sides)
            holds = self._number(COMPARE[relation.sign], sides, True)
            node = self.checked[relation] = self._number(check_expected, (holds, str(relation)), None)
            node.meta.update(may_raise=True, handled=self.is_handled())
            self.fakes.written_first = frozenset(self.fakes.written)

    def expect_float(self, node: Node) -> None:
        """A number that a node gives is a float, which the graph checks: of `max(x, 2)` the other may win."""
        holds = self._number(is_float, (node,), True)
        check = self._number(check_expected, (holds, f"type({node.name}) is float"), None)
        check.meta.update(may_raise=True, handled=self.is_handled())
        self.fakes.written_first = frozenset(self.fakes.written)

    def is_handled(self) -> bool:
        """Whether the line being traced stands in a try or with block, here or in a caller."""
        return any(frame.program.handler_of(frame.current) is not None for frame in self.frames)


def _told_of(node: Node) -> dict[str, Any]:
    return {key: node.meta[key] for key in ("stack", "module", "instruction") if key in node.meta}
