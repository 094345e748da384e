"""Captured graphs with tensors on a GPU: they run call by call, each a kernel of its own, and say so once.

Kernels of whole graphs are made for memory that the CPU can reach. On a device an operation is compiled by itself
(`inductor/device_calls/`).
"""

from __future__ import annotations

from minitorch_compile.fx import GraphModule
from minitorch_compile.user_warnings import warn_user

_told: list[bool] = []


def call_by_call(graph: GraphModule) -> GraphModule:
    """The graph as it is."""
    if not _told:
        _told.append(True)
        warn_user("torch.compile: graphs with tensors on cuda aren't fused yet; they run operation by operation")
    return graph
