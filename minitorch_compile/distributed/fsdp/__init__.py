"""torch.distributed.fsdp: its options are there to be named; parameters in pieces on several processes are not.

>>> FullyShardedDataParallel(None)
Traceback (most recent call last):
NotImplementedError: FullyShardedDataParallel: processes can't work together here; with one, leave it out, ...
"""

from minitorch_compile.distributed.across_processes import refused_class, refused_function
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

FSDPModule = refused_class("FSDPModule")
FullyShardedDataParallel = refused_class("FullyShardedDataParallel")
UnshardHandle = refused_class("UnshardHandle")
fully_shard = refused_function("fully_shard")
register_fsdp_forward_method = refused_function("register_fsdp_forward_method")
