"""Convolutions and their two gradients by cuDNN, by way of NVIDIA's cudnn-frontend.

A convolution is described as a graph of one node, with the sizes and steps of its tensors. cuDNN names the algorithms
that it has for it, best guess first. From these the switches of a program take some away: tensor cores round float32 to
TF32, and some algorithms add up in an order that differs from run to run. The first that is left is the plan; with
`benchmark`, the quickest of the first ten. Plans are kept, since a program asks for the same ones again and again.

>>> from minitorch_compile.cuda_runtime.allocator import CachingAllocator
>>> from minitorch_compile.cuda_runtime.fake_cudnn import FakeCudnn
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> import numpy as np
>>> driver, stream = FakeDriver(), StreamHandle(0)
>>> allocator = CachingAllocator(driver, 0)
>>> library = Cudnn(driver, StreamWorkspaces([allocator]), FakeCudnn(driver))
>>> x, w, y = (Layout(sizes, strides) for sizes, strides in (
...     ((1, 1, 1, 3), (3, 3, 3, 1)), ((1, 1, 1, 2), (2, 2, 2, 1)), ((1, 1, 1, 2), (2, 2, 2, 1))))
>>> described = Convolution("forward", "float32", x, w, y, (1, 1), (0, 0), (1, 1))
>>> image, filters, out = (allocator.allocate(16, stream) for _ in range(3))
>>> driver.bytes_at(image, 12).view(np.float32)[:] = [1, 2, 3]
>>> driver.bytes_at(filters, 8).view(np.float32)[:] = [10, 1]
>>> library.prepared(described, Switches)([image, filters, out], stream)
>>> driver.bytes_at(out, 8).view(np.float32).tolist()
[12.0, 23.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.stream_workspaces import StreamWorkspaces

Ints = tuple[int, ...]
Launch = Callable[[Sequence[int], StreamHandle], None]  # on addresses
Kind = Literal["forward", "input gradient", "filter gradient"]
# cuDNN's name of what elements are, and of what they are added up in.
TYPES = {
    "float32": ("FLOAT", "FLOAT"),
    "float64": ("DOUBLE", "DOUBLE"),
    "float16": ("HALF", "FLOAT"),
    "bfloat16": ("BFLOAT16", "FLOAT"),
}
BYTES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2}
ALIGNMENT = 16  # bytes: what cudnn-frontend tells cuDNN of every address
MOST_TRIED, TRIES = 10, 3  # plans that are timed with `benchmark`, and how often each
# The uids of the three tensors, in the order of a convolution's words: image, filters, out.
IMAGE, FILTERS, OUT = 1, 2, 3
ORDER: dict[Kind, Ints] = {  # in which the addresses come, the result's last
    "forward": (IMAGE, FILTERS, OUT),
    "input gradient": (OUT, FILTERS, IMAGE),
    "filter gradient": (OUT, IMAGE, FILTERS),
}


class Layout(NamedTuple):
    """Sizes and steps of a tensor, in elements."""

    sizes: Ints
    strides: Ints


class Convolution(NamedTuple):
    """`filters` are (filters, channels of a group, ...), so that the sizes say how many groups there are."""

    kind: Kind
    element: str
    image: Layout
    filters: Layout
    out: Layout
    stride: Ints
    padding: Ints
    dilation: Ints


class Switches(NamedTuple):
    """`tf32`: factors of float32 may be rounded to 10 bits. `deterministic`: sums are added up in one order.
    `benchmark`: algorithms are timed; of at most `limit`, or of all if it is 0."""

    tf32: bool = False
    deterministic: bool = False
    benchmark: bool = False
    limit: int = MOST_TRIED


class NoAlgorithmError(RuntimeError):
    """cuDNN has no algorithm for what is asked, under these switches."""


def version_of(bindings: Any) -> int | None:
    """The version of cuDNN that the bindings found, such as 91900; None if they found none."""
    try:
        version = int(bindings.backend_version())
    except RuntimeError:
        return None
    return version or None


class Cudnn:
    """The library, with a handle and plans for each device. One thread at a time has a handle."""

    def __init__(self, driver: Any, workspaces: StreamWorkspaces, bindings: Any) -> None:
        self.driver, self.workspaces, self.bindings = driver, workspaces, bindings
        self.handles: dict[int, Any] = {}
        self.plans: dict[Any, Launch] = {}  # by device, what is computed, and switches
        self.turn = workspaces.turn

    def prepared(self, convolution: Convolution, switches: Callable[[], Switches]) -> PreparedCall:
        """A function of addresses, those of the two inputs, as PyTorch orders them, and of the result; and of a stream.
        `switches` is asked at each call, since programs set them."""
        layouts = dict(zip((IMAGE, FILTERS, OUT), (convolution.image, convolution.filters, convolution.out)))
        nbytes = [reach(layouts[uid]) * BYTES[convolution.element] for uid in ORDER[convolution.kind]]
        return PreparedCall(
            self, nbytes, lambda addresses, stream: self.plan(convolution, switches(), stream, addresses)
        )

    def computes(self, convolution: Convolution, switches: Switches, stream: StreamHandle) -> bool:
        """Whether there is an algorithm; it is kept if there is one that needn't be timed."""
        try:
            self.plan(convolution, switches._replace(benchmark=False), stream)
        except NoAlgorithmError:
            return False
        return True

    def handle(self, stream: StreamHandle) -> Any:
        """That of a device, which becomes this thread's, told the stream."""
        device, number = stream
        self.driver.enter(device)
        handle = self.handles.get(device)
        if handle is None:
            handle = self.handles[device] = self.bindings.create_handle()
        self.bindings.set_stream(handle, number)
        return handle

    def plan(
        self, convolution: Convolution, switches: Switches, stream: StreamHandle, addresses: Sequence[int] = ()
    ) -> ConvolutionPlan:
        """NoAlgorithmError if there is none. `addresses`: where algorithms are timed."""
        key = stream.device, convolution, switches
        with self.turn:
            plan = self.plans.get(key)
            if plan is None:
                plan = ConvolutionPlan(self, convolution, switches, stream)
                if switches.benchmark:
                    plan.choose(addresses, stream, switches.limit)
                self.plans[key] = plan
            assert isinstance(plan, ConvolutionPlan)
        return plan


