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

import textwrap
from collections.abc import Sequence
from typing import Any

from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_call import DeviceCall, kinds_of
from minitorch_compile.inductor.device_calls.extern_launches import Resources
from minitorch_compile.inductor.device_calls.kernel_rules import KERNEL_RULES
from minitorch_compile.inductor.device_calls.launcher import Kernel, Launcher, SimulatedLauncher
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.library_rules import library_rules
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernel
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError, schedule_of
from minitorch_compile.inductor.device_calls.strided_copy import StridedCopy, is_for_kernels
from minitorch_compile.tensor.dispatch.accelerators import moved, run_on_host
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.functions.settings import settings
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.numerics.dtype import in_use
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import warn_user

MOST_CALLS = 4096  # remembered


class DeviceKernels:
    """All that was compiled for a runtime. `reasons`: which ops ran in main memory, and why."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.launcher = launcher_for(runtime)
        self.libraries = Libraries(runtime)
        self.calls: dict[Any, DeviceCall | None] = {}
        self.copies: dict[Any, StridedCopy] = {}
        self.compiled: dict[str, Kernel] = {}
        self.reasons: dict[str, str] = {}

    def run(self, op: Op, bound: Sequence[Any], tensors: Sequence[TensorBase], where: Device) -> Any:
        """The results of a call, on a device. `tensors` are those among its arguments."""
        key = key_of(op, bound)
        try:
            call = self.calls[key]
        except TypeError:
            self.note(op, "one of its arguments can't be looked up, so no kernel can be kept for it")
            return run_on_host(op, bound, where)
        except KeyError:
            call = self.calls[key] = self.prepared(op, bound, tensors, where)
            if len(self.calls) > MOST_CALLS:
                del self.calls[next(iter(self.calls))]
        if call is None:
            return run_on_host(op, bound, where)
        return call([x if x.storage.block is not None else moved(x, where) for x in tensors])

    def run_again(self, op: Op, bound: Sequence[Any]) -> Any:
        """The results of a call like one before whose tensors are all on a device; None for any other."""
        tensors: list[TensorBase] = []
        try:
            call = self.calls.get(key_of(op, bound, tensors))
        except TypeError:  # something that can't be looked up
            return None
        return None if call is None or call.is_mixed else call(tensors)

    def prepared(self, op: Op, bound: Sequence[Any], tensors: Sequence[TensorBase], where: Device) -> DeviceCall | None:
        """The kernels for calls like this one; None if there are none."""
        try:
            if any(x.storage.flips for x in tensors):
                raise NoKernelError("kernels don't read numbers with other signs than they have in memory")
            index = self.runtime.index_of(where)
            schedule = schedule_of(op, bound, tensors, {**KERNEL_RULES, **library_rules(self.libraries)})
            resources = Resources(self.libraries, self.launcher, self.compile)
            call = DeviceCall(schedule, resources, self.kernel, self.runtime, index)
            call.is_mixed = any(x.storage.block is None for x in tensors)
            return call
        except NoKernelError as error:
            self.note(op, str(error))
            return None

    def copy(self, target: TensorBase, source: TensorBase) -> bool:
        """Writes the elements of a tensor into the memory of another on its device; False if no kernel can."""
        if not is_for_kernels(target, source):
            return False
        if 0 not in target.sizes:
            key = target.dtype.itemsize, target.sizes, target.strides, source.strides
            if key not in self.copies:
                self.copies[key] = StridedCopy(target, source, self.launcher, self.kernel)
                if len(self.copies) > MOST_CALLS:
                    del self.copies[next(iter(self.copies))]
            addresses = [x.storage.block.address + x.offset * x.dtype.itemsize for x in (source, target)]
            self.copies[key](addresses, self.runtime, self.runtime.index_of(target.device))
        return True

    def note(self, op: Op, reason: str) -> None:
        """Says once of each op that it runs in main memory."""
        if op.name not in self.reasons:
            self.reasons[op.name] = reason
            warn_user(f"{op.name} on cuda is computed in main memory: {reason}")

    def kernel(self, kernel: LiftedKernel) -> Kernel:
        """The compiled kernel of a group of loops."""
        source = kernel.source
        parameters = ", ".join(kernel.parameters)
        text = f"def {source.title}({parameters}):\n{textwrap.indent(source.body, '    ')}\n"
        return self.compile(text, source.title, kinds_of(kernel))

    def compile(self, text: str, name: str, kinds: Sequence[str]) -> Kernel:
        """The compiled kernel of a text, with parameters of these kinds."""
        key = f"{list(kinds)}\n{text}"
        if key not in self.compiled:
            self.compiled[key] = self.launcher.compile(text, name, kinds)
        return self.compiled[key]


def launcher_for(runtime: Runtime) -> Launcher:
    driver = getattr(runtime.driver, "driver", runtime.driver)  # that of a sanitized one
    if isinstance(driver, FakeDriver):
        return SimulatedLauncher(driver)
    from minitorch_compile.inductor.device_calls.numba_launcher import NumbaLauncher

    return NumbaLauncher(runtime.driver)


def key_of(op: Op, bound: Sequence[Any], tensors: list[TensorBase] | None = None) -> tuple[Any, ...]:
    """What a call's kernels depend on: how its tensors look and where they are, its other arguments with their types,
    the default dtype, and whether sums keep their order. `tensors` collects the former."""
    key: list[Any] = [op, in_use[0], settings.deterministic]
    _extend(key, bound, [] if tensors is None else tensors)
    return tuple(key)


def _extend(key: list[Any], arguments: Sequence[Any], tensors: list[TensorBase]) -> None:
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
        else:
            key += type(x), repr(x) if type(x) is float else x
