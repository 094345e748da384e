"""Arithmetic in CUDA kernels: what a GPU does faster another way, with the same results or, where these are rounded to
two bytes at once, with near ones (`single_instructions.py`).

A float32 that came from two bytes and is made narrow again is what it was; one that is rounded to bfloat16 and made
wide again needn't have its bits shifted down and up.

>>> from minitorch_compile.inductor.codegen.cuda.spelling import CudaSpelling
>>> from minitorch_compile.inductor.codegen.shared.block import Block
>>> kernel = CudaArithmetic(CudaSpelling(), Block(""), {}, has_reduction=False, is_rounded=True)
>>> root = kernel.apply("sqrt", Value("x", float32, kernel.block))
>>> _ = kernel.convert(kernel.convert(root, bfloat16), float32)
>>> print(kernel.root.text())
t0 = float32(device_functions.square_root(x))
t1 = device_functions.near_root(x)
t2 = half_floats.bfloat16_of_float32(t1)
t3 = half_floats.float32_by_bfloat16(t1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cpu.spelling import HALF
from minitorch_compile.inductor.codegen.shared.block import Block, Value
from minitorch_compile.inductor.codegen.shared.emit import EmitHandler
from minitorch_compile.tensor.numerics.dtype import bfloat16, bool_, dtype, float32

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.spelling import CudaSpelling
    from minitorch_compile.inductor.codegen.cuda.strategies.lanes import Lanes
    from minitorch_compile.inductor.ir.buffer import Buffer

# What is near enough where all results are rounded to two bytes.
NEAR = {name: f"device_functions.near_{name}" for name in ("exp", "tanh", "erf")}
NEAR_BEFORE_ROUNDING = {"sqrt": "near_root", "div": "near_quotient"}  # not where, say, the floor of it is taken


class CudaArithmetic(EmitHandler):
    """`is_rounded`: all results are. `lanes`: the loop over neighbouring elements that is being written."""

    def __init__(
        self, spelling: CudaSpelling, block: Block, pointers: dict[Buffer, str], has_reduction: bool, is_rounded: bool
    ) -> None:
        super().__init__(spelling, block, pointers)
        self.has_reduction, self.is_rounded = has_reduction, is_rounded
        self.lanes: Lanes | None = None
        self.exact: dict[str, dtype] = {}  # which float32 came from a truth value or a float of two bytes
        self.rounded: dict[str, Value] = {}  # what of these was made narrow again, and is as it was
        self.wide: dict[str, Value] = {}  # what was rounded to these bfloat16
        self.nearer: dict[str, str] = {}  # what is as good as these float32, where they are made narrow

    def convert(self, value: Value, dtype: dtype) -> Value:
        """As usual, but what a float of two bytes holds exactly isn't rounded to one and made wide again."""
        if value.name in self.rounded and dtype is float32:
            return self.rounded[value.name]
        if value.name in self.wide and dtype is float32:
            source = self.wide[value.name]
            result = self.line(f"half_floats.float32_by_bfloat16({source.name})", float32, [source])
            self.exact[result.name] = value.dtype
            return result
        if value.dtype is bool_ and dtype in HALF:
            return self.convert(self.convert(value, float32), dtype)
        if dtype in HALF and value.name in self.nearer:
            value = self.line(self.nearer[value.name], float32, [value])
        result = super().convert(value, dtype)
        if dtype is float32 and (value.dtype in HALF or value.dtype is bool_):
            self.exact[result.name] = value.dtype
        elif dtype in HALF and self.exact.get(value.name) in (dtype, bool_):
            self.rounded[result.name] = value
        elif dtype is bfloat16 and value.dtype is float32:
            self.wide[result.name] = value
        return result

    def apply(self, prim: str, *operands: Value) -> Value:
        """As usual, but what is faster on a GPU; and it is noted what is exact, or needn't be."""
        value = self.applied(prim, *operands)
        is_mended = prim == "div" and self.has_reduction and self.is_for_many(operands[1])
        if self.is_rounded and value.dtype is float32 and prim in NEAR_BEFORE_ROUNDING and not is_mended:
            self.nearer[value.name] = self.near_form(prim, *operands)
        kinds = [self.exact.get(operand.name) for operand in operands]
        if prim == "mul" and bool_ in kinds and None not in kinds:
            self.exact[value.name] = next((kind for kind in kinds if kind is not bool_), bool_)  # type: ignore[assignment]
        return value

    def near_form(self, prim: str, *operands: Value) -> str:
        """What does as well where the result is rounded at once; the same in all kernels of a group (`warm_up.py`)."""
        if prim == "div" and operands[1].block is self.root:
            # Mended: a sum of floats of two bytes, a seventh of it say, may lie half-way between two of them.
            return self.mended(operands[0], self.reciprocal_of(operands[1]))
        return f"device_functions.{NEAR_BEFORE_ROUNDING[prim]}({', '.join(operand.name for operand in operands)})"

    def applied(self, prim: str, *operands: Value) -> Value:
        """A float32 divided by what is the same for many elements is multiplied by its reciprocal, and mended; not that
        if all results are rounded to two bytes, nor are exp, tanh and erf exact then."""
        if self.is_rounded and prim in NEAR and operands[0].dtype is float32:
            return self.line(f"{NEAR[prim]}({operands[0].name})", float32, operands)
        if prim != "div" or operands[0].dtype is not float32 or not self.is_for_many(operands[1]):
            return super().apply(prim, *operands)
        value, (scale, scaled, reciprocal) = operands[0], self.reciprocal_of(operands[1])
        if self.is_rounded and self.has_reduction:  # others have two kernels, which have to agree (`warm_up.py`)
            text = f"{value.name} * {scale.name} * {reciprocal.name}"
            return self.line(text, float32, [value, scale, reciprocal])
        text = self.mended(value, (scale, scaled, reciprocal))
        return self.line(text, float32, [value, scale, scaled, reciprocal])

    def mended(self, value: Value, parts: tuple[Value, Value, Value]) -> str:
        """A quotient from the reciprocal of its divisor, and what that leaves over."""
        return f"float32(device_functions.mended_quotient({', '.join(part.name for part in (value, *parts))}))"

    def reciprocal_of(self, divisor: Value) -> tuple[Value, Value, Value]:
        """A scale that keeps the reciprocal a float32, the divisor times that, and the reciprocal of it."""
        scale = self.line(f"device_functions.scale_of({divisor.name})", float32, [divisor])
        scaled = self.line(f"{divisor.name} * {scale.name}", float32, [divisor, scale])
        return scale, scaled, self.line(f"float32(1.0) / {scaled.name}", float32, [scaled])

    def is_for_many(self, value: Value) -> bool:
        """Whether a value is computed outside the loop over a thread's elements."""
        if self.lanes is None:
            return False
        loops = [b for b in self.block.around() if not b.variables.isdisjoint(self.lanes.axis.variable.symbols)]
        return bool(loops) and value.block.depth < loops[0].depth
