"""What newer GPUs do by one instruction, where Numba's own code takes several.

    maximum(x, y), minimum(x, y)   NaN if either is NaN       max.NaN.f32
    bfloat16_of_float32(x)         the bits of the nearest    cvt.rn.bf16x2.f32
    float32_by_bfloat16(x)         the nearest, as a float32  the same
    floor(x), ceil(x), trunc(x), round_half_even(x)           cvt.rmi.f32.f32 and its like
    near_exp(x)        within 2**-22 + |x| * 2**-24 of it     ex2.approx.ftz.f32
    near_reciprocal(x) within 2**-23 of it                    rcp.approx.ftz.f32
    near_root(x)       within 2**-23 of it                    sqrt.approx.f32
    near_quotient(x, y)    within 2**-22 of it                div.full.f32
    wide_product(x, y) of two uint32, as a uint64             mul.wide.u32

The `near` ones are for what is rounded to a float of two bytes: their errors, as shares of the result, are those of
NVIDIA's manual of PTX, a thousandth of what the rounding does. What is below 2**-126 is 0.

All GPUs have those of the last six lines, the others those of compute capability 8.0 and more; LLVM asks which one it
compiles for (`__nvvm_reflect`), and drops the other way. The simulator has twins of all (`cuda_simulator/vectors.py`).

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> import numpy as np
>>> @simulated.jit
... def larger(x, y):
...     x[simulated.threadIdx.x] = maximum(x[simulated.threadIdx.x], y[simulated.threadIdx.x])
>>> x, y = np.array([1, np.nan, 3, -0.0], np.float32), np.array([2, 0, np.nan, -1], np.float32)
>>> run = simulate(larger)[1, 4](x, y)
>>> x.tolist()
[2.0, nan, nan, -0.0]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

WORD, HALF_WORD, FLOAT = ir.IntType(32), ir.IntType(16), ir.FloatType()
FIRST_CAPABILITY = 800  # as LLVM counts them
QUIET_NAN, BEFORE_HALF = 0x7FC0, 0x7FFF  # of bfloat16; and of what is lost by rounding: with one more, it carries


def has_them(builder: Any) -> Any:
    """Whether the GPU that is compiled for has these instructions: a constant, once LLVM knows it."""
    module, text = builder.module, bytearray(b"__CUDA_ARCH\0")
    if "cuda_arch_name" not in module.globals:
        name = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), len(text)), "cuda_arch_name", addrspace=4)
        name.initializer, name.global_constant, name.linkage = ir.Constant(name.type.pointee, text), True, "internal"
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(WORD, [byte])
    reflect = module.globals.get("__nvvm_reflect") or ir.Function(module, kind, "__nvvm_reflect")
    asked = builder.addrspacecast(module.globals["cuda_arch_name"], ir.ArrayType(ir.IntType(8), len(text)).as_pointer())
    arch = builder.call(reflect, [builder.bitcast(asked, byte)])
    return builder.icmp_signed(">=", arch, ir.Constant(WORD, FIRST_CAPABILITY))


def by_either(builder: Any, result: Any, instruction: Any, otherwise: Any) -> Any:
    """What the one or the other gives, by the GPU that is compiled for."""
    with builder.if_else(has_them(builder)) as (newer, older):
        with newer:
            one, from_newer = instruction(), builder.block
        with older:
            other, from_older = otherwise(), builder.block
    found = builder.phi(result)
    found.add_incoming(one, from_newer)
    found.add_incoming(other, from_older)
    return found


def extreme(name: str, sign: str) -> Any:
    """The larger or the smaller of two; NaN if either is NaN."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def choose(typing: Any, x: Any, y: Any) -> Any:
        element = x if x == y else None
        if element is None:
            raise TypeError(f"expected two numbers of one type, got {x} and {y}")

        def compared(context: Any, builder: Any, first: Any, second: Any) -> Any:
            if isinstance(element, types.Float):
                is_first = builder.fcmp_ordered(sign, first, second)
                is_first = builder.or_(is_first, builder.fcmp_unordered("uno", first, first))
            elif getattr(element, "signed", False):
                is_first = builder.icmp_signed(sign, first, second)
            else:
                is_first = builder.icmp_unsigned(sign, first, second)
            return builder.select(is_first, first, second)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            otherwise = lambda: compared(context, builder, *arguments)
            if element != types.float32:
                return otherwise()
            text = ir.InlineAsm(ir.FunctionType(FLOAT, [FLOAT] * 2), f"{name[:3]}.NaN.f32 $0, $1, $2;", "=f,f,f")
            return by_either(builder, FLOAT, lambda: builder.call(text, arguments), otherwise)

        return element(element, element), generate

    choose.simulated_as = f"single_instructions.{name}"
    return choose


