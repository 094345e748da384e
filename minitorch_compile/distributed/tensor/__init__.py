"""torch.distributed.tensor: how tensors lie on several processes. With one, they lie as they are.

>>> from minitorch_compile import ones
>>> isinstance(ones(2), DTensor), Shard(0), Replicate().is_replicate()
(False, Shard(dim=0), True)
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from minitorch_compile.distributed.across_processes import refuse, refused_class
from minitorch_compile.distributed.device_mesh import DeviceMesh, init_device_mesh
from minitorch_compile.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
from minitorch_compile.tensor import Tensor

DTensor = refused_class("DTensor", Tensor, methods=("from_local",))


def distribute_tensor(
    tensor: Any, device_mesh: Any = None, placements: Any = None, *, src_data_rank: Any = 0
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("distribute_tensor")


def distribute_module(
    module: Any, device_mesh: Any = None, partition_fn: Any = None, input_fn: Any = None, output_fn: Any = None
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("distribute_module")


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the part of a tensor that this process has, and where it begins: all of it."""
    return tuple(global_shape), (0,) * len(global_shape)
