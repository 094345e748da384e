"""Which nodes can a backend do? Answers to ask, and ways to put them together.

>>> import operator
>>> from minitorch_compile.fx import symbolic_trace
>>> x, add, mul, output = symbolic_trace(lambda x: (x + 1) * 2).graph.nodes
>>> support = chain(OpSupports.decline_if_node_in_names({"mul"}), create_op_support(lambda _, node: True))
>>> support.is_node_supported({}, add), support.is_node_supported({}, mul)
(True, False)
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile.fx.node import Node
from minitorch_compile.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target

IsNodeSupported = Callable[[Mapping[str, Any], Node], bool]
TargetTypeName = str
SupportedArgumentDTypes = tuple[Sequence[Sequence[Any]], dict[str, Sequence[Any]]] | None
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]


class OperatorSupportBase(abc.ABC):
    """Says of a node whether it is supported; `submodules` has the modules that nodes call."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
        """Whether the backend can do the node."""
        raise NotImplementedError


class OperatorSupport(OperatorSupportBase):
    """By a table: the name of what is called, and the dtypes of its arguments; None for any. ShapeProp says which they
    are."""

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        wanted = self._support_dict[target]
        if wanted is None:
            return True
        by_position, by_name = wanted
        fits = all(_dtype(node.args[i]) in dtypes for i, dtypes in enumerate(by_position) if i < len(node.args))
        return fits and all(_dtype(node.kwargs[k]) in dtypes for k, dtypes in by_name.items() if k in node.kwargs)


def _dtype(argument: Any) -> Any:
    meta = argument.meta.get("tensor_meta") if isinstance(argument, Node) else None
    return getattr(meta, "dtype", None)


class FunctionalOperatorSupport(OperatorSupportBase):
    """By a function."""

    def __init__(self, is_node_supported: IsNodeSupported) -> None:
        self._is_node_supported = is_node_supported

    def is_node_supported(self, submodules: Mapping[str, Any], node: Node) -> bool:
        return self._is_node_supported(submodules, node)


def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """An answer that a function gives."""
    return FunctionalOperatorSupport(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supported by all."""
    return create_op_support(lambda modules, node: all(x.is_node_supported(modules, node) for x in op_support))


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supported by one of them."""
    return create_op_support(lambda modules, node: any(x.is_node_supported(modules, node) for x in op_support))


class OpSupports:
    """Answers that many backends need."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: Any) -> OperatorSupportBase:
        """Not what reads a tensor of this dtype."""

        def supported(submodules: Mapping[str, Any], node: Node) -> bool:
            return all(_dtype(each) is not dtype for each in node.all_input_nodes)

        return create_op_support(supported)

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Not the nodes of these names."""
        return create_op_support(lambda submodules, node: node.name not in disallow_set)


__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]