class PreparedCall:
    """A graph without its addresses. `plan` gives what runs it in a stream; `nbytes`: how far each address reaches."""

    def __init__(
        self, library: Cudnn, nbytes: Sequence[int], plan: Callable[[Sequence[int], StreamHandle], Launch]
    ) -> None:
        self.library, self.nbytes, self.plan = library, nbytes, plan

    def __call__(self, addresses: Sequence[int], stream: StreamHandle) -> None:
        if any(address % ALIGNMENT for address in addresses):
            self.on_copies(addresses, stream)
        else:
            self.plan(addresses, stream)(addresses, stream)

    def on_copies(self, addresses: Sequence[int], stream: StreamHandle) -> None:
        """Inputs that begin within the sixteen bytes that cuDNN reads at once are moved to where they don't."""
        allocator, driver, places = self.library.workspaces.allocators[stream.device], self.library.driver, []
        for address, nbytes in zip(addresses, self.nbytes):
            place = allocator.allocate(nbytes, stream) if address % ALIGNMENT else 0
            if place:
                driver.copy_device_to_device(place, address, nbytes, stream)
            places.append(place)
        try:
            self([place or address for place, address in zip(places, addresses)], stream)
        finally:
            for place in filter(None, places):
                allocator.free(place)  # whoever gets it works in the same stream, or waits


def make(bindings: Any, describe: Callable[[], Any], unwanted: Sequence[Any], what: str) -> Any:
    """A graph that can be run, by algorithms without the notes that are unwanted. NoAlgorithmError if there is none."""
    try:
        graph = describe()
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([bindings.heur_mode.A, bindings.heur_mode.FALLBACK])
        graph.deselect_numeric_notes(list(unwanted))
        graph.check_support()
        graph.build_plans(bindings.build_plan_policy.HEURISTICS_CHOICE)
    except (bindings.cudnnGraphNotSupportedError, RuntimeError) as error:
        raise NoAlgorithmError(
            f"cuDNN has no algorithm for {what}; torch.backends.cudnn.enabled = False computes it by other kernels"
            f" ({error})"
        ) from None
    return graph


class Execution:
    """Runs a plan of a graph that was built, given the addresses by uid, a workspace and a handle: that of an index, or
    the one that the graph has chosen.

    cudnn-frontend 1.32 looks at each address in Python before it calls its own binding: that takes 48 of 61 us. So from
    the second call on its binding is called here, by names that are not public; in a version without them as before.
    """

    def __init__(self, graph: Any, index: int | None = None) -> None:
        self.graph, self.index = graph, index
        self.quick: Callable[[dict[int, int], int, Any], None] | None = None

    def __call__(self, memory: dict[int, int], workspace: int, handle: Any) -> None:
        if self.quick is not None:
            self.quick(memory, workspace, handle)
            return
        self.usual(memory, workspace, handle)
        self.quick = self.bound() or self.usual

    def usual(self, memory: dict[int, int], workspace: int, handle: Any) -> None:
        if self.index is None:
            self.graph.execute(memory, workspace, handle)
        else:
            self.graph.execute_plan_at_index(memory, workspace, self.index, handle)

    def bound(self) -> Callable[[dict[int, int], int, Any], None] | None:
        """The binding, of the graph's own choice if that is a plan of cuDNN's; None for one in Python, and where there
        is no such name."""
        graph = self.graph
        run = getattr(getattr(graph, "_lowered_graph", None), "_execute_plan_at_index", None)
        plan_at = getattr(graph, "_materialize_backend_plan", None)
        if self.index is not None or run is None or plan_at is None or graph.selected_engine is not None:
            return None
        place = plan_at(graph._plan_index).cpp_index
        if place is None:
            return None

        def call(memory: dict[int, int], workspace: int, handle: Any) -> None:
            run(memory, workspace, place, handle.backend_handle, None, None, None)

        return call


