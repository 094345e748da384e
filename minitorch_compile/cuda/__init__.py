"""torch.cuda: which GPUs there are, and the one that a thread works on. Without one, programs ask is_available().

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with runtime.using(FakeDriver(devices=2)):
...     is_available(), device_count(), current_device(), get_device_name(1)
(True, 2, 0, 'fake device')

Two are simulated with `MTC_CUDA_SIM=2`; one that is really there wants the package cuda-bindings.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn

from minitorch_compile.control import assume_constant_result
from minitorch_compile.cuda import accelerator, amp, comm, graphs, memory, nvtx, profiler, random, runtime, streams
from minitorch_compile.cuda.graphs import (
    CUDAGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
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
    memory_snapshot,
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
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from minitorch_compile.cuda_runtime.driver import DeviceProperties
from minitorch_compile.tensor.memory.device import device as _Device
from minitorch_compile.tensor.numerics.dtype import (
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
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
) = map(TypeOnAGPU, (float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8, bool_))


def init() -> None:
    """Looks for GPUs, as the first use does. AssertionError if there are none."""
    runtime.required()


@assume_constant_result
def is_available() -> bool:
    """Whether tensors can be on a GPU.

    >>> torch.cuda.is_available() == (torch.cuda.device_count() > 0)
    True
    """
    return device_count() > 0


@assume_constant_result
def is_initialized() -> bool:
    """Whether there is a GPU in use."""
    return runtime.in_use() is not None


def __getattr__(name: str) -> Any:
    """What PyTorch keeps as values and is found out here: `_initialized` and `default_generators`."""
    if name == "_initialized":
        return is_initialized()
    if name == "default_generators":
        return random._generators()
    raise AttributeError(f"module 'torch.cuda' has no attribute {name!r}")


def cudart() -> NoReturn:
    """NotImplementedError: kernels are started by NVIDIA's driver, without the runtime library."""
    raise NotImplementedError(
        "torch.cuda.cudart: the CUDA runtime isn't used here; ask torch.cuda.mem_get_info and"
        " torch.cuda.get_device_properties, or cuda.bindings.runtime"
    )


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the GPU computes in bfloat16, if need be by way of float32. False without one."""
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def is_tf32_supported() -> bool:
    """Whether the GPU computes in TF32. False without one."""
    return is_available() and get_device_capability()[0] >= 8


@assume_constant_result
def device_count() -> int:
    """How many GPUs there are."""
    found = runtime.find()
    return 0 if found is None else len(found.devices)


def get_arch_list() -> list[str]:
    """For which GPUs kernels are compiled: for those that are there."""
    return sorted({f"sm_{major}{minor}" for major, minor in map(get_device_capability, range(device_count()))})


def get_gencode_flags() -> str:
    """With which flags: kernels are compiled when they are first used, so with none."""
    return ""


def current_device() -> int:
    """The number of the GPU that "cuda" means in this thread. AssertionError without one."""
    return runtime.required().current_device()


def set_device(device: Any) -> None:
    """Chooses the GPU that "cuda" means in this thread; a number below 0 changes nothing. AssertionError without a
    GPU."""
    found = runtime.required()
    if not (isinstance(device, int) and device < 0):
        found.set_device(found.index_of(device))


def synchronize(device: Any = None) -> None:
    """Waits until all work of a GPU is done. AssertionError without one."""
    found = runtime.required()
    found.driver.synchronize_device(found.index_of(device))


def ipc_collect() -> None:
    """Drops memory that other processes have let go of; none is shared. AssertionError without a GPU."""
    runtime.required()


def get_device_properties(device: Any = None) -> DeviceProperties:
    """What a GPU is and has: name, major, minor, total_memory, multi_processor_count, ... AssertionError without a
    GPU."""
    found = runtime.required()
    return found.driver.properties(found.index_of(device))


def get_device_name(device: Any = None) -> str:
    """What a GPU calls itself. AssertionError without one."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Its compute capability, (9, 0) for an H100. AssertionError without one."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one GPU can read the memory of another. AssertionError without one."""
    found = runtime.required()
    return found.driver.can_access_peer(found.index_of(device), found.index_of(peer_device))


class device:
    """`with torch.cuda.device(1)`: chooses a GPU inside. None, a number below 0, and having no GPU change nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = device if device is None or isinstance(device, int) else _Device(device).index
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is not None and self.idx >= 0 and is_available():
            self.prev_idx = current_device()
            set_device(self.idx)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self.prev_idx >= 0:
            set_device(self.prev_idx)
            self.prev_idx = -1


class device_of(device):
    """`with torch.cuda.device_of(x)`: chooses the GPU of a tensor. One on the CPU has none, so it has no effect."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)
