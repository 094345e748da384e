"""Python objects that all processes of a group exchange: as PyTorch's, what is received is a copy made by pickle.

>>> from minitorch_compile import distributed
>>> distributed.init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=1)
>>> received = [None]
>>> all_gather_object(received, {"loss": 0.5})
>>> received
[{'loss': 0.5}]
>>> distributed.destroy_process_group()
"""

from __future__ import annotations

import pickle
from typing import Any

from minitorch_compile.distributed.process_group import only_rank, the_group


def _received(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def _for_one(values: list[Any], caller: str, name: str) -> None:
    if len(values) < 1:
        raise RuntimeError(f"{caller}: {name} must have a place for each of 1 processes, and is empty")


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Each process gets the objects of all."""
    the_group(group)
    _for_one(object_list, "all_gather_object", "object_list")
    object_list[0] = _received(obj)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """The process `dst` gets the objects of all."""
    only_rank(the_group(group), dst or group_dst, "gather_object")
    if object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _for_one(object_gather_list, "gather_object", "object_gather_list")
    object_gather_list[0] = _received(obj)


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """The objects become those of the process `src`: they stay."""
    only_rank(the_group(group), src or group_src, "broadcast_object_list")


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Each process gets its object of the list that `src` has."""
    only_rank(the_group(group), src or group_src, "scatter_object_list")
    _for_one(scatter_object_output_list, "scatter_object_list", "scatter_object_output_list")
    if scatter_object_input_list is None or len(scatter_object_input_list) != 1:
        raise ValueError("scatter_object_list: scatter_object_input_list must have an object for each of 1 processes")
    scatter_object_output_list[0] = _received(scatter_object_input_list[0])
