"""A row of kernels that is put into a stream as one CUDA graph, whose kernels are given new arguments at each launch.

    words     is_capturing  set  launch  executable       the driver's functions, and the graph made ready
              node 0  what it is given                    a pair for each kernel
              node 1  what it is given

On an H200 a launch by itself costs the host 4 us, in C. To give a kernel of a graph its arguments costs 0.3 us, and to
launch the graph 2 us, however many kernels it has. The GPU gains, too: it knows what comes next. So twenty kernels that
took 80 us of both take 9 us of the host's time, and 15 us of the GPU's; one kernel that took 4 us takes 2.5 us.

The driver copies the arguments when it is told of them. Launches that are under way keep theirs.

>>> one_by_one, as_a_graph = lambda stream: print("one by one"), lambda stream, is_new: print("as a graph")
>>> row = RepeatedRow(20, one_by_one, lambda: as_a_graph, recording=())
>>> for _ in range(4):
...     row(stream=5)
one by one
one by one
one by one
as a graph
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from minitorch_compile.cuda_runtime.launch_loop import LaunchSizes
from minitorch_compile.cuda_runtime.native_code import native_call, native_function

WORTH = 48  # launches of kernels: so long takes it to make a graph ready

STATUS, HANDLE = ctypes.c_int, ctypes.c_void_p
# The answer is 0, -1 if somebody records the stream, where a graph must not be launched, or the driver's error.
PROGRAM = """
define i64 @launch_graph(ptr %words, i64 %count, i64 %stream) {
entry:
  %status = alloca i32
  store i32 0, ptr %status
  %is_capturing_at = getelementptr i64, ptr %words, i64 0
  %set_at = getelementptr i64, ptr %words, i64 1
  %launch_at = getelementptr i64, ptr %words, i64 2
  %executable_at = getelementptr i64, ptr %words, i64 3
  %is_capturing = load ptr, ptr %is_capturing_at
  %set = load ptr, ptr %set_at
  %launch = load ptr, ptr %launch_at
  %executable = load ptr, ptr %executable_at
  %unknown = call i32 %is_capturing(i64 %stream, ptr %status)
  %is_unknown = icmp ne i32 %unknown, 0
  br i1 %is_unknown, label %refused, label %known
known:
  %found = load i32, ptr %status
  %is_recorded = icmp ne i32 %found, 0
  br i1 %is_recorded, label %recorded, label %next
next:
  %i = phi i64 [0, %known], [%behind, %given]
  %is_done = icmp sge i64 %i, %count
  br i1 %is_done, label %all, label %give
give:
  %pair = shl i64 %i, 1
  %place = add i64 %pair, 4
  %node_at = getelementptr i64, ptr %words, i64 %place
  %told_at = getelementptr i64, ptr %node_at, i64 1
  %node = load ptr, ptr %node_at
  %told = load ptr, ptr %told_at
  %error = call i32 %set(ptr %executable, ptr %node, ptr %told)
  %behind = add i64 %i, 1
  %is_refused = icmp ne i32 %error, 0
  br i1 %is_refused, label %refused, label %given
given:
  br label %next
all:
  %last = call i32 %launch(ptr %executable, i64 %stream)
  %answer = zext i32 %last to i64
  ret i64 %answer
refused:
  %why = phi i32 [%unknown, %entry], [%error, %give]
  %wide = zext i32 %why to i64
  ret i64 %wide
recorded:
  ret i64 -1
}
"""
RECORDED = -1


class KernelNode(ctypes.Structure):
    """CUDA's CUDA_KERNEL_NODE_PARAMS, in its first version: what a kernel of a graph is given."""

    _fields_ = (
        ("kernel", ctypes.c_void_p),
        *((name, ctypes.c_uint) for name in ("blocks", "blocks_y", "blocks_z", "threads", "threads_y", "threads_z")),
        ("shared_bytes", ctypes.c_uint),
        ("arguments", ctypes.c_void_p),
        ("extra", ctypes.c_void_p),
    )


class GraphFunctions(NamedTuple):
    """The driver's functions, by what they do. Each answers with 0 or its error."""

    create: Any
    add_kernel: Any
    instantiate: Any
    is_capturing: Any
    set_kernel: Any
    launch: Any
    destroy: Any
    destroy_executable: Any


