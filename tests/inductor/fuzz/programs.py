"""What a random program is: inputs, lines of Python, and which of its values it returns.

>>> program = Program({"x0": Input(np.float32([[1, 2], [3, 4]]), "transposed")}, ["v1 = torch.exp(x0)"], ["v1"])
>>> print(program.source)
def program(x0):
    v1 = torch.exp(x0)
    return (v1,)
>>> program.without_unused() == program
True
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np

import minitorch_compile as torch
from tests.battery.arguments import Arguments

SCOPE = {"torch": torch, "F": torch.nn.functional, "inf": float("inf"), "nan": float("nan")}


@dataclass
class _Arguments(Arguments):
    """Makes tensors on a device, where they lie as the layout says."""

    device: str = "cpu"

    def _of(self, values: np.ndarray) -> Any:
        return super()._of(values).to(self.device)


@dataclass
class Input:
    """The values of an argument, how they lie in memory (a layout of the call sheets), and the dtype of real ones."""

    values: np.ndarray
    layout: str = "contiguous"
    element: str = "float32"

    def tensor(self, real: str = "float32", device: str = "cpu") -> Any:
        """The tensor; all real numbers in double precision, if `real` is "float64"."""
        values, wide = self.values.copy(), real == "float64"  # a copy, for the program may write to it
        if values.dtype.kind == "f":
            element = real if wide else self.element
            values = values.astype(ml_dtypes.bfloat16 if element == "bfloat16" else element)
        elif values.dtype.kind == "c" and wide:
            values = values.astype("complex128")
        return _Arguments(torch, self.layout, device=device)._laid_out(values)

    def with_size(self, old: int, new: int) -> Input:
        """Another input, with size `new` where this one has `old`; its values are repeated."""
        sizes = tuple(new if size == old else size for size in self.values.shape)
        return replace(self, values=np.resize(self.values, sizes)) if sizes != self.values.shape else self


@dataclass
class Program:
    """A straight-line function of tensors. `gradients`: whether its real inputs require grad; the others: options.

    `device`: where it is compiled for; what the plain program gives is always computed on the CPU. `sizes_are`: how
    large its tensors pretend to be to who chooses kernels by that (`thresholds.py`). `mode`: of `torch.compile`.
    """

    inputs: dict[str, Input] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    gradients: bool = False
    dynamic: bool = False
    emulate_precision_casts: bool = False
    seed: int = 0
    device: str = "cpu"
    sizes_are: str = "as they are"
    mode: str = "default"

    @property
    def source(self) -> str:
        body = "".join(f"    {line}\n" for line in [*self.lines, f"return ({''.join(f'{o}, ' for o in self.outputs)})"])
        return f"def program({', '.join(self.inputs)}):\n{body}".replace(", )", ",)").rstrip()

    def function(self) -> Any:
        scope = dict(SCOPE)
        exec(compile(self.source, f"<random program {self.seed}>", "exec"), scope)
        return scope["program"]

    def tensors(self, real: str = "float32", device: str = "cpu") -> list[Any]:
        """Its arguments."""
        made = [spec.tensor(real, device) for spec in self.inputs.values()]
        return [x.requires_grad_(self.gradients and x.is_floating_point()) for x in made]

    def resized(self) -> Program:
        """The same program of inputs in which one of their sizes is larger by two, wherever it occurs."""
        sizes = sorted({size for spec in self.inputs.values() for size in spec.values.shape if size > 1})
        if not sizes:
            return self
        chosen = sizes[self.seed % len(sizes)]
        return replace(self, inputs={name: spec.with_size(chosen, chosen + 2) for name, spec in self.inputs.items()})

    def without_unused(self) -> Program:
        """Without the inputs that no line reads."""
        read = set(self.outputs).union(*map(names_read, self.lines))
        return replace(self, inputs={name: spec for name, spec in self.inputs.items() if name in read})

    def script(self, backend: str) -> str:
        """The program as a file of its own."""
        arrays = "".join(
            f"    {name}=({_literal(spec.values)}, {spec.layout!r}, {spec.element!r}),\n"
            for name, spec in self.inputs.items()
        )
        return SCRIPT.format(
            arrays=arrays,
            source=self.source,
            options=f"gradients={self.gradients}, dynamic={self.dynamic}, seed={self.seed},"
            f" emulate_precision_casts={self.emulate_precision_casts}"
            + (f", device={self.device!r}, sizes_are={self.sizes_are!r}" if self.device != "cpu" else "")
            + (f", mode={self.mode!r}" if self.mode != "default" else ""),
            backend=backend,
        )


SCRIPT = """\
import numpy as np
from numpy import float32, float64, inf, int64, nan
import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from tests.inductor.fuzz.judging import difference
from tests.inductor.fuzz.programs import Input, Program

arrays = dict(
{arrays})

{source}

inputs = {{name: Input(*given) for name, given in arrays.items()}}
print(difference(Program(inputs, {options}), {backend!r}, program))
"""


def _literal(values: np.ndarray) -> str:
    return f"np.array({values.tolist()!r}, {values.dtype.name!r}).reshape({values.shape})"


def names_stored(line: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def names_read(line: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
