"""CUDA's driver itself, by way of cuda-bindings: each method is a call or two of it, and a check of the answer.

The package is loaded when a driver is made. Where it, the driver's library or a device is missing, the error says so.
A process shares each device's primary context with all other libraries that use CUDA's runtime.
"""

from __future__ import annotations

import ctypes
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType
from typing import Any

from minitorch_compile.cuda_runtime.driver import DeviceProperties, StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError, CudaOutOfMemoryError, CudaUnavailableError
from minitorch_compile.cuda_runtime.graph_row import GraphFunctions, GraphRow, RepeatedRow, graph_functions
from minitorch_compile.cuda_runtime.launch_loop import LaunchConfiguration, LaunchSizes, launch_loop, refused
from minitorch_compile.cuda_runtime.native_code import native_call

# The field of DeviceProperties, and the end of the attribute's name in CUDA.
ATTRIBUTES = {
    "major": "COMPUTE_CAPABILITY_MAJOR",
    "minor": "COMPUTE_CAPABILITY_MINOR",
    "multi_processor_count": "MULTIPROCESSOR_COUNT",
    "warp_size": "WARP_SIZE",
    "max_threads_per_block": "MAX_THREADS_PER_BLOCK",
    "max_threads_per_multi_processor": "MAX_THREADS_PER_MULTIPROCESSOR",
    "regs_per_multiprocessor": "MAX_REGISTERS_PER_MULTIPROCESSOR",
    "shared_memory_per_block": "MAX_SHARED_MEMORY_PER_BLOCK",
    "shared_memory_per_block_optin": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "shared_memory_per_multiprocessor": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "L2_cache_size": "L2_CACHE_SIZE",
    "is_integrated": "INTEGRATED",
}
LONGEST_NAME = 256  # bytes of a device's name
NOT_PINNED = "memory of the host that isn't pinned may be gone when the recording is launched"
STATUS = 0xFFFF_FFFF  # the bits of a word that an error is in
LAUNCH_SINCE = 11080  # the version of CUDA that cuLaunchKernelEx came with