# What each is called in CUDA, and its parameters.
NAMES: dict[str, tuple[str, Any]] = {
    "create": ("cuGraphCreate", ctypes.CFUNCTYPE(STATUS, HANDLE, ctypes.c_uint)),
    "add_kernel": ("cuGraphAddKernelNode", ctypes.CFUNCTYPE(STATUS, HANDLE, HANDLE, HANDLE, ctypes.c_size_t, HANDLE)),
    "instantiate": ("cuGraphInstantiateWithFlags", ctypes.CFUNCTYPE(STATUS, HANDLE, HANDLE, ctypes.c_ulonglong)),
    "is_capturing": ("cuStreamIsCapturing", ctypes.CFUNCTYPE(STATUS, HANDLE, HANDLE)),
    "set_kernel": ("cuGraphExecKernelNodeSetParams", ctypes.CFUNCTYPE(STATUS, HANDLE, HANDLE, HANDLE)),
    "launch": ("cuGraphLaunch", ctypes.CFUNCTYPE(STATUS, HANDLE, HANDLE)),
    "destroy": ("cuGraphDestroy", ctypes.CFUNCTYPE(STATUS, HANDLE)),
    "destroy_executable": ("cuGraphExecDestroy", ctypes.CFUNCTYPE(STATUS, HANDLE)),
}


def graph_functions(address_of: Callable[[str], int]) -> GraphFunctions:
    """`address_of`: where the driver has the function of a name."""
    return GraphFunctions(**{field: kind(address_of(name)) for field, (name, kind) in NAMES.items()})


class GraphRow:
    """Kernels one behind the other. A launch is a kernel's handle, its sizes, and the address of a table with the
    addresses of its parameters. ValueError with the driver's error if it makes no such graph."""

    def __init__(self, functions: GraphFunctions, launches: Sequence[tuple[Any, LaunchSizes, int]]) -> None:
        self.functions = functions
        self.graph, self.executable = ctypes.c_void_p(), ctypes.c_void_p()
        self.told = (KernelNode * len(launches))()
        self.check(functions.create(ctypes.addressof(self.graph), 0))
        nodes: list[int] = []
        for told, (kernel, sizes, arguments) in zip(self.told, launches):
            told.__init__(int(kernel), *sizes.laid_out(), arguments)
            nodes.append(self.added(told, nodes[-1:]))
        self.check(functions.instantiate(ctypes.addressof(self.executable), self.graph, 0))
        called = (functions.is_capturing, functions.set_kernel, functions.launch)
        words = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in called]
        words.append(self.executable.value or 0)
        for node, told in zip(nodes, self.told):
            words += node, ctypes.addressof(told)
        self.words = (ctypes.c_uint64 * len(words))(*words)
        self.where, self.count = ctypes.addressof(self.words), len(launches)
        self.call, self.program = native_call(), native_function(PROGRAM, "launch_graph")

    def added(self, told: KernelNode, before: Sequence[int]) -> int:
        """A kernel of the graph, behind another one."""
        node, behind = ctypes.c_void_p(), (ctypes.c_void_p * len(before))(*before)
        where = ctypes.addressof(node), self.graph, ctypes.addressof(behind), len(before), ctypes.addressof(told)
        self.check(self.functions.add_kernel(*where))
        return node.value or 0

    def check(self, error: int) -> None:
        if error:
            raise ValueError(error)

    def __call__(self, stream: int, is_new: bool = True) -> int:
        """0, or why nothing was launched: RECORDED, or the driver's error. `is_new`: whether there are other arguments
        than last time."""
        return self.call(self.program, self.where, self.count if is_new else 0, stream, 0, 0)

    def __del__(self) -> None:
        """Launches that are under way are still done."""
        if self.executable:
            self.functions.destroy_executable(self.executable)
        if self.graph:
            self.functions.destroy(self.graph)


class RepeatedRow:
    """So many kernels, which are launched one by one until a graph would have paid, and as a graph from then on: in the
    stream in which they were last, since launches of a graph wait for each other in whichever streams they are.

    `recording`: empty but while something is recorded, which has to get the kernels themselves. A graph that the driver
    refuses to make, as when its memory is full, isn't made.
    """

    def __init__(
        self, count: int, one_by_one: Callable[[int], None], make: Callable[[], GraphRow], recording: Collection[Any]
    ) -> None:
        self.count, self.one_by_one, self.make, self.recording = count, one_by_one, make, recording
        self.graph: GraphRow | None = None
        self.stream = self.kernels = 0  # how many were launched one by one
        self.is_refused = False
        self.is_behind = True  # whether the graph wasn't told the arguments of the last launch

    def __call__(self, stream: int, is_new: bool = True) -> None:
        """`is_new`: whether there are other arguments than at the last call."""
        graph = self.graph
        if graph is None or stream != self.stream or self.recording or graph(stream, is_new or self.is_behind):
            self.is_behind = True
            self.one_by_one(stream)  # whose errors have names
            if graph is None and not self.is_refused:
                self.kernels += self.count
                if self.kernels >= WORTH and not self.recording:
                    self.stream = stream
                    try:
                        self.graph = self.make()
                    except ValueError:
                        self.is_refused = True
        else:
            self.is_behind = False
