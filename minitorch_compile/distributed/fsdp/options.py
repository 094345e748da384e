"""What a program says of how parameters lie in pieces: settings, as PyTorch names them.

>>> MixedPrecisionPolicy(), ShardingStrategy.FULL_SHARD
(MixedPrecisionPolicy(param_dtype=None, reduce_dtype=None, output_dtype=None, cast_forward_inputs=True),
 <ShardingStrategy.FULL_SHARD: 1>)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from minitorch_compile.tensor import dtype


class ShardingStrategy(Enum):
    """What lies in pieces: parameters, gradients and optimizer state, or less."""

    FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, _HYBRID_SHARD_ZERO2 = range(1, 6)


class BackwardPrefetch(Enum):
    """When the next parameters are gathered in the backward pass."""

    BACKWARD_PRE, BACKWARD_POST = range(1, 3)


class StateDictType(Enum):
    """What a state dict has: whole parameters, or this process's pieces."""

    FULL_STATE_DICT, LOCAL_STATE_DICT, SHARDED_STATE_DICT = range(1, 4)


class OptimStateKeyType(Enum):
    """How an optimizer's state names its parameters."""

    PARAM_NAME, PARAM_ID = range(1, 3)


@dataclass
class MixedPrecision:
    """In which dtypes parameters, gradients and buffers travel and are computed with."""

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    buffer_dtype: dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type] = field(default_factory=list)


@dataclass
class CPUOffload:
    """Whether pieces lie in the CPU's memory."""

    offload_params: bool = False


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """fully_shard's dtypes."""

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    output_dtype: dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """fully_shard's pieces stay where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """fully_shard's pieces lie in the CPU's memory."""

    pin_memory: bool = True


@dataclass
class StateDictConfig:
    """How a module's state dict is made."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """Of whole parameters."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """Of this process's pieces, flat."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """Of this process's pieces."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """How an optimizer's state dict is made."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """Of whole states."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """Of this process's pieces, flat."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """Of this process's pieces."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """All of it together."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig
