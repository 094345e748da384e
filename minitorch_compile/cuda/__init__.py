"""torch.cuda on a machine without a GPU: programs ask is_available() and stay on the CPU.

Tensors live in main memory. That `compile` can make CUDA kernels is another matter.

>>> is_available(), device_count()
(False, 0)
>>> current_device()
Traceback (most recent call last):
AssertionError: Torch not compiled with CUDA enabled: tensors live on the CPU here; ask torch.cuda.is_available() first
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from minitorch_compile.cuda import amp, memory, nvtx, profiler, random, streams
from minitorch_compile.cuda.absent import refuse
from minitorch_compile.cuda.memory import (
    OutOfMemoryError,
    empty_cache,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from minitorch_compile.cuda.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from minitorch_compile.cuda.streams import (
    CUDAGraph,
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    graph,
    is_current_stream_capturing,
    make_graphed_callables,
    set_stream,
    stream,
)
from minitorch_compile.tensor.tensor_class.legacy_types import TypeOnAGPU

(
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    BFloat16Tensor,
    LongTensor,
    IntTensor,
    ShortTensor,
    CharTensor,
    ByteTensor,
    BoolTensor,
) = map(TypeOnAGPU, ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"))


def init() -> None:
    """AssertionError: there is none."""
    refuse()


def is_available() -> bool:
    """Whether tensors can be on a GPU: never."""
    return False


def is_initialized() -> bool:
    """Whether a GPU is in use: never."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes in bfloat16: there is none."""
    return False


def is_tf32_supported() -> bool:
    """Whether a GPU computes in TF32: there is none."""
    return False


def device_count() -> int:
    """How many GPUs there are."""
    return 0


def get_arch_list() -> list[str]:
    """For which GPUs kernels were compiled: for none."""
    return []


def get_gencode_flags() -> str:
    """With which flags: with none."""
    return ""


def current_device() -> int:
    """AssertionError: there is none."""
    refuse()


def set_device(device: Any) -> None:
    """AssertionError: there is none."""
    refuse()


def synchronize(device: Any = None) -> None:
    """AssertionError: there is nothing to wait for."""
    refuse()


def ipc_collect() -> None:
    """AssertionError: there is no memory to share."""
    refuse()


def get_device_name(device: Any = None) -> str:
    """AssertionError: there is none."""
    refuse()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """AssertionError: there is none."""
    refuse()


def get_device_properties(device: Any = None) -> Any:
    """AssertionError: there is none."""
    refuse()


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """AssertionError: there is none."""
    refuse()


class device:
    """`with torch.cuda.device(0)`: chooses a GPU, of which there is none, so it has no effect, as in PyTorch."""

    def __init__(self, device: Any) -> None:
        self.idx = device

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        return None


class device_of(device):
    """`with torch.cuda.device_of(x)`: chooses the GPU of a tensor; one on the CPU has none, so it has no effect."""

    def __init__(self, obj: Any) -> None:
        super().__init__(-1)
