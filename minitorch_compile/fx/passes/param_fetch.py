"""The parameters of the layers that a graph calls, beside its nodes.

>>> from minitorch_compile import nn
>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
>>> lift_lowering_attrs_to_nodes(module)
>>> [sorted(node.attrs_for_lowering) for node in module.graph.find_nodes(op="call_module")]
[['bias', 'in_features', 'name', 'out_features', 'weight'], ['inplace', 'name']]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.targets import torch_name
from minitorch_compile.nn import modules as layers
from minitorch_compile.nn.module import Module

_CONV = (
    *("weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"),
)  # fmt: skip
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "Linear": ("weight", "bias", "in_features", "out_features"),
    "Conv2d": (*_CONV, "in_channels", "out_channels"),
    "BatchNorm2d": ("weight", "bias", "running_mean", "running_var", "eps"),
    "ReLU": ("inplace",),
    "MaxPool2d": ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"),
    "AdaptiveAvgPool2d": ("output_size",),
}


def default_matching(name: str, target_version: int) -> str:
    """By which name an attribute is known in a version: its own."""
    return name


module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    getattr(layers, name): (1, list(attributes), default_matching) for name, attributes in ATTRIBUTES.items()
}


def extract_attrs_for_lowering(mod: Module) -> dict[str, Any]:
    """What somebody needs who writes the layer in another system: its parameters and settings. RuntimeError if the
    class isn't known."""
    if type(mod) not in module_fetch_book:
        raise RuntimeError(f"{torch_name(type(mod).__module__)} is not in the module_fetch_book yet, please add it to")
    version, names, matching = module_fetch_book[type(mod)]
    found: dict[str, Any] = {"name": f"{torch_name(type(mod).__module__)}.{type(mod).__qualname__}"}
    return found | {name: getattr(mod, matching(name, version)) for name in names}


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Gives each node that calls a layer the layer's attributes, as `attrs_for_lowering`."""
    for node in fx_module.graph.find_nodes(op="call_module"):
        module = fx_module.attributes[str(node.target)]
        if isinstance(module, GraphModule):
            lift_lowering_attrs_to_nodes(module)
        else:
            vars(node)["attrs_for_lowering"] = extract_attrs_for_lowering(module)
