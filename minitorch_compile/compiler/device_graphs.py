"""Captured graphs with tensors on a GPU: they run call by call, each a kernel of its own, and say so once.

Kernels of whole graphs are made for memory that the CPU can reach. On a device an operation is compiled by itself
(`inductor/device_calls/`).

>>> from minitorch_compile.tensor import ones
>>> is_on_a_device(None, [ones(2)])
False
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.fx import GraphModule
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import warn_user

_told: list[bool] = []


def is_on_a_device(graph: GraphModule | None, example_inputs: Sequence[Any]) -> bool:
    """Whether a tensor that the graph is given, has, or makes lies in the memory of a device."""
    values = [*example_inputs, *(() if graph is None else graph.attributes.values())]
    if graph is not None:
        values += [node.meta.get("val") for node in graph.graph.nodes]
    return any(isinstance(x, TensorBase) and x.device.type not in ("cpu", "meta") for x in values)


def in_main_memory(backend: Callable[..., Any]) -> Callable[..., Any]:
    """The backend for graphs in main memory; others run call by call."""

    @functools.wraps(backend)
    def chosen(graph: GraphModule, example_inputs: list[Any], **options: Any) -> Any:
        if is_on_a_device(graph, example_inputs):
            return call_by_call(graph)
        return backend(graph, example_inputs, **options)

    return chosen


def call_by_call(graph: GraphModule) -> GraphModule:
    """The graph as it is."""
    if not _told:
        _told.append(True)
        warn_user("torch.compile: graphs with tensors on cuda aren't fused yet; they run operation by operation")
    return graph