class CudaBindingsDriver:
    """CudaUnavailableError if there is no GPU that can be used."""

    def __init__(self) -> None:
        self._cuda = _bindings()
        self._contexts: dict[int, Any] = {}
        self._recording: set[StreamHandle] = set()  # streams in which a recording began
        # Looked up once: these are asked for at every turn.
        self._succeeded, self._not_ready = self._cuda.CUresult.CUDA_SUCCESS, self._cuda.CUresult.CUDA_ERROR_NOT_READY
        try:
            self._call("cuInit", 0)
        except CudaError as error:
            raise CudaUnavailableError(f"no GPU can be used: {error}") from None
        except RuntimeError as error:  # cuda-bindings found no libcuda.so
            raise CudaUnavailableError(f"no GPU can be used: NVIDIA's driver is not installed ({error})") from None

    def _call(self, name: str, *arguments: Any) -> Any:
        """What the driver answers. CudaError if it is an error."""
        error, *results = getattr(self._cuda, name)(*arguments)
        if error != self._succeeded:
            self._fail(name, error)
        return results[0] if len(results) == 1 else results

    def _fail(self, call: str, error: Any) -> None:
        explanation = self._cuda.cuGetErrorString(error)[1]
        text = explanation.decode() if explanation else "unknown error"
        if error == self._cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise CudaOutOfMemoryError(call, text)
        raise CudaError(call, error.name, text)

    def _enter(self, device: int) -> Any:
        """Makes the device's context this thread's. Each time, since other libraries change it, too."""
        context = self._contexts.get(device)
        if context is None:
            context = self._contexts[device] = self._call("cuDevicePrimaryCtxRetain", self._call("cuDeviceGet", device))
        error = self._cuda.cuCtxSetCurrent(context)[0]
        if error != self._succeeded:
            self._fail("cuCtxSetCurrent", error)
        return context

    # ------------------------------------------------------------------------------------------ devices

    def device_count(self) -> int:
        return self._call("cuDeviceGetCount")

    def properties(self, device: int) -> DeviceProperties:
        handle, names = self._call("cuDeviceGet", device), self._cuda.CUdevice_attribute

        def attribute(name: str) -> int:
            return self._call("cuDeviceGetAttribute", getattr(names, f"CU_DEVICE_ATTRIBUTE_{name}"), handle)

        numbers: dict[str, Any] = {field: attribute(name) for field, name in ATTRIBUTES.items()}
        numbers["is_integrated"] = bool(numbers["is_integrated"])
        return DeviceProperties(
            name=self._call("cuDeviceGetName", LONGEST_NAME, handle).split(b"\0")[0].decode(),
            total_memory=self._call("cuDeviceTotalMem", handle),
            uuid=str(uuid.UUID(bytes=bytes(self._call("cuDeviceGetUuid", handle).bytes))),
            **numbers,
        )

    def memory_info(self, device: int) -> tuple[int, int]:
        self._enter(device)
        free, total = self._call("cuMemGetInfo")
        return free, total

    def synchronize_device(self, device: int) -> None:
        self._enter(device)
        self._call("cuCtxSynchronize")

    def enter(self, device: int) -> None:
        self._enter(device)

    def can_access_peer(self, device: int, peer: int) -> bool:
        return bool(self._call("cuDeviceCanAccessPeer", *(self._call("cuDeviceGet", n) for n in (device, peer))))

    def enable_peer_access(self, device: int, peer: int) -> None:
        other = self._enter(peer)
        self._enter(device)
        (error,) = self._cuda.cuCtxEnablePeerAccess(other, 0)
        if error not in (self._succeeded, self._cuda.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED):
            self._fail("cuCtxEnablePeerAccess", error)

    # ------------------------------------------------------------------------------------------ memory

    def allocate(self, device: int, nbytes: int) -> int:
        self._enter(device)
        with self._beside_recordings():
            return int(self._call("cuMemAlloc", nbytes))

    @contextmanager
    def _beside_recordings(self) -> Iterator[None]:
        """Inside, memory and kernels can be had while a stream records: they are no part of it, but CUDA refuses them
        unless one insists."""
        if not self._recording:
            yield
            return
        relaxed = self._cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        before = self._call("cuThreadExchangeStreamCaptureMode", relaxed)
        try:
            yield
        finally:
            self._call("cuThreadExchangeStreamCaptureMode", before)

    def device_of_address(self, address: int) -> int:
        attribute = self._cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(self._call("cuPointerGetAttribute", attribute, address))

    def free(self, device: int, address: int) -> None:
        self._enter(device)
        self._call("cuMemFree", address)

    def allocate_host(self, nbytes: int) -> int:
        self._enter(0)  # pinned for all devices, but some context has to be there
        return int(self._call("cuMemHostAlloc", nbytes, self._cuda.CU_MEMHOSTALLOC_PORTABLE))

    def free_host(self, address: int) -> None:
        self._enter(0)
        self._call("cuMemFreeHost", address)

    def is_pinned(self, address: int) -> bool:
        self._enter(next(iter(self._contexts), 0))  # any context knows it
        attribute, kinds = self._cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, self._cuda.CUmemorytype
        error, kind = self._cuda.cuPointerGetAttribute(attribute, address)
        if error == self._cuda.CUresult.CUDA_ERROR_INVALID_VALUE:  # its answer for memory that it doesn't know
            return False
        if error != self._succeeded:
            self._fail("cuPointerGetAttribute", error)
        return int(kind) == int(kinds.CU_MEMORYTYPE_HOST)

    def copy_host_to_device(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        self._check_pinned("cuMemcpyHtoDAsync", source, stream)
        self._enter(stream.device)
        self._call("cuMemcpyHtoDAsync", destination, source, nbytes, stream.handle)

    def copy_device_to_host(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        self._check_pinned("cuMemcpyDtoHAsync", destination, stream)
        self._enter(stream.device)
        self._call("cuMemcpyDtoHAsync", destination, source, nbytes, stream.handle)

    def _check_pinned(self, call: str, address: int, stream: StreamHandle) -> None:
        """CudaError if a copy would be recorded whose memory on the host needn't be there later: CUDA doesn't mind."""
        if stream in self._recording and not self.is_pinned(address):
            explanation = f"operation not permitted when stream is capturing: {NOT_PINNED}"
            raise CudaError(call, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", explanation)

    def copy_device_to_device(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        self._enter(stream.device)
        self._call("cuMemcpyDtoDAsync", destination, source, nbytes, stream.handle)

    def copy_peer(
        self, destination: int, source: int, nbytes: int, devices: tuple[int, int], stream: StreamHandle
    ) -> None:
        to, from_ = (self._enter(device) for device in devices)
        self._enter(stream.device)
        self._call("cuMemcpyPeerAsync", destination, to, source, from_, nbytes, stream.handle)

    def set_memory(self, destination: int, value: int, nbytes: int, stream: StreamHandle) -> None:
        self._enter(stream.device)
        self._call("cuMemsetD8Async", destination, value, nbytes, stream.handle)

    # ------------------------------------------------------------------------------------------ streams

    def stream_priorities(self, device: int) -> tuple[int, int]:
        self._enter(device)
        least, greatest = self._call("cuCtxGetStreamPriorityRange")
        return least, greatest

    def create_stream(self, device: int, priority: int = 0) -> StreamHandle:
        self._enter(device)
        flags = self._cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
        return StreamHandle(device, int(self._call("cuStreamCreateWithPriority", int(flags), priority)))

    def destroy_stream(self, stream: StreamHandle) -> None:
        self._enter(stream.device)
        self._call("cuStreamDestroy", stream.handle)

    def synchronize_stream(self, stream: StreamHandle) -> None:
        self._enter(stream.device)
        self._call("cuStreamSynchronize", stream.handle)

    def stream_is_done(self, stream: StreamHandle) -> bool:
        self._enter(stream.device)
        return self._answer("cuStreamQuery", stream.handle)

    def _answer(self, call: str, handle: int) -> bool:
        (error,) = getattr(self._cuda, call)(handle)
        if error not in (self._succeeded, self._not_ready):
            self._fail(call, error)
        return error == self._succeeded

    # ------------------------------------------------------------------------------------------ events

    def create_event(self, device: int, timing: bool = False, blocking: bool = False) -> int:
        self._enter(device)
        names = self._cuda.CUevent_flags
        flags = 0 if timing else int(names.CU_EVENT_DISABLE_TIMING)
        return int(self._call("cuEventCreate", flags | (int(names.CU_EVENT_BLOCKING_SYNC) if blocking else 0)))

    def destroy_event(self, event: int) -> None:
        self._call("cuEventDestroy", event)

    def record_event(self, event: int, stream: StreamHandle) -> None:
        self._enter(stream.device)
        self._call("cuEventRecord", event, stream.handle)

    def wait_event(self, stream: StreamHandle, event: int) -> None:
        self._enter(stream.device)
        self._call("cuStreamWaitEvent", stream.handle, event, 0)

    def event_is_done(self, event: int) -> bool:
        return self._answer("cuEventQuery", event)

    def synchronize_event(self, event: int) -> None:
        self._call("cuEventSynchronize", event)

    def elapsed_time(self, start: int, end: int) -> float:
        return float(self._call("cuEventElapsedTime", start, end))

    # ------------------------------------------------------------------------------------------ recordings

    def begin_capture(self, stream: StreamHandle, mode: str = "global") -> None:
        self._enter(stream.device)
        modes = self._cuda.CUstreamCaptureMode
        self._call("cuStreamBeginCapture", stream.handle, getattr(modes, f"CU_STREAM_CAPTURE_MODE_{mode.upper()}"))
        self._recording.add(stream)

    def end_capture(self, stream: StreamHandle) -> int:
        self._recording.discard(stream)
        return int(self._call("cuStreamEndCapture", stream.handle))

    def is_capturing(self, stream: StreamHandle) -> bool:
        none = self._cuda.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
        return bool(self._call("cuStreamIsCapturing", stream.handle) != none)

    def instantiate_graph(self, graph: int) -> int:
        return int(self._call("cuGraphInstantiate", graph, 0))

    def prepared_graph(self, device: int, executable: int) -> Callable[[int], None]:
        contexts, call, launch = self._contexts, native_call(), self._address_of("cuGraphLaunch")

        def put(stream: int) -> None:
            if len(contexts) > 1:
                self._enter(device)
            if call(launch, executable, stream, 0, 0, 0) & STATUS:
                self._enter(device)
                if error := call(launch, executable, stream, 0, 0, 0) & STATUS:
                    self._fail("cuGraphLaunch", self._cuda.CUresult(error))

        return put

    @cached_property
    def _graph_functions(self) -> GraphFunctions:
        return graph_functions(self._address_of)

    def destroy_graph(self, graph: int) -> None:
        self._call("cuGraphDestroy", graph)

    def destroy_executable(self, executable: int) -> None:
        self._call("cuGraphExecDestroy", executable)

    # ------------------------------------------------------------------------------------------ kernels

    def machine_code(self, device: int, ptx: bytes) -> bytes:
        """What the driver's compiler makes of PTX, for GPUs like this one."""
        self._enter(device)
        kind = self._cuda.CUjitInputType.CU_JIT_INPUT_PTX
        linker = self._call("cuLinkCreate", 0, [], [])
        try:
            self._call("cuLinkAddData", linker, kind, ptx + b"\0", len(ptx) + 1, b"kernel", 0, [], [])
            address, nbytes = self._call("cuLinkComplete", linker)
            return ctypes.string_at(address, nbytes)
        finally:
            self._call("cuLinkDestroy", linker)

    def load_kernel(self, device: int, image: bytes, entry: bytes) -> Any:
        """A kernel of some PTX or machine code, by its name there."""
        self._enter(device)
        with self._beside_recordings():
            return self._call("cuModuleGetFunction", self._call("cuModuleLoadData", image + b"\0"), entry)

    def allow_shared_memory(self, kernel: Any, nbytes: int) -> None:
        """Lets launches of a kernel give it more than 48 KB of shared memory."""
        which = self._cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call("cuFuncSetAttribute", kernel, which, nbytes)

    def _address_of(self, name: str) -> int:
        """Where the driver has a function."""
        plain = self._cuda.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
        address, _ = self._call("cuGetProcAddress", name.encode(), LAUNCH_SINCE, plain)
        return int(address)

    @cached_property
    def _launch(self) -> int:
        return self._address_of("cuLaunchKernelEx")

    def prepared_launch(self, device: int, kernel: Any, sizes: LaunchSizes, arguments: int) -> Callable[[int], None]:
        """A function that puts a kernel into a stream of its device, given the stream's handle, by one thread at a
        time; `arguments` is the address of a table with the addresses of its parameters.

        A kernel belongs to a context. Where there is but one, that is nearly always this thread's already: only if not,
        the driver refuses it.
        """
        return self.prepared_row(device, [(kernel, sizes, arguments)])

    def prepared_row(self, device: int, launches: Sequence[tuple[Any, LaunchSizes, int]]) -> Callable[[int], None]:
        """A function that puts several kernels into a stream, one behind the other, by one native call. A launch is a
        kernel, and what `prepared_launch` calls its sizes and its arguments."""
        one_by_one = self._launches_of(device, launches)

        def make() -> GraphRow:
            self._enter(device)
            return GraphRow(self._graph_functions, launches)

        row, contexts = RepeatedRow(len(launches), one_by_one, make, self._recording), self._contexts

        def put(stream: int, is_new: bool = True) -> None:
            if len(contexts) > 1:
                self._enter(device)
            row(stream, is_new)

        return put

    def _launches_of(self, device: int, launches: Sequence[tuple[Any, LaunchSizes, int]]) -> Callable[[int], None]:
        """The same, each launched by itself."""
        count, contexts, call, loop = len(launches), self._contexts, native_call(), launch_loop()
        configurations = (LaunchConfiguration * count)()
        words: list[int] = []
        for configuration, (kernel, sizes, arguments) in zip(configurations, launches):
            configuration.__init__(*sizes.laid_out())
            words += ctypes.addressof(configuration), int(kernel), arguments
        table = (ctypes.c_uint64 * len(words))(*words)
        where, driver = ctypes.addressof(table), self._launch

        def put(stream: int, kept: Any = (table, configurations)) -> None:
            if len(contexts) > 1:
                self._enter(device)
            if answer := call(loop, driver, where, 0, count, stream):
                self._enter(device)
                if answer := call(loop, driver, where, refused(answer).launch, count, stream):
                    self._fail("cuLaunchKernelEx", self._cuda.CUresult(refused(answer).error))

        return put


def _bindings() -> ModuleType:
    try:
        from cuda.bindings import driver
    except ImportError as error:
        install = "python -m pip install 'cuda-bindings>=13,<14'"
        reason = f"the package cuda-bindings is not installed; {install} ({error})"
        raise CudaUnavailableError(f"no GPU can be used: {reason}") from None
    return driver
