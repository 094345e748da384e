"""A program as kernels for all sizes, and the recipe that says what each kernel is passed.

>>> from minitorch_compile.kernel_library.programs import PROGRAMS
>>> opened = open_program("softmax", PROGRAMS["softmax"])
>>> [kernel.sizes for kernel in opened.kernels], opened.recipe["steps"][0]["sizes"]
([{'n0': 0}], [SizeNumber(times=1, sizes=(1,), unit=1, rounded='')])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor.codegen.cpu.wrapper import WrapperWriter
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.iteration import count
from minitorch_compile.inductor.library_writer.open_sizes import Markers
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.kernel_library.programs import ProgramSource
from minitorch_compile.kernel_library.size_numbers import SizeNumber
from minitorch_compile.prims import decompose
from minitorch_compile.tensor import no_grad
from minitorch_compile.tensor.numerics.dtype import float32, float64
from minitorch_compile.tensor.tensor_base import empty_fake

# Primes that are one less than a multiple of 16: two for each size, as many as programs have sizes.
FIRST, SECOND = (1103, 7919, 50111, 2543), (1151, 7951, 50287, 2591)
FIRST_NUMBERS, SECOND_NUMBERS = (0.00030517, 0.0070921, 0.0150731), (0.00041531, 0.0083417, 0.0171293)
KNOWN = {"one": 1, "three": 3, "four": 4}  # sizes that are the same in every call


class NotOpenError(Exception):
    """A program whose kernels depend on its sizes in a way that no parameter stands for."""


@dataclass
class OpenProgram:
    """The kernels, and the recipe as `kernel_library/recipe.py` reads it."""

    kernels: list[KernelSource]
    recipe: dict[str, Any]


def open_program(name: str, source: ProgramSource) -> OpenProgram:
    """The program for all sizes. NotOpenError unless it is found in the same way from two choices of sizes."""
    first, second = (
        ProgramOpener(source, Markers(dict(zip(source.sizes, primes)), dict(zip(source.numbers, floats)))).result()
        for primes, floats in ((FIRST, FIRST_NUMBERS), (SECOND, SECOND_NUMBERS))
    )
    for step, other in zip(first.recipe["steps"], second.recipe["steps"]):
        other["nanoseconds"] = step["nanoseconds"]  # these depend on the sizes a little, and need not be right
    same_texts = [kernel.structure for kernel in first.kernels] == [kernel.structure for kernel in second.kernels]
    if not same_texts or first.recipe != second.recipe:
        raise NotOpenError(f"{name}: a number in its kernels depends on a size in an unknown way")
    return first


def written(source: ProgramSource, markers: Markers) -> WrapperWriter:
    """What the generator makes of the program for these sizes. NotOpenError if not all of it are loops."""
    known = {**markers.sizes, **KNOWN}
    inputs = [empty_fake(tuple(known[name] for name in shape), None, float32) for shape in source.inputs.values()]

    def run(*tensors: Any) -> tuple[Any, ...]:
        result = source.function(*tensors, *markers.numbers.values())
        return result if isinstance(result, tuple) else (result,)

    with no_grad():
        module = decompose(trace(run, inputs))
    schedule = cpu_schedule(lower(module))
    if not all(isinstance(step, Group) for step in schedule.steps) or schedule.graph.constants:
        raise NotOpenError("it isn't loops alone")
    return WrapperWriter(schedule)


@dataclass
class ProgramOpener:
    """Opens the kernels of a program that was written for some sizes. `places`: where each buffer stands among the
    tensors of a call, and behind them the temporaries."""

    source: ProgramSource
    markers: Markers
    places: dict[Buffer, int] = field(default_factory=dict)
    temporaries: list[tuple[SizeNumber, int]] = field(default_factory=list)

    def result(self) -> OpenProgram:
        writer = written(self.source, self.markers)
        inputs, results = writer.graph.inputs, [view.buffer for view in writer.graph.outputs]
        if len({*inputs, *results}) < len(inputs) + len(results):
            raise NotOpenError("a result is an input, or two results are one")
        floats = self.markers.numbers
        self.numbers = [Buffer.contiguous("numbers", (len(floats),), float64)] if floats else []
        self.places = {buffer: place for place, buffer in enumerate([*inputs, *results, *self.numbers])}
        self.tensors = len(self.places)
        kernels, steps = [], []
        for step, kernel in zip(writer.schedule.steps, writer.kernels):
            assert isinstance(step, Group) and kernel is not None
            opened, recipe = self.opened(kernel, count(step.axes), writer.plan.same)
            kernels.append(opened)
            steps.append(recipe)
        recipe = {"steps": steps, "tensors": self.tensors, "temporaries": self.temporaries}
        return OpenProgram(kernels, {**recipe, "outputs": [buffer.dtype.name for buffer in results]})

    def opened(self, kernel: KernelSource, points: int, same: Any) -> tuple[KernelSource, dict[str, Any]]:
        """A kernel for all sizes, and what it is passed."""
        if kernel.uses_status:
            raise NotOpenError("its kernels doubt their numbers")
        text = self.markers.opened(kernel.body)
        numbers = self.numbers if "numbers[" in text.text else []
        taken = dict(zip(kernel.names, kernel.buffers))  # two that share memory are one parameter
        made = replace(
            kernel,
            body=text.text,
            sizes=dict.fromkeys(text.sizes, 0),
            buffers=[*kernel.buffers, *numbers],
            names=[*kernel.names, *(buffer.name for buffer in numbers)],
        )
        return made, {
            "function": made.digest,
            "extent": self.markers.extent(kernel.extent),
            "points": self.length(points),
            "nanoseconds": kernel.nanoseconds / points,
            "sizes": list(text.sizes.values()),
            "buffers": [self.place(same.get(buffer, buffer)) for buffer in (*taken.values(), *numbers)],
            "scratch": [(self.length(array.length), array.dtype.itemsize) for array in kernel.scratch],
        }

    def place(self, buffer: Buffer) -> int:
        if buffer not in self.places:
            self.places[buffer] = self.tensors + len(self.temporaries)
            self.temporaries.append((self.length(buffer.length), buffer.dtype.itemsize))
        return self.places[buffer]

    def length(self, length: int) -> SizeNumber:
        """What a length comes from; one that comes from no size is the same for all."""
        return self.markers.number(length) or SizeNumber(length, ())


def kernels_of(programs: Sequence[OpenProgram]) -> list[KernelSource]:
    """All kernels, each once."""
    return list({kernel.digest: kernel for program in programs for kernel in program.kernels}.values())
