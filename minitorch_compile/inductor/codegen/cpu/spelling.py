"""How the CPU target writes operations: Python that Numba compiles to vector instructions.

Numbers are typed (`float32(2.0)`): a bare 2.0 is a float64 and would draw a whole kernel into float64. Arithmetic on
integers narrower than 64 bits is converted back after each step, since Numba computes it in 64 bits.

>>> from minitorch_compile.tensor.numerics.dtype import float32, int32
>>> cpu = CpuSpelling()
>>> cpu.apply("add", float32, ["t0", "t1"]), cpu.apply("add", int32, ["t0", "t1"]), cpu.apply("exp", float32, ["t0"])
('t0 + t1', 'int32(t0 + t1)', 'exp_float32(t0)')
>>> cpu.constant(float("-inf"), float32)
'float32(-inf)'
"""

from __future__ import annotations

import math

from minitorch_compile.inductor.codegen.shared.spelling import Spelling
from minitorch_compile.inductor.ir.handler import COMPARISONS, Number
from minitorch_compile.inductor.kernels.portable_functions import FOR_FLOATS, FOR_INTEGERS
from minitorch_compile.inductor.kernels.scipy_functions import ROUTINES
from minitorch_compile.tensor.numerics.dtype import bfloat16, bool_, dtype, float16, float32, int64

HALF = (float16, bfloat16)  # whose bits kernels carry as integers

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip

# Functions with one name for all floating-point dtypes.
FLOAT_FUNCTIONS = FOR_FLOATS | {
    "abs": "absolute", "sqrt": "square_root", "floor": "floor", "ceil": "ceil", "round": "round_half_even",
    "trunc": "trunc", "maximum": "maximum", "minimum": "minimum", "where": "select",
    "signbit": "sign_bit", **{prim: prim for prim in ROUTINES},
}  # fmt: skip
# Slower functions that are right where the quick ones of `vecmath` may not be: see `fast_path`.
CAREFUL_FUNCTIONS = {"remainder": "float_remainder", "fmod": "truncated_float_remainder"}

INTEGER_FUNCTIONS = FOR_INTEGERS | {"abs": "abs", "maximum": "max", "minimum": "min", "where": "select"}
QUICK_INTEGER_FUNCTIONS = {
    "div": "quick_quotient", "remainder": "quick_remainder", "fmod": "quick_truncated_remainder",
}  # fmt: skip


def typed(operand: str) -> str:
    """An operand for a Numba function, which would be compiled anew for each number written as a bare literal."""
    return f"int64({operand})" if operand.lstrip("-").isdigit() else operand


# Functions of `vecmath`: one for each dtype.
VECMATH = frozenset(
    {"exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "pow", "rsqrt", "atan2", "remainder", "fmod"}
)


VECMATH_IN_FLOAT32 = frozenset({"erfc", "erf_inv"})  # in float64, SciPy computes them


class CpuSpelling(Spelling):
    """Operations as Numba functions and operators; if `careful`, as those that are right for every number."""

    def __init__(self, careful: bool = False) -> None:
        self.careful = careful

    def constant(self, value: Number, dtype: dtype) -> str:
        if dtype is bool_:
            return str(bool(value))
        if not dtype.is_floating_point:
            return str(int(value)) if dtype is int64 else f"{dtype.name}({int(value)})"
        number = float(value)
        nan = "nan" if math.copysign(1.0, number) > 0 else "minus_nan"
        text = repr(number) if math.isfinite(number) else {math.inf: "inf", -math.inf: "-inf"}.get(number, nan)
        return f"{dtype.name}({text})"

    def apply(self, prim: str, dtype: dtype, operands: list[str]) -> str:
        if dtype is bool_:
            return self._bool(prim, operands)
        if dtype.is_floating_point:
            return self._float(prim, dtype, operands)
        text = self._integer(prim, operands)
        return text if dtype is int64 or prim in COMPARISONS or prim == "where" else f"{dtype.name}({text})"

    def _float(self, prim: str, dtype: dtype, operands: list[str]) -> str:
        if prim in INFIX:
            return f" {INFIX[prim]} ".join(operands)
        if prim == "neg":
            return f"negative({operands[0]}, lo)"
        if prim == "div":
            return f"{operands[0]} / {operands[1]}"
        if prim == "reciprocal":
            return f"{self.constant(1, dtype)} / {operands[0]}"
        return f"{self._function(prim, dtype)}({', '.join(operands)})"

    def _function(self, prim: str, dtype: dtype) -> str:
        if self.careful and prim in CAREFUL_FUNCTIONS:
            return CAREFUL_FUNCTIONS[prim]
        if self.careful and prim in ("sin", "cos"):
            return f"exact_{prim}_{dtype.name}"
        of_one_dtype = prim in VECMATH or (prim in VECMATH_IN_FLOAT32 and dtype is float32)
        return f"{prim}_{dtype.name}" if of_one_dtype else FLOAT_FUNCTIONS[prim]

    def _integer(self, prim: str, operands: list[str]) -> str:
        if prim in INFIX:
            return f" {INFIX[prim]} ".join(operands)
        if prim in ("neg", "bitwise_not"):
            return f"{'-' if prim == 'neg' else '~'}{operands[0]}"
        quick = {} if self.careful else QUICK_INTEGER_FUNCTIONS
        return f"{quick.get(prim) or INTEGER_FUNCTIONS[prim]}({', '.join(map(typed, operands))})"

    def _bool(self, prim: str, operands: list[str]) -> str:
        if prim == "bitwise_not":
            return f"not {operands[0]}"
        logical = {"maximum": "|", "minimum": "&", **INFIX}
        return f" {logical[prim]} ".join(operands) if prim in logical else f"select({', '.join(operands)})"

    def convert(self, operand: str, source: dtype, target: dtype) -> str:
        if source is target:
            return operand
        if source in HALF:
            return self.convert(f"float32_of_{source.name}({operand})", float32, target)
        if target in HALF:
            return f"{target.name}_of_float32({self.convert(operand, source, float32)})"
        if target is bool_:
            return f"{operand} != 0"
        if source.is_floating_point and not target.is_floating_point and target is not int64:
            return f"{target.name}(int64({operand}))"  # out of range, C leaves the direct conversion undefined
        return f"{target.name}({operand})"

    def random(self, seed: str, counter: str, dtype: dtype) -> str:
        return f"philox_{dtype.name}({seed}, {counter})"

    def load(self, pointer: str, address: str, dtype: dtype) -> str:
        return f"{pointer}[{address}] != 0" if dtype is bool_ else f"{pointer}[{address}]"

    def store(self, pointer: str, address: str, value: str, dtype: dtype) -> str:
        return f"{pointer}[{address}] = uint8({value})" if dtype is bool_ else f"{pointer}[{address}] = {value}"

    def digit(self, base: str, divisor: int, modulus: int, may_be_negative: bool) -> str:
        if may_be_negative:
            return super().digit(base, divisor, modulus, may_be_negative)
        quotient = f"quotient({base}, {divisor})" if divisor != 1 else base
        if not modulus:
            return quotient
        return f"remainder({quotient}, {modulus})"
