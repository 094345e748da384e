"""Constants that are worth computing once: positions, masks and tables that no argument has a say in.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import arange, empty_fake
>>> module = trace(lambda x: x * (arange(4) / 4).cos(), [empty_fake((2, 4))])
>>> print(module.graph.compact())
x -> mul(x, cos(div(arange(4), 4)))
>>> evaluated = evaluate_constants(module)
>>> print(evaluated.graph.compact(), dict(evaluated.attributes))
x -> mul(x, folded_0) {'folded_0': tensor([1.0000, 0.9689, 0.8776, 0.7317])}

Only what costs something is computed ahead: a cosine, a table read, a sort. `arange(n) < 3` costs less inside the loop
that uses it than a tensor that has to be read. And only what is small: compiled code keeps it for good.
PyTorch folds such constants when `freezing` is on (`torch/_inductor/constant_folding.py`).
"""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile import config
from minitorch_compile.aot.passes.node_facts import (
    has_known_sizes,
    is_view,
    name_of,
    number_of,
    seen_by_caller,
    tensor_of,
)
from minitorch_compile.aot.subgraph import extract
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.accelerators import moved
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like

# A few instructions each: in a loop that computes anyway they cost less than memory that is read.
CHEAP = frozenset(
    ("add", "sub", "mul", "neg", "abs", "eq", "ne", "lt", "le", "gt", "ge", "where", "maximum", "minimum")
    + ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "logical_and", "logical_or", "logical_not")
    + ("to_copy", "to_device", "convert_element_type", "clone", "tril", "triu", "full", "arange", "iota", "eye")
)


def evaluate_constants(module: GraphModule) -> GraphModule:
    """Tensors that depend on no argument, cost something and are small (`config.constant_bytes`) become attributes."""
    known = _independent_of_arguments(module)
    chosen = [node for node in known if _is_worth_it(node, known)]
    if not chosen:
        return module
    graph, counterpart = copy.deepcopy(module.graph), {}
    counterpart = dict(zip(module.graph.nodes, graph.nodes, strict=True))
    attributes = dict(module.attributes)
    for node in chosen:
        name = _free_name(attributes)
        attributes[name] = _evaluate(module, node)
        _replace(counterpart[node], name, attributes[name])
    graph.eliminate_dead_code()
    used = {node.target for node in graph.find_nodes(op="get_attr")}
    result = LazyGraphModule({name: x for name, x in attributes.items() if name in used}, graph)
    result.meta.update(module.meta)
    return result


def _independent_of_arguments(module: GraphModule) -> dict[Node, bool]:
    """The nodes whose values are the same at each call, and whether anything in their making costs something."""
    known: dict[Node, bool] = {}
    for node in module.graph.nodes:
        if node.op != "call_function" or node.is_impure() or isinstance(node.meta.get("val"), SymInt):
            continue
        if isinstance(node.target, Op) and all(source in known for source in node.all_input_nodes):
            own = not is_view(node) and name_of(node) not in CHEAP
            known[node] = own or any(known[source] for source in node.all_input_nodes)
    return known


def _is_worth_it(node: Node, known: dict[Node, bool]) -> bool:
    """Whether the node is the last of its kind: costly, small, and read by something that is not known."""
    val = tensor_of(node)
    if val is None or not known[node] or number_of(node) is not None or not has_known_sizes(val):
        return False
    if all(user in known for user in node.users) or node in seen_by_caller(node.graph):
        return False
    return numel(val.sizes) * val.dtype.itemsize <= config.constant_bytes


class _Kernels(Interpreter):
    """Runs the ops themselves, whatever transforms and modes are on while the graph is compiled. All in main memory:
    a graph's own numbers say nothing of where they are, also where they meet tensors of a GPU."""

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return args[0] if target is ops.to_device else target.run(args, kwargs)


def _evaluate(module: GraphModule, node: Node) -> TensorBase:
    found = _Kernels(extract(module, [], [node])).run()[0]
    where = node.meta["val"].device
    return found if where == CPU else moved(found, where)


def _free_name(attributes: dict[str, object]) -> str:
    return next(name for i in range(len(attributes) + 1) if (name := f"folded_{i}") not in attributes)


def _replace(node: Node, name: str, value: TensorBase) -> None:
    with node.graph.inserting_before(node):
        constant = node.graph.get_attr(name)
    constant.meta = {**node.meta, "val": fake_like(value)}
    node.replace_all_uses_with(constant)
