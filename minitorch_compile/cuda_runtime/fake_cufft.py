"""A stand-in for cuFFT's bindings: it takes the same calls, checks what they say, and transforms with SciPy.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> library = FakeCuFft(FakeDriver())
>>> library.exec_r2c(library.create(), 0, 0)
Traceback (most recent call last):
ValueError: exec_r2c: the plan isn't made yet
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import fft

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import DEVICE_STRIDE, FakeDriver

REAL, COMPLEX = np.dtype(np.float32), np.dtype(np.complex64)
DOUBLE, COMPLEX_DOUBLE = np.dtype(np.float64), np.dtype(np.complex128)
KINDS: dict[str, tuple[int, np.dtype[Any], np.dtype[Any]]] = {
    "c2c": (0x29, COMPLEX, COMPLEX), "r2c": (0x2A, REAL, COMPLEX), "c2r": (0x2C, COMPLEX, REAL),
    "z2z": (0x69, COMPLEX_DOUBLE, COMPLEX_DOUBLE), "d2z": (0x6A, DOUBLE, COMPLEX_DOUBLE),
    "z2d": (0x6C, COMPLEX_DOUBLE, DOUBLE),
}  # fmt: skip
WORKSPACE = 512  # what each plan asks for


@dataclass
class FakePlan:
    """What was said of a plan."""

    own_memory: bool = True
    kind: int = 0
    length: int = 0
    batch: int = 0
    before: tuple[int, int] = (0, 0)
    after: tuple[int, int] = (0, 0)
    work_area: int = 0
    stream: int = 0


class FakeCuFft:
    """What `nvmath.bindings.cufft` has, as far as it is used. `made` counts plans."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver, self.made = driver, 0
        self.plans: dict[int, FakePlan] = {}
        self.numbers = itertools.count(1)

    def create(self) -> int:
        number = next(self.numbers)
        self.plans[number] = FakePlan()
        return number

    def destroy(self, plan: int) -> None:
        del self.plans[plan]

    def set_auto_allocation(self, plan: int, auto_allocate: int) -> None:
        self.plans[plan].own_memory = bool(auto_allocate)

    def make_plan_many(self, plan: int, rank: int, n: Sequence[int], *layouts_kind_and_batch: Any) -> int:
        inembed, istride, idist, onembed, ostride, odist, kind, batch = layouts_kind_and_batch
        _require(rank == len(n) == len(inembed) == len(onembed) == 1, "make_plan_many", "one dimension is known")
        _require(min(n[0], batch) > 0, "make_plan_many", f"sizes are at least 1, got {n[0]} and {batch}")
        _require(kind in [number for number, _, _ in KINDS.values()], "make_plan_many", f"{kind} is no type")
        made = self.plans[plan]
        made.kind, made.length, made.batch = kind, n[0], batch
        made.before, made.after = (istride, idist), (ostride, odist)
        self.made += 1
        return 0 if made.own_memory else WORKSPACE

    def set_work_area(self, plan: int, work_area: int) -> None:
        self.driver.bytes_at(work_area, WORKSPACE)
        self.plans[plan].work_area = work_area

    def set_stream(self, plan: int, stream: int) -> None:
        self.plans[plan].stream = stream

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("exec_"):
            raise AttributeError(name)

        def execute(plan: int, idata: int, odata: int, direction: int = 0) -> None:
            self._execute(name.removeprefix("exec_"), self.plans[plan], idata, odata, direction)

        return execute

    def _execute(self, name: str, plan: FakePlan, source: int, target: int, direction: int) -> None:
        kind, before, after = KINDS[name]
        call, length = f"exec_{name}", plan.length
        _require(plan.kind != 0, call, "the plan isn't made yet")
        _require(plan.kind == kind, call, f"the plan is for the type {plan.kind}")
        _require(plan.own_memory or plan.work_area != 0, call, "the plan has no memory to work in")
        _require(direction in ((-1, 1) if before == after else (0,)), call, f"{direction} is no direction")
        half = length // 2 + 1
        _require(source % after.itemsize == 0 or before.kind == "c", call, "real numbers begin where complex ones may")
        _require(target % before.itemsize == 0 or after.kind == "c", call, "real numbers begin where complex ones may")
        x = self._view(source, before, half if name in ("c2r", "z2d") else length, plan.batch, plan.before)
        out = self._view(target, after, half if name in ("r2c", "d2z") else length, plan.batch, plan.after)

        def transform() -> None:
            if before == after:
                out[...] = fft.fft(x) if direction < 0 else fft.ifft(x, norm="forward")
            else:
                out[...] = fft.rfft(x) if before.kind == "f" else fft.irfft(x, length, norm="forward")
                if before.kind == "c":
                    x[...] = np.nan  # as the library may

        self.driver.launch(transform, StreamHandle(target // DEVICE_STRIDE - 1, plan.stream))

    def _view(self, address: int, element: np.dtype, length: int, batch: int, steps: tuple[int, int]) -> np.ndarray:
        reach = (batch - 1) * steps[1] + (length - 1) * steps[0] + 1
        memory = self.driver.bytes_at(address, reach * element.itemsize).view(element)
        strides = [n * element.itemsize for n in (steps[1], steps[0])]
        return np.lib.stride_tricks.as_strided(memory, (batch, length), strides)


def _require(holds: bool, call: str, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{call}: {otherwise}")
