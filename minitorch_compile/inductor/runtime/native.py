"""LLVM instructions by name: the few things that generated code needs below Numba's Python.

Each function here is declared by what it means in plain Python; Numba compiles a call of it to the one LLVM
instruction (or intrinsic) named in the decorator. With `NUMBA_DISABLE_JIT=1` the Python meanings are what runs, so a
generated file can be stepped through in a debugger.

>>> from math import nan
>>> from numba import njit
>>> @njit
... def distance(x, y):
...     return maximum(x - y, y - x)
>>> distance(2.0, 5.0), distance(2.0, nan)
(3.0, nan)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

JIT_IS_OFF = bool(config.DISABLE_JIT)

Emit = Callable[..., ir.Value]

# ------------------------------------------------------------------------------------------------ instructions


def instruction(typing: Callable[..., Any], emit: Emit) -> Callable[[Callable[..., Any]], Any]:
    """Lets Numba compile calls of a function with `emit(builder, *llvm values)`; `typing` gives the result type."""

    def decorate(meaning: Callable[..., Any]) -> Any:
        if JIT_IS_OFF:
            return meaning
        parameters = ", ".join(meaning.__code__.co_varnames[: meaning.__code__.co_argcount])
        scope: dict[str, Any] = {"build": build, "__name__": meaning.__module__}
        exec(f"def {meaning.__name__}(typing_context, {parameters}):\n    return build(({parameters},))", scope)
        result = intrinsic(scope[meaning.__name__])
        result.__doc__, result.__module__ = meaning.__doc__, meaning.__module__
        return result

    def build(arguments: tuple[Any, ...]) -> tuple[Any, Any]:
        result = typing(*arguments)
        code = lambda context, builder, signature, values: emit(builder, *values)
        return result(*arguments), code

    return decorate


def same_type(*arguments: Any) -> Any:
    return arguments[0]


def last_type(*arguments: Any) -> Any:
    return arguments[-1]


def llvm_intrinsic(name: str) -> Emit:
    """Calls `llvm.<name>`, overloaded on the type of its first argument."""

    def emit(builder: ir.IRBuilder, *values: ir.Value) -> ir.Value:
        suffix = {"float": "f32", "double": "f64"}[str(values[0].type)]
        signature = ir.FunctionType(values[0].type, [value.type for value in values])
        function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{suffix}")
        return builder.call(function, values)

    return emit


@instruction(same_type, llvm_intrinsic("floor"))
def floor(x):
    """The largest whole number not above x, as a float."""
    return np.floor(x)


@instruction(same_type, llvm_intrinsic("ceil"))
def ceil(x):
    return np.ceil(x)


@instruction(same_type, llvm_intrinsic("trunc"))
def trunc(x):
    return np.trunc(x)


@instruction(same_type, llvm_intrinsic("rint"))
def round_half_even(x):
    return np.rint(x)


@instruction(same_type, llvm_intrinsic("fabs"))
def absolute(x):
    return np.abs(x)


@instruction(same_type, llvm_intrinsic("sqrt"))
def square_root(x):
    return np.sqrt(x)


@instruction(same_type, llvm_intrinsic("copysign"))
def copy_sign(magnitude, sign):
    return np.copysign(magnitude, sign)


def _emit_sign_bit(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    bits = ir.IntType(64 if isinstance(x.type, ir.DoubleType) else 32)
    return builder.icmp_signed("<", builder.bitcast(x, bits), ir.Constant(bits, 0))


@instruction(lambda x: types.boolean, _emit_sign_bit)
def sign_bit(x):
    """Whether x is negative, -0.0 or a NaN whose sign is set."""
    return np.signbit(x)


@instruction(same_type, llvm_intrinsic("fma"))
def fused_multiply_add(x, y, z):
    """x * y + z, rounded once."""
    return type(x)(np.longdouble(x) * np.longdouble(y) + np.longdouble(z))


@instruction(same_type, llvm_intrinsic("maximum"))
def maximum(x, y):
    """The larger one; NaN if either is NaN."""
    return np.maximum(x, y)


@instruction(same_type, llvm_intrinsic("minimum"))
def minimum(x, y):
    return np.minimum(x, y)


@instruction(last_type, lambda builder, condition, x, y: builder.select(condition, x, y))
def select(condition, x, y):
    """x where the condition holds, else y: a choice without a branch. x and y have the same type."""
    return x if condition else y


def _add_any_order(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return builder.fadd(x, y, flags=("reassoc", "nsz"))


def _multiply_any_order(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return builder.fmul(x, y, flags=("reassoc", "nsz"))


@instruction(same_type, _add_any_order)
def accumulate_sum(total, x):
    """total + x, where the compiler may choose the order of a long sum: that is what lets it use vector registers."""
    return total + x


@instruction(same_type, _multiply_any_order)
def accumulate_product(total, x):
    return total * x


def _choose_without_nan(comparison: str) -> Emit:
    def emit(builder: ir.IRBuilder, best: ir.Value, x: ir.Value) -> ir.Value:
        promises = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered(comparison, x, best, flags=promises), x, best, flags=promises)

    return emit


@instruction(same_type, _choose_without_nan(">"))
def accumulate_maximum(best, x):
    """The larger one of two that are not NaN. One instruction, where `maximum` takes five; NaNs are noted elsewhere."""
    return max(best, x)


@instruction(same_type, _choose_without_nan("<"))
def accumulate_minimum(best, x):
    return min(best, x)


def _emit_unfolded(builder: ir.IRBuilder, value: ir.Value, lo: ir.Value) -> ir.Value:
    integer = _format_of(value).integer
    sign = builder.ashr(lo, ir.Constant(lo.type, 63))
    mask = builder.trunc(sign, integer) if integer.width < 64 else sign
    return builder.bitcast(builder.or_(builder.bitcast(value, integer), mask), value.type)


@instruction(same_type, _emit_unfolded)
def unfolded(value, lo):
    """`value`, computed from lo >= 0 so that LLVM doesn't know it.

    LLVM computes inf - inf as a NaN of another sign than the processor, and x * -1 as -x, which turns a NaN's sign. It
    knows that max(best, -inf) is best, and turns max(best, c ? -inf : x) into c ? best : max(best, x), which its
    vectoriser then fails to see as a maximum: 5 ns an element instead of 0.2.
    """
    return value


def _emit_negative(builder: ir.IRBuilder, x: ir.Value, lo: ir.Value) -> ir.Value:
    integer = _format_of(x).integer
    sign = _emit_unfolded(builder, ir.Constant(x.type, -0.0), lo)
    return builder.bitcast(builder.xor(builder.bitcast(x, integer), builder.bitcast(sign, integer)), x.type)


@instruction(lambda x, lo: x, _emit_negative)
def negative(x, lo):
    """-x, the sign of a NaN turned, too. LLVM doesn't see a negation here, and so it doesn't make (-x) * y of -(x * y)
    or y - x of -x + y, whose NaNs have other signs."""
    return np.negative(x)


# ------------------------------------------------------------------------------------------------ inside a float


class _Format(NamedTuple):
    """How a float type is laid out: the integer of its size, the bits of its fraction, the bias of its exponent."""

    integer: ir.Type
    fraction: int
    bias: int

    def constant(self, value: int) -> ir.Constant:
        return ir.Constant(self.integer, value)


_FORMATS = {"float": _Format(ir.IntType(32), 23, 127), "double": _Format(ir.IntType(64), 52, 1023)}
_ROOT_HALF = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}  # the bits of sqrt(1/2)


def _format_of(value: ir.Value) -> _Format:
    return _FORMATS[str(value.type)]


def _two_to_the(builder: ir.IRBuilder, n: ir.Value) -> ir.Value:
    # Adding 1.5 * 2**fraction puts a whole number into the low bits of the fraction; shifted up, it is the exponent.
    form = _format_of(n)
    shifted = builder.fadd(n, ir.Constant(n.type, 1.5 * 2.0**form.fraction + form.bias))
    bits = builder.shl(builder.bitcast(shifted, form.integer), form.constant(form.fraction))
    return builder.bitcast(bits, n.type)


@instruction(same_type, _two_to_the)
def two_to_the(n):
    """2**n for a whole number n in the range of normal exponents: no conversion to int, no table."""
    return n if np.isnan(n) else np.ldexp(type(n)(1), int(n))


def _biased_bits(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """The bits of x, shifted so that the exponent field counts from sqrt(1/2) upwards."""
    form = _format_of(x)
    one = form.bias << form.fraction
    return builder.add(builder.bitcast(x, form.integer), form.constant(one - _ROOT_HALF[str(x.type)]))


def _exponent_of(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    form = _format_of(x)
    exponent = builder.lshr(_biased_bits(builder, x), form.constant(form.fraction))
    # Or-ing a small integer into the bits of 2**fraction gives the float 2**fraction + integer.
    carrier = form.constant((form.bias + form.fraction) << form.fraction)
    number = builder.bitcast(builder.or_(exponent, carrier), x.type)
    return builder.fsub(number, ir.Constant(x.type, 2.0**form.fraction + form.bias))


@instruction(same_type, _exponent_of)
def exponent_of(x):
    """The e, as a float, for which x = m * 2**e with m between sqrt(1/2) and sqrt(2). x is positive and normal."""
    mantissa, exponent = np.frexp(x)
    return type(x)(exponent - (mantissa < np.sqrt(0.5)))


def _mantissa_of(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    form = _format_of(x)
    fraction = builder.and_(_biased_bits(builder, x), form.constant((1 << form.fraction) - 1))
    return builder.bitcast(builder.add(fraction, form.constant(_ROOT_HALF[str(x.type)])), x.type)


@instruction(same_type, _mantissa_of)
def mantissa_of(x):
    """The m for which x = m * 2**exponent_of(x)."""
    mantissa, _ = np.frexp(x)
    return mantissa * type(x)(2) if mantissa < np.sqrt(0.5) else mantissa


def _quarter_turns(builder: ir.IRBuilder, n: ir.Value) -> ir.Value:
    # As in two_to_the: adding 1.5 * 2**52 puts a whole number into the low bits of the fraction.
    shifted = builder.fadd(n, ir.Constant(n.type, 1.5 * 2.0**52))
    return builder.trunc(builder.bitcast(shifted, ir.IntType(64)), ir.IntType(32))


@instruction(lambda n: types.int32, _quarter_turns)
def quarter_turns(n):
    """The low 32 bits of a whole float64 below 2**51."""
    return np.int64(n).astype(np.int32)


def _turned(builder: ir.IRBuilder, turns: ir.Value, sine: ir.Value, cosine: ir.Value) -> ir.Value:
    word, form = turns.type, _format_of(sine)
    odd = builder.icmp_signed("!=", builder.and_(turns, ir.Constant(word, 1)), ir.Constant(word, 0))
    value = builder.bitcast(builder.select(odd, cosine, sine), form.integer)
    sign = builder.shl(builder.and_(turns, ir.Constant(word, 2)), ir.Constant(word, 30))
    return builder.bitcast(builder.xor(value, sign), sine.type)


@instruction(last_type, _turned)
def turned(turns, sine, cosine):
    """sin(angle + turns pi/2) from a float32 angle's sine and cosine: two bits choose one of them and its sign."""
    value = cosine if turns & 1 else sine
    return -value if turns & 2 else value


def _polynomial(builder: ir.IRBuilder, x: ir.Value, coefficients: ir.Value) -> ir.Value:
    *lower, total = [builder.extract_value(coefficients, k) for k in range(coefficients.type.count)]
    for coefficient in reversed(lower):  # "contract" lets a multiplication and an addition become one instruction
        product = builder.fmul(total, x, flags=("contract",))
        total = builder.fadd(product, coefficient, flags=("contract",))
    return total


@instruction(same_type, _polynomial)
def polynomial(x, coefficients):
    """c[0] + c[1] x + c[2] x**2 + ..., by Horner's rule; `coefficients` is a tuple of the type of x."""
    return type(x)(np.polyval(coefficients[::-1], x))
