"""Runs operations on a GPU with kernels of ours, and remembers them: a call like one before looks one thing up.

What there is no kernel for is computed in main memory, and says so once.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.tensor import ones, ops
>>> with using(FakeDriver()) as runtime:
...     kernels, where = DeviceKernels(runtime), runtime.devices[0]
...     for rows, columns in ((2, 3), (4, 5)):
...         x, y = ones(rows, columns).cuda(), ones(columns).cuda()
...         total = kernels.run(ops.add, (x, y, 1), (x, y), where)
>>> total.sum().item(), total.shape, len(kernels.compiled)
(40.0, torch.Size([4, 5]), 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from minitorch_compile.backends import cudnn
from minitorch_compile.cuda.device_block import DeviceBlock
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.device_calls import quantiles, random_draws  # noqa: F401  (declares its ops)
from minitorch_compile.inductor.device_calls.any_length import AnyLength, Sample, are_dense
from minitorch_compile.inductor.device_calls.attention_rules import decompositions_of, is_fused
from minitorch_compile.inductor.device_calls.copies_together import launches_of_copies
from minitorch_compile.inductor.device_calls.data_sized import data_sized, run_in_parts
from minitorch_compile.inductor.device_calls.device_call import DeviceCall, kinds_of
from minitorch_compile.inductor.device_calls.extern_launches import Resources
from minitorch_compile.inductor.device_calls.kernel_rules import KERNEL_RULES
from minitorch_compile.inductor.device_calls.launcher import (
    Kernel,
    Launcher,
    Request,
    SimulatedLauncher,
    memory_dtype,
)
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.library_rules import library_rules, merging
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernel
from minitorch_compile.inductor.device_calls.one_op_graph import (
    NoKernelError,
    as_stand_ins,
    schedule_of,
    with_tensors,
)
from minitorch_compile.inductor.device_calls.open_numbers import NumberedCalls, class_of, opens, with_floats
from minitorch_compile.inductor.device_calls.optimizer_kernels import OptimizerKernels
from minitorch_compile.inductor.device_calls.strided_copy import StridedCopy, is_for_kernels
from minitorch_compile.inductor.device_calls.warm_up import FirstKernels, WarmUp
from minitorch_compile.prims.decomposition_table import refusal_of_call
from minitorch_compile.tensor import no_grad, ops
from minitorch_compile.tensor.dispatch.accelerators import moved, run_on_host
from minitorch_compile.tensor.dispatch.argument_devices import all_tensors
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.functions.settings import settings
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.device_storage import DeviceStorage
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.numerics.dtype import as_dtype, dtype, in_use
from minitorch_compile.tensor.ops.creation import sizes_of
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, from_parts
from minitorch_compile.user_warnings import warn_user

MOST_CALLS = 4096  # remembered

Entry = DeviceCall | NumberedCalls | None


class DeviceKernels:
    """All that was compiled for a runtime. `reasons`: which ops ran in main memory, and why."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.launcher = launcher_for(runtime)
        self.libraries = Libraries(runtime)
        self.optimizers = OptimizerKernels(self)
        self.warm_up = WarmUp(self.is_at_hand)
        self.calls: dict[Any, Entry] = {}
        self.lengths: dict[Any, AnyLength] = {}
        self.copies: dict[Any, StridedCopy] = {}
        self.compiled: dict[str, Kernel] = {}
        self.reasons: dict[str, str] = {}

    def run(
        self,
        op: Op,
        bound: Sequence[Any],
        tensors: Sequence[TensorBase],
        where: Device,
        place: Sequence[int] = (),
    ) -> Any:
        """The results of a call, on a device. `tensors` are those among its arguments, `place` is where in the
        generator's stream it draws."""
        if any(x.storage.flips for x in tensors):
            tensors = [with_own_signs(x) for x in tensors]
            bound = with_tensors(bound, iter(tensors))
        if op in data_sized and refusal_of_call(op, tuple(bound)) is not None:
            return run_in_parts(self, op, with_tensors(bound, (on_device(x, where) for x in tensors)), where)
        floats: list[float] = []
        try:
            key = key_of(op, bound if tensors else (*bound, where), floats=floats)
            known = self.calls[key]
        except TypeError:
            self.note(op, "one of its arguments can't be looked up, so no kernel can be kept for it")
            return run_on_host(op, bound, where)
        except KeyError:
            known = self.calls[key] = self.entry(op, bound, tensors, where, bool(floats))
            if len(self.calls) > MOST_CALLS:
                del self.calls[next(iter(self.calls))]
        call = known.call_for(floats) if isinstance(known, NumberedCalls) else known
        if call is not None and call.waits and self.warm_up.is_due(call.waits):
            known = self.calls[key] = self.entry(op, bound, tensors, where, bool(floats))
            call = known.call_for(floats) if isinstance(known, NumberedCalls) else known
        if call is None:
            return run_on_host(op, bound, where)
        return call([on_device(x, where) for x in tensors], place or floats)

    def make(self, op: Op, bound: Sequence[Any], where: Device) -> Any:
        """A new tensor on a device, by an op that makes one of no other. RuntimeError for random numbers while work is
        recorded: each launch would draw the same."""
        if op is ops.full and type(bound[1]) is int and bound[1] == 0 and bound[2] is not None:
            return self.zeros(sizes_of("full", bound[0]), as_dtype(bound[2]), where)
        is_recording = self.runtime.allocators[self.runtime.index_of(where)].is_recording
        if is_recording and op.kind == "random" and self.runtime.driver.is_capturing(self.runtime.current_stream()):
            raise RuntimeError(
                f"{op.name}: random numbers can't be drawn in a CUDA graph, whose launches would all get the same; draw"
                " outside into a tensor, or record the step with torch.compile(mode='reduce-overhead')"
            )
        try:
            drawn = random_draws.as_function_of_place(op, bound)
        except NoKernelError as error:
            self.note(op, str(error))
            return run_on_host(op, bound, where)
        if drawn is None:
            return self.run(op, bound, (), where)
        return self.run(drawn.op, drawn.bound, (), where, drawn.place)

    def zeros(self, sizes: tuple[int, ...], element: dtype, where: Device) -> TensorBase:
        """A tensor of zeros, which are bytes of zero in all dtypes: no kernel is needed."""
        index, nbytes = self.runtime.index_of(where), numel(sizes) * element.itemsize
        stream = self.runtime.current_stream(index)
        block = DeviceBlock(self.runtime, index, nbytes, stream)
        if nbytes:
            self.runtime.driver.set_memory(block.address, 0, nbytes, stream)
        return from_parts(DeviceStorage(block), 0, Size(sizes), contiguous_strides(sizes), element, where)

    def run_again(self, op: Op, bound: Sequence[Any]) -> Any:
        """The results of a call like one before whose tensors are all on a device; None for any other."""
        tensors: list[TensorBase] = []
        floats: list[Any] = []
        try:
            known = self.calls.get(key_of(op, bound, tensors, floats))
        except TypeError:  # something that can't be looked up
            return None
        call = known.at_hand(floats) if isinstance(known, NumberedCalls) else known
        return call(tensors, floats) if call is not None and call.is_settled else None

    def entry(
        self, op: Op, bound: Sequence[Any], tensors: Sequence[TensorBase], where: Device, has_floats: bool
    ) -> Entry:
        """What is kept of calls like this one."""
        index, is_mixed = self.runtime.index_of(where), any(x.storage.block is None for x in tensors)
        if not has_floats:
            known = None if is_mixed else self.of_any_length(op, bound, tensors, index)
            return known or self.prepared(op, bound, index, is_mixed)
        like = as_stand_ins(bound)  # so that no memory is kept
        return NumberedCalls(lambda floats, marks: self.prepared(op, with_floats(like, floats), index, is_mixed, marks))

    def of_any_length(
        self, op: Op, bound: Sequence[Any], tensors: Sequence[TensorBase], index: int
    ) -> DeviceCall | None:
        """A call that needs no tracing, since others like it were made ready; None if it does."""
        at_top = sum(isinstance(x, TensorBase) for x in bound)
        if op.kind != "pointwise" or not at_top or at_top != len(tensors) or not are_dense(tensors):
            return None
        like = [x.dtype if isinstance(x, TensorBase) else x for x in bound]
        key = index, key_of(op, like)
        if key not in self.lengths:
            if len(self.lengths) >= MOST_CALLS:
                del self.lengths[next(iter(self.lengths))]
            sample = partial(self.sample, op, as_stand_ins(bound), index)
            self.lengths[key] = AnyLength(self.launcher, self.kernel, sample)
        return self.lengths[key].call_for(tensors[0].sizes)

    def sample(self, op: Op, like: Sequence[Any], index: int, length: int) -> Sample:
        """A call on tensors of one dimension, and its kernels."""
        flat = [empty_fake((length,), (1,), x.dtype) if isinstance(x, TensorBase) else x for x in like]
        write = self.warm_up.first_kernels()
        return self.prepared(op, flat, index, False, write=write), write.written

    def prepared(
        self,
        op: Op,
        bound: Sequence[Any],
        index: int,
        is_mixed: bool,
        opened: Sequence[Any] = (),
        write: FirstKernels | None = None,
    ) -> DeviceCall | None:
        """The kernels for calls like this one; None if there are none. `opened`: numbers that each call brings."""
        if op.kind == "indexing" and looks_up_nothing(all_tensors(bound)):
            return None
        call = None
        if op in random_draws.FROM_PLACE:
            call, opened = partial(random_draws.marked, op), random_draws.MARKS
        try:
            rules = {**KERNEL_RULES, **library_rules(self.libraries)}
            kept_whole = decompositions_of(self.libraries, op, bound)
            merged = merging(self.libraries)
            schedule = schedule_of(op, bound, all_tensors(bound), rules, call, kept_whole, merged)
            resources = Resources(self.libraries, self.launcher, self.compile)
            write = write or self.warm_up.first_kernels()
            made = DeviceCall(schedule, resources, self.kernel, self.runtime, index, opened, write)
            made.waits, made.is_settled = write.waits, not (is_mixed or write.waits)
            return made
        except NoKernelError as error:
            self.note(op, str(error))
            return None

    def attends(self, tensors: Sequence[TensorBase], is_causal: bool, scale: float, mask: TensorBase | None) -> bool:
        """Whether attention is computed without a score matrix."""
        return is_fused(self.libraries, tensors, is_causal, scale, mask)

    def copy(self, target: TensorBase, source: TensorBase) -> bool:
        """Writes the elements of a tensor into the memory of another on its device; False if no kernel can."""
        if not is_for_kernels(target, source):
            return False
        if 0 not in target.sizes:
            key = target.dtype.itemsize, target.sizes, target.strides, source.strides
            if key not in self.copies or self.warm_up.is_due(self.copies[key].waits):
                write = self.warm_up.first_kernels()
                made = self.copies[key] = StridedCopy(target, source, self.launcher, self.kernel, write)
                made.waits = write.waits
                if len(self.copies) > MOST_CALLS:
                    del self.copies[next(iter(self.copies))]
            addresses = [x.storage.block.address + x.offset * x.dtype.itemsize for x in (source, target)]
            self.copies[key](addresses, self.runtime, self.runtime.index_of(target.device))
        return True

    def copy_bytes(self, copies: Sequence[tuple[int, int, int]], index: int) -> None:
        """Copies bytes on a device, many in a kernel: from where, to where, how many."""
        stream, sanitizer = self.runtime.current_stream(index), self.runtime.sanitizer
        if sanitizer is not None:
            sources, targets = ([(copy[end], copy[2]) for copy in copies] for end in (0, 1))
            sanitizer.access(stream, "copies", sources, targets)
        for launch, addresses in launches_of_copies(copies, self.launcher, self.compile):
            launch(addresses, stream)

    def launch(
        self,
        text: str,
        name: str,
        kinds: Sequence[str],
        tensors: Sequence[TensorBase],
        sizes: Sequence[int],
        threads: int,
    ) -> None:
        """Runs a kernel for so many threads at once, on tensors that lie row-major in a device's memory."""
        launcher, index = self.launcher, self.runtime.index_of(tensors[0].device)
        blocks = max(1, min(-(-threads // launcher.threads), launcher.most_blocks))
        stream = self.runtime.current_stream(index)
        spans = [(x.storage.block.address + x.offset * x.dtype.itemsize, numel(x.sizes)) for x in tensors]
        if self.runtime.sanitizer is not None:
            memory = [(address, count * x.dtype.itemsize) for (address, count), x in zip(spans, tensors)]
            self.runtime.sanitizer.access(stream, name, memory[:-1], memory[-1:])
        reaches = [(count, memory_dtype(x.dtype)) for (_, count), x in zip(spans, tensors)]
        self.compile(text, name, kinds)(blocks, reaches, sizes)([address for address, _ in spans], stream)

    def note(self, op: Op, reason: str) -> None:
        """Says once of each op that it runs in main memory."""
        if op.name not in self.reasons:
            self.reasons[op.name] = reason
            warn_user(f"{op.name} on cuda is computed in main memory: {reason}")

    def kernel(self, kernel: LiftedKernel) -> Kernel:
        """The compiled kernel of a group of loops."""
        return self.compile(*self.request(kernel))

    def request(self, kernel: LiftedKernel) -> Request:
        """What the launcher is asked for."""
        text = self.launcher.rewritten(text_of(kernel))
        return text, kernel.source.title, kinds_of(kernel), kernel.source.block

    def compile_ahead(self, kernels: Sequence[LiftedKernel]) -> None:
        """Has those that are new compiled at the same time."""
        asked: dict[str, Request] = {}
        for kernel in kernels:
            text, title, kinds, block = self.request(kernel)
            if (name := _named(text, kinds, block)) not in self.compiled:
                asked[name] = text, title, kinds, block
        self.launcher.compile_ahead([*asked.values()])

    def is_at_hand(self, kernel: LiftedKernel) -> bool:
        """Whether that would compile nothing."""
        text, _, kinds, block = self.request(kernel)
        return _named(text, kinds, block) in self.compiled or self.launcher.is_kept(text, kinds, block)

    def compile(self, text: str, name: str, kinds: Sequence[str], block: BlockShape = BlockShape()) -> Kernel:
        """The compiled kernel of a text, with parameters of these kinds."""
        key = _named(text, kinds, block)
        if key not in self.compiled:
            self.compiled[key] = self.launcher.compile(text, name, kinds, block)
        return self.compiled[key]


def text_of(kernel: LiftedKernel) -> str:
    """The text of a kernel's function, wherever in a program its loops stand: comments say that."""
    source = kernel.source
    lines = [f"    {line}\n" for line in source.body.splitlines() if not line.lstrip().startswith("#")]
    return f"def {source.title}({', '.join(kernel.parameters)}):\n{''.join(lines)}"


def _named(text: str, kinds: Sequence[str], block: BlockShape) -> str:
    return f"{list(kinds)} {tuple(block)}\n{text}"


def on_device(x: TensorBase, where: Device) -> TensorBase:
    """The tensor, or a copy on the device of one in main memory."""
    return x if x.storage.block is not None else moved(x, where)


def looks_up_nothing(tensors: Sequence[TensorBase]) -> bool:
    """Whether indices are told to an empty tensor, all of which are wrong: no kernel would run that says so."""
    return 0 in tensors[0].sizes and any(0 not in x.sizes for x in tensors[1:])


def with_own_signs(x: TensorBase) -> TensorBase:
    """The tensor; of one whose signs are not as in memory, a copy that has them."""
    storage: Any = x.storage
    if not storage.flips or x.storage.block is None:
        return x
    plain = from_parts(storage.of, x.offset, x.sizes, x.strides, x.dtype, x.device)
    with no_grad():
        plain = ops.conj_physical(plain) if storage.conj else plain
        return ops.neg(plain) if storage.neg else plain


def launcher_for(runtime: Runtime) -> Launcher:
    driver = getattr(runtime.driver, "driver", runtime.driver)  # that of a sanitized one
    if isinstance(driver, FakeDriver):
        return SimulatedLauncher(driver)
    from minitorch_compile.inductor.device_calls.numba_launcher import NumbaLauncher

    return NumbaLauncher(runtime.driver)


def key_of(
    op: Op, bound: Sequence[Any], tensors: list[TensorBase] | None = None, floats: list[float] | None = None
) -> tuple[Any, ...]:
    """What a call's kernels depend on: how its tensors look and where they are, its other arguments with their types,
    the default dtype, whether sums keep their order, and whether cuDNN may be asked. `tensors` collects the former, and
    `floats` those numbers of which only their class matters (`open_numbers.py`)."""
    key: list[Any] = [op, in_use[0], settings.deterministic, cudnn.enabled]
    _extend(key, bound, [] if tensors is None else tensors, floats if floats is not None and opens(op) else None)
    return tuple(key)


def _extend(
    key: list[Any], arguments: Sequence[Any], tensors: list[TensorBase], floats: list[float] | None = None
) -> None:
    for x in arguments:
        if isinstance(x, TensorBase):
            storage = x.storage
            block = storage.block
            key += x.dtype, x.sizes, x.strides, None if block is None else block.allocator
            if storage.flips:
                key += storage.conj, storage.neg
            tensors.append(x)
        elif type(x) in (list, tuple):
            key.append(len(x))
            _extend(key, x, tensors)
        elif type(x) is float:
            kind = None if floats is None else class_of(x)
            if kind is not None and floats is not None:
                floats.append(x)
            key += float, repr(x) if kind is None else kind
        else:
            key += type(x), x
