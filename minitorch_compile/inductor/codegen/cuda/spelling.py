"""How the CUDA target writes operations: Python that numba.cuda compiles. Results of functions are cast to their dtype.

>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> gpu = CudaSpelling()
>>> gpu.apply("mul", float32, ["t0", "t1"]), gpu.apply("exp", float32, ["t0"])
('t0 * t1', 'float32(device_functions.exp(t0))')
"""

from __future__ import annotations

from minitorch_compile.inductor.codegen.cpu.spelling import HALF, INFIX, CpuSpelling, typed
from minitorch_compile.inductor.ir.handler import Number
from minitorch_compile.inductor.kernels.portable_functions import FOR_FLOATS, FOR_INTEGERS
from minitorch_compile.tensor.numerics.dtype import bool_, dtype, float32

FUNCTIONS = FOR_FLOATS | {
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "square_root", "sin": "sin", "cos": "cos",
    "tanh": "tanh", "erf": "erf", "pow": "power", "atan2": "atan2", "floor": "floor",
    "ceil": "ceil", "trunc": "trunc", "round": "round_half_even", "maximum": "maximum", "minimum": "minimum",
    "remainder": "float_remainder", "fmod": "truncated_float_remainder", "where": "select",
}  # fmt: skip

# Those of `special_functions.py`.
SPECIAL_FUNCTIONS = frozenset({"erfc", "erfcx", "erf_inv", "ndtri", "lgamma", "digamma"}) | {
    f"bessel_{kind}" for kind in ("j0", "j1", "y0", "y1")
}

INTEGER_FUNCTIONS = {prim: f"device_functions.{name}" for prim, name in FOR_INTEGERS.items()} | {
    "maximum": "max", "minimum": "min", "where": "device_functions.select", "abs": "abs",
}  # fmt: skip


# Those of `series.py`.
SERIES_FUNCTIONS = frozenset({"airy_ai", "igamma", "igammac", "zeta"}) | {
    f"bessel_{kind}" for kind in ("i0e", "i1e", "k0e", "k1e")
}

# Those of `complex_functions.py`.
COMPLEX_FUNCTIONS = {
    "abs": "absolute", "div": "quotient", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sqrt": "square_root", "rsqrt": "reciprocal_root", "reciprocal": "reciprocal", "sin": "sin", "cos": "cos",
    "tanh": "tanh", "pow": "power",
}  # fmt: skip


class CudaSpelling(CpuSpelling):
    """Operations as CUDA device functions and operators; constants and conversions are written as on the CPU."""

    def constant(self, value: Number, dtype: dtype) -> str:
        if not dtype.is_complex:
            return super().constant(value, dtype)
        number, real = complex(value), dtype.to_real()
        return f"complex({self.constant(number.real, real)}, {self.constant(number.imag, real)})"

    def apply(self, prim: str, dtype: dtype, operands: list[str]) -> str:
        if prim == "complex":
            return f"complex({', '.join(operands)})"
        return self._complex(prim, dtype, operands) if dtype.is_complex else super().apply(prim, dtype, operands)

    def _complex(self, prim: str, dtype: dtype, operands: list[str]) -> str:
        if prim in ("real", "imag"):
            return f"{operands[0]}.{prim}"
        if prim in INFIX:
            return f" {INFIX[prim]} ".join(operands)
        if prim == "neg":
            return f"-{operands[0]}"
        if prim == "where":
            return f"device_functions.select({', '.join(operands)})"
        result = dtype.to_real() if prim == "abs" else dtype
        return f"{result.name}(complex_functions.{COMPLEX_FUNCTIONS[prim]}({', '.join(operands)}))"

    def _float(self, prim: str, dtype: dtype, operands: list[str]) -> str:
        if prim in INFIX or prim in ("div", "reciprocal"):
            return super()._float(prim, dtype, operands)
        if prim == "neg":
            return f"-{operands[0]}"
        if prim == "abs":
            return f"abs({operands[0]})"
        if prim == "signbit":
            return f"device_functions.sign_bit({operands[0]})"
        if prim == "rsqrt":
            return f"{self.constant(1, dtype)} / {self._float('sqrt', dtype, operands)}"
        if prim in SPECIAL_FUNCTIONS:
            return f"{dtype.name}(special_functions.{prim}({operands[0]}))"
        if prim in SERIES_FUNCTIONS:
            return f"{dtype.name}(series.{prim}({', '.join(operands)}))"
        if prim == "nextafter":
            return f"special_functions.next_{dtype.name}({', '.join(operands)})"
        return f"{dtype.name}(device_functions.{FUNCTIONS[prim]}({', '.join(operands)}))"

    def _integer(self, prim: str, operands: list[str]) -> str:
        if prim in INTEGER_FUNCTIONS:
            return f"{INTEGER_FUNCTIONS[prim]}({', '.join(map(typed, operands))})"
        return super()._integer(prim, operands)

    def _bool(self, prim: str, operands: list[str]) -> str:
        text = super()._bool(prim, operands)
        return f"device_functions.{text}" if text.startswith("select(") else text

    def convert(self, operand: str, source: dtype, target: dtype) -> str:
        if source is target:
            return operand
        if source.is_complex and not target.is_complex and target is not bool_:
            return self.convert(f"{operand}.real", source.to_real(), target)
        if target.is_complex and source not in HALF:
            return f"{target.name}({operand})"
        if source in HALF:
            return self.convert(f"half_floats.float32_of_{source.name}({operand})", float32, target)
        if target in HALF:
            return f"half_floats.{target.name}_of_float32({self.convert(operand, source, float32)})"
        if target is bool_ or (source.is_floating_point and not target.is_floating_point):
            return super().convert(operand, source, target)
        return f"{target.name}({operand})"

    def random(self, seed: str, counter: str, dtype: dtype) -> str:
        return f"philox.philox_{dtype.name}({seed}, {counter})"

    def checked(self, function: str) -> str:
        return f"device_functions.{function}"

    def load(self, pointer: str, address: str, dtype: dtype) -> str:
        return f"{pointer}[{address}]"

    def store(self, pointer: str, address: str, value: str, dtype: dtype) -> str:
        return f"{pointer}[{address}] = {value}"

    def digit(self, base: str, divisor: int, modulus: int, may_be_negative: bool) -> str:
        return super().digit(base, divisor, modulus, may_be_negative=True)