maximum, minimum = extreme("maximum", ">"), extreme("minimum", "<")


def rounding(name: str, of_libdevice: str) -> Any:
    """A whole number near x, of its own type, which keeps the sign of what becomes 0. NVIDIA's library has it under
    this name, and with an f behind it for float32."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def rounded(typing: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = ir.FunctionType(arguments[0].type, [arguments[0].type])
            called = f"__nv_{of_libdevice}{'f' if x == types.float32 else ''}"
            function = builder.module.globals.get(called) or ir.Function(builder.module, kind, called)
            return builder.call(function, arguments)

        return x(x), generate

    rounded.simulated_as = f"single_instructions.{name}"
    return rounded


floor, ceil, trunc = (rounding(name, name) for name in ("floor", "ceil", "trunc"))
round_half_even = rounding("round_half_even", "rint")


def near(name: str, instruction: str, factor: float = 1.0) -> Any:
    """A function of a float32 by an instruction, of so many times the number."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def call(typing: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (value,) = arguments
            scaled = value if factor == 1.0 else builder.fmul(value, ir.Constant(FLOAT, factor))
            text = ir.InlineAsm(ir.FunctionType(FLOAT, [FLOAT]), f"{instruction} $0, $1;", "=f,f")
            return builder.call(text, [scaled])

        return types.float32(types.float32), generate

    call.simulated_as = f"single_instructions.{name}"
    return call


near_exp = near("near_exp", "ex2.approx.ftz.f32", float(np.float32(1 / math.log(2))))
near_reciprocal = near("near_reciprocal", "rcp.approx.ftz.f32")
near_root = near("near_root", "sqrt.approx.f32")


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def near_quotient(typing: Any, x: Any, y: Any) -> Any:
    """x / y, without the branches that an exact one has, in which a thread's elements wait for each other."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        text = ir.InlineAsm(ir.FunctionType(FLOAT, [FLOAT] * 2), "div.full.f32 $0, $1, $2;", "=f,f,f")
        return builder.call(text, arguments)

    return types.float32(types.float32, types.float32), generate


near_quotient.simulated_as = "single_instructions.near_quotient"


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def wide_product(typing: Any, x: Any, y: Any) -> Any:
    """All 64 bits. Of a product of numbers that were made longer before, NVIDIA's assembler makes two instructions."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        text = ir.InlineAsm(ir.FunctionType(ir.IntType(64), [WORD] * 2), "mul.wide.u32 $0, $1, $2;", "=l,r,r")
        return builder.call(text, arguments)

    return types.uint64(types.uint32, types.uint32), generate


wide_product.simulated_as = "single_instructions.wide_product"


def by_adding(builder: Any, value: Any) -> Any:
    """The word whose upper half is the nearest bfloat16, the even one of two: rounding adds what carries into that
    half; a tie goes to the even one because its last bit is added, too."""
    constant = lambda number: ir.Constant(WORD, number)
    bits = builder.bitcast(value, WORD)
    last = builder.and_(builder.lshr(bits, constant(16)), constant(1))
    rounded = builder.add(builder.add(bits, last), constant(BEFORE_HALF))
    quiet = builder.or_(bits, constant(QUIET_NAN << 16))
    is_nan = builder.fcmp_unordered("uno", value, value)
    return builder.and_(builder.select(is_nan, quiet, rounded), constant(0xFFFF0000))


def upper_half(builder: Any, value: Any) -> Any:
    """The same by one instruction, where there is one."""
    # Of two at a time, since the instruction for one takes four times as long; the lower one is 0.
    text = ir.InlineAsm(ir.FunctionType(WORD, [FLOAT] * 2), "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f")
    instruction = lambda: builder.call(text, [value, ir.Constant(FLOAT, 0.0)])
    return by_either(builder, WORD, instruction, lambda: by_adding(builder, value))


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def bfloat16_of_float32(typing: Any, x: Any) -> Any:
    """The bits of the nearest bfloat16."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = upper_half(builder, arguments[0])
        return builder.trunc(builder.lshr(word, ir.Constant(WORD, 16)), HALF_WORD)

    return types.uint16(types.float32), generate


bfloat16_of_float32.simulated_as = "single_instructions.bfloat16_of_float32"


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def float32_by_bfloat16(typing: Any, x: Any) -> Any:
    """The nearest bfloat16, as the float32 whose upper half it is: its bits needn't be shifted down and up again."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(upper_half(builder, arguments[0]), FLOAT)

    return types.float32(types.float32), generate


float32_by_bfloat16.simulated_as = "single_instructions.float32_by_bfloat16"
