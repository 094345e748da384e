"""torch.distributed.fsdp: its options are there to be named; parameters in pieces on several processes are not.

>>> FullyShardedDataParallel(None)
Traceback (most recent call last):
NotImplementedError: FullyShardedDataParallel: processes can't work together here; with one, leave it out, ...
"""

from typing import Any, NoReturn

from minitorch_compile.distributed.across_processes import refuse
from minitorch_compile.distributed.fsdp.options import (
    BackwardPrefetch,
    CPUOffload,
    CPUOffloadPolicy,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    MixedPrecisionPolicy,
    OffloadPolicy,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)

AS_IT_IS, STAYS = MixedPrecisionPolicy(), OffloadPolicy()


class FSDPModule:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse("FSDPModule")


class FullyShardedDataParallel:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(
        self,
        module: Any,
        process_group: Any = None,
        sharding_strategy: Any = None,
        cpu_offload: Any = None,
        auto_wrap_policy: Any = None,
        backward_prefetch: Any = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: Any = None,
        ignored_modules: Any = None,
        param_init_fn: Any = None,
        device_id: Any = None,
        sync_module_states: Any = False,
        forward_prefetch: Any = False,
        limit_all_gathers: Any = True,
        use_orig_params: Any = False,
        ignored_states: Any = None,
        device_mesh: Any = None,
    ) -> None:
        refuse("FullyShardedDataParallel")


class UnshardHandle:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self) -> None:
        refuse("UnshardHandle")


def fully_shard(
    module: Any,
    *,
    mesh: Any = None,
    reshard_after_forward: Any = None,
    shard_placement_fn: Any = None,
    mp_policy: Any = AS_IT_IS,
    offload_policy: Any = STAYS,
    ignored_params: Any = None,
    dp_mesh_dims: Any = None,
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("fully_shard")


def register_fsdp_forward_method(module: Any, method_name: Any) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("register_fsdp_forward_method")
