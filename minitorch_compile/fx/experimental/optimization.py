"""Inference made faster: batch normalization folded into the layer before it.

>>> from minitorch_compile import nn, ones
>>> model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
>>> fused = fuse(model)
>>> [type(module).__name__ for module in fused.children()]
['Conv2d', 'ReLU']
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from minitorch_compile import nn
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.tracer import Tracer
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

FUSED: dict[tuple[type, type], Callable[[Any, Any], Module]] = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn_eval,
    (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn_eval,
    (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn_eval,
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn_eval,
}


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """The model, in evaluation mode, without the batch normalizations that follow a layer directly.

    `inplace`: the model's own layers are changed. `no_trace`: it is a graph module already.
    """
    if not inplace:
        model = copy.deepcopy(model)
    if no_trace and not isinstance(model, GraphModule):
        raise AssertionError("fuse: with no_trace=True the model must be a GraphModule")
    graph = model.graph if isinstance(model, GraphModule) and no_trace else Tracer().trace(model)
    modules = dict(model.named_modules())
    for kinds, fold in FUSED.items():
        for node in graph.nodes:
            if not matches_module_pattern(kinds, node, modules) or len(node.args[0].users) > 1:
                continue
            layer, norm = modules[str(node.args[0].target)], modules[str(node.target)]
            if norm.training or not norm.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fold(layer, norm))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(model, copy.deepcopy(graph))


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Whether a node calls a module of the last class on the result of one of the class before."""
    if not node.args:
        return False
    for kind, each in zip(pattern, (node.args[0], node)):
        if not isinstance(each, Node) or each.op != "call_module" or type(modules.get(str(each.target))) is not kind:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Puts a module in the place of the one that a node calls."""
    path, _, name = str(node.target).rpartition(".")
    modules[str(node.target)] = new_module
    setattr(modules[path], name, new_module)


def remove_dropout(model: Module) -> Module:
    """The model without its Dropout layers."""
    graph = Tracer().trace(model)
    modules = dict(model.named_modules())
    for node in graph.find_nodes(op="call_module"):
        if isinstance(modules[str(node.target)], nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(model, graph)


__all__ = ["fuse", "matches_module_pattern", "remove_dropout", "replace_node_module"]