class ConvolutionPlan:
    """A graph of cuDNN's with one node, and which of its algorithms is used. NoAlgorithmError if none can be."""

    def __init__(self, library: Cudnn, convolution: Convolution, switches: Switches, stream: StreamHandle) -> None:
        self.library, self.convolution = library, convolution
        self.order = ORDER[convolution.kind]
        unwanted, notes = [], library.bindings.numerical_note
        if convolution.element == "float32":
            unwanted += [notes.DOWN_CONVERT_INPUTS] + ([] if switches.tf32 else [notes.TENSOR_CORE])
        if switches.deterministic:
            unwanted += [notes.NONDETERMINISTIC]
        what = f"this {convolution.kind} of a convolution in {convolution.element} with {switches}"
        self.graph = make(library.bindings, lambda: self.described(library.handle(stream)), unwanted, what)
        self.workspace = max(self.graph.get_workspace_size(), 1)
        self.execute = Execution(self.graph)

    def described(self, handle: Any) -> Any:
        """The graph of the node."""
        convolution, types = self.convolution, self.library.bindings.data_type
        element, sums = (getattr(types, name) for name in TYPES[convolution.element])
        graph = self.library.bindings.pygraph(
            io_data_type=element, intermediate_data_type=sums, compute_data_type=sums, handle=handle
        )
        layouts = dict(zip((IMAGE, FILTERS, OUT), (convolution.image, convolution.filters, convolution.out)))
        first, second = (
            graph.tensor(dim=list(layouts[uid].sizes), stride=list(layouts[uid].strides), data_type=element, uid=uid)
            for uid in self.order[:2]
        )
        how = {
            "pre_padding": list(convolution.padding),
            "post_padding": list(convolution.padding),
            "stride": list(convolution.stride),
            "dilation": list(convolution.dilation),
        }
        if convolution.kind == "forward":
            result = graph.conv_fprop(image=first, weight=second, **how)
        elif convolution.kind == "input gradient":
            result = graph.conv_dgrad(loss=first, filter=second, **how)
        else:
            result = graph.conv_wgrad(loss=first, image=second, **how)
        made = layouts[self.order[2]]
        result.set_output(True).set_data_type(element).set_uid(self.order[2])
        result.set_dim(list(made.sizes)).set_stride(list(made.strides))
        return graph

    def __call__(self, addresses: Sequence[int], stream: StreamHandle) -> None:
        library = self.library
        with library.turn:
            handle, workspace = library.handle(stream), library.workspaces.of(stream, self.workspace)
            self.execute(dict(zip(self.order, addresses)), workspace, handle)

    def choose(self, addresses: Sequence[int], stream: StreamHandle, limit: int) -> None:
        """Runs the algorithms, which all have the same result, and keeps the quickest."""
        found: list[tuple[float, int, int]] = []
        for index in range(self.graph.get_execution_plan_count()):
            if limit and len(found) == limit:
                break
            try:
                self.graph.build_plan_at_index(index)
                nbytes = max(self.graph.get_workspace_size_plan_at_index(index), 1)
                found.append((self.milliseconds(index, nbytes, addresses, stream), index, nbytes))
            except (self.library.bindings.cudnnGraphNotSupportedError, RuntimeError, ValueError):
                continue  # it was taken away, or couldn't be built
        if found:
            _, index, self.workspace = min(found)
            self.execute = Execution(self.graph, index)

    def milliseconds(self, index: int, nbytes: int, addresses: Sequence[int], stream: StreamHandle) -> float:
        """How long an algorithm takes."""
        library = self.library
        driver, memory = library.driver, dict(zip(self.order, addresses))
        workspace, handle = library.workspaces.of(stream, nbytes), library.handle(stream)
        start, end = (driver.create_event(stream.device, timing=True) for _ in range(2))
        try:
            self.graph.execute_plan_at_index(memory, workspace, index, handle)
            driver.record_event(start, stream)
            for _ in range(TRIES):
                self.graph.execute_plan_at_index(memory, workspace, index, handle)
            driver.record_event(end, stream)
            driver.synchronize_event(end)
            return float(driver.elapsed_time(start, end))
        finally:
            driver.destroy_event(start)
            driver.destroy_event(end)


def reach(layout: Layout) -> int:
    """How many elements lie from a tensor's first to its last."""
    steps = sum((size - 1) * stride for size, stride in zip(layout.sizes, layout.strides))
    return 1 + steps if math.prod(layout.sizes) else 0
