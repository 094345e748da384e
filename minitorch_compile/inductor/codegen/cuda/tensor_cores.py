"""The tensor cores, and what feeds them, as functions for kernels: one instruction of PTX each.

Numba knows none of these instructions; each is written here as a line of inline PTX with typed operands. The simulator
runs the same calls by twins of its own (`cuda_simulator/tensor_cores.py`), which `simulated_as` names.

**mma** multiplies for a whole warp: D = A B + C, A of 16 rows. A matrix is spread over the lanes: each has a *fragment*
in registers of 32 bits, which hold 2 floats of two bytes, 1 of four, or 4 int8: the lower ones come from the left in A,
from above in B. In this drawing, of floats of two bytes, `5.1` is register 1 of lane 5:

                                               columns of B, D
                                              0    1    2  ..  7
                                       k 0 | 0.0  4.0  8.0 .. 28.0
                                         1 | 0.0  4.0  8.0 .. 28.0         B, registers b0 and b1:
                                         2 | 1.0  5.0  9.0 .. 29.0         lane = 4 * column + k % 8 // 2
                                        .. |                               register = k // 8
                                        15 | 3.1  7.1 11.1 .. 31.1
               k 0   1   2 ..   8   9 .. 15
        row 0 | 0.0 0.0 1.0 .. 0.2 0.2 ..  3.2 |  0.0  0.1  1.0 ..  3.1
            1 | 4.0 4.0 5.0 .. 4.2 4.2 ..  7.2 |  4.0  4.1  5.0 ..  7.1    A: lane = 4 * (row % 8) + k % 8 // 2
           .. |                                |                              register = row // 8 + 2 * (k // 8)
            8 | 0.1 0.1 1.1 .. 0.3 0.3 ..  3.3 |  0.2  0.3  1.2 ..  3.3    D, like C, in float32:
           .. |                                |                              lane = 4 * (row % 8) + column // 2
           15 |28.1                    .. 31.3 | 28.2 28.3 29.2 .. 31.3       number = column % 2 + 2 * (row // 8)

**ldmatrix** brings four matrices of 8 rows of 16 bytes from shared memory into this form: lanes 0 to 7 name the rows of
the first, 8 to 15 those of the second, and lane `l` gets 4 bytes of row `l // 4` of each. Transposed, it gets what
lies in two rows of column `l // 4`, for floats of two bytes.

**cp.async** copies 16 bytes, or 8, from global to shared memory while the thread goes on. Copies belong to groups: a
thread closes one by `cp_async_commit`, and waits until only the last n are under way by `cp_async_wait_n`; after that
it needs a barrier to see what other threads have copied. Of `count` bytes less than that, the rest is filled with
zeros.

A warp multiplies a 16 x 16 matrix by one of 16 x 8 (with the identity as A, so that B comes out):

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def multiply(a, b, out):
...     strip = simulated.shared.array(256 + 128, uint16)
...     lane = simulated.threadIdx.x
...     cp_async_16(strip, 8 * lane, a, 8 * lane, 16)                       # 32 lanes of 8 numbers: all of a
...     if lane < 16:
...         cp_async_16(strip, 256 + 8 * lane, b, 8 * lane, 16)             # 16 lanes: all of b
...     cp_async_commit()
...     cp_async_wait_0()
...     simulated.syncthreads()
...     of_a = ldmatrix_x4(strip, 16 * (lane % 16) + 8 * (lane // 16))
...     low, high, _, _ = ldmatrix_x4_transposed(strip, 256 + 8 * (lane % 16))
...     sums = mma_float16(of_a, (low, high), (float32(0), float32(0), float32(0), float32(0)))
...     for n in range(4):
...         out[lane // 4 + 8 * (n // 2), 2 * (lane % 4) + n % 2] = sums[n]
>>> from numpy import array, arange, eye, float16, float32, uint16, zeros
>>> b, out = arange(128).reshape(16, 8).astype(float16), zeros((16, 8), float32)
>>> run = simulate(multiply)[1, 32](eye(16, dtype=float16).view(uint16).ravel(), b.view(uint16).ravel(), out)
>>> (out == b).all()
np.True_
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

WORD, FLOAT, LONG = ir.IntType(32), ir.FloatType(), ir.IntType(64)
SHARED = 3  # the number of shared memory among LLVM's address spaces
EFFECT = {"side_effect": True}  # an instruction that LLVM may neither drop nor move


def twin(name: str, file: str = "tensor_cores") -> Callable[[Any], Any]:
    """Says which function of the simulator's does the same as an intrinsic, and in which of its files."""

    def mark(made: Any) -> Any:
        made.simulated_as = f"{file}.{name}"
        return made

    return mark


def fragment(element: Any, count: int, values: Any) -> Any:
    """The type of a fragment of so many registers; TypeError for anything that isn't one."""
    if not isinstance(values, types.BaseTuple) or len(values) != count:
        raise TypeError(f"expected a fragment, which is a tuple of {count} registers, got {values}")
    return types.UniTuple(element, count)


def ptx(builder: Any, result: Any, text: str, constraints: str, operands: Sequence[Any], **options: Any) -> Any:
    """A line of PTX. `$0` and so on are its results, then its operands."""
    kind = ir.FunctionType(result, [operand.type for operand in operands])
    return builder.call(ir.InlineAsm(kind, text, constraints, **options), operands)


def registers(first: int, count: int) -> str:
    """
    >>> registers(4, 2)
    '{$4, $5}'
    """
    return "{" + ", ".join(f"${n}" for n in range(first, first + count)) + "}"


# ------------------------------------------------------------------------------------------------ products


def multiplication(name: str, shape: str, operands: str, sums: Any) -> Any:
    """mma of A in four registers, B in two, C in four: the sums A B + C."""
    letter, each = ("f", FLOAT) if sums is types.float32 else ("r", WORD)
    text = (
        f"mma.sync.aligned.{shape}.row.col.{operands} {registers(0, 4)}, {registers(4, 4)}, {registers(8, 2)},"
        f" {registers(10, 4)};"
    )
    constraints = ",".join([f"={letter}"] * 4 + ["r"] * 6 + [letter] * 4)

    @twin(name)
    @intrinsic
    def mma(typingctx, a, b, c):
        """The sums of a warp: (A's registers, B's, C's) to D's."""
        result = types.UniTuple(sums, 4)

        def code(context, builder, signature, values):
            operands = [
                builder.extract_value(value, n) for value, count in zip(values, (4, 2, 4)) for n in range(count)
            ]
            found = ptx(builder, ir.LiteralStructType([each] * 4), text, constraints, operands)
            return context.make_tuple(builder, result, [builder.extract_value(found, n) for n in range(4)])

        words = types.int32
        return result(fragment(words, 4, a), fragment(words, 2, b), fragment(sums, 4, c)), code

    return mma


mma_bfloat16 = multiplication("mma_bfloat16", "m16n8k16", "f32.bf16.bf16.f32", types.float32)
mma_float16 = multiplication("mma_float16", "m16n8k16", "f32.f16.f16.f32", types.float32)
mma_float32 = multiplication("mma_float32", "m16n8k8", "f32.tf32.tf32.f32", types.float32)  # of 10 bits: TF32
mma_int8 = multiplication("mma_int8", "m16n8k32", "s32.s8.s8.s32", types.int32)


# ------------------------------------------------------------------------------------------------ memory


def address(context: Any, builder: Any, memory: Any, kind: Any, index: Any) -> Any:
    """Where an element of a pointer or of an array begins, as a number of 64 bits."""
    element = kind.dtype
    start = memory if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, memory).data
    size = ir.Constant(LONG, element.bitwidth // 8)
    return builder.add(builder.ptrtoint(start, LONG), builder.mul(index, size))


def shared_address(context: Any, builder: Any, memory: Any, kind: Any, index: Any) -> Any:
    """Where an element of an array in shared memory begins there: 32 bits, as these instructions want it.

    Numba's arrays have addresses that are good for all memories; shared memory's own count from its beginning.
    """
    start = context.make_array(kind)(context, builder, memory).data
    window = builder.addrspacecast(builder.bitcast(start, ir.IntType(8).as_pointer()), ir.IntType(8).as_pointer(SHARED))
    size = ir.Constant(WORD, kind.dtype.bitwidth // 8)
    return builder.add(builder.ptrtoint(window, WORD), builder.mul(builder.trunc(index, WORD), size))


def matrix_load(name: str, kind: str) -> Any:
    text = f"ldmatrix.sync.aligned.m8n8.x4.{kind} {registers(0, 4)}, [$4];"

    @twin(name)
    @intrinsic
    def ldmatrix(typingctx, array, index):
        """Four matrices from the rows that begin at these elements of a shared array: a register for each."""
        result = types.UniTuple(types.int32, 4)

        def code(context, builder, signature, values):
            where = shared_address(context, builder, values[0], signature.args[0], values[1])
            made = ir.LiteralStructType([WORD] * 4)
            found = ptx(builder, made, text, "=r,=r,=r,=r,r,~{memory}", [where], **EFFECT)
            return context.make_tuple(builder, result, [builder.extract_value(found, n) for n in range(4)])

        return result(array, types.int64), code

    return ldmatrix


ldmatrix_x4 = matrix_load("ldmatrix_x4", "shared.b16")
ldmatrix_x4_transposed = matrix_load("ldmatrix_x4_transposed", "trans.shared.b16")


def copying(name: str, nbytes: int, cached: str) -> Any:
    text = f"cp.async.{cached}.shared.global [$0], [$1], {nbytes}, $2;"

    @twin(name)
    @intrinsic
    def cp_async(typingctx, shared, place, source, index, count):
        """Begins to copy `count` bytes, or all, from an element of global memory to one of shared memory."""

        def code(context, builder, signature, values):
            kinds = signature.args
            to = shared_address(context, builder, values[0], kinds[0], values[1])
            origin = address(context, builder, values[2], kinds[2], values[3])
            ptx(builder, ir.VoidType(), text, "r,l,r,~{memory}", [to, origin, values[4]], **EFFECT)
            return context.get_dummy_value()

        return types.void(shared, types.int64, source, types.int64, types.int32), code

    return cp_async


cp_async_16 = copying("cp_async_16", 16, "cg")  # past the multiprocessor's own cache
cp_async_8 = copying("cp_async_8", 8, "ca")


@twin("load_four")
@intrinsic
def load_four(typingctx, array, index):
    """Four float32 side by side, at an element of a shared array whose address 16 divides."""
    result = types.UniTuple(types.float32, 4)

    def code(context, builder, signature, values):
        where = shared_address(context, builder, values[0], signature.args[0], values[1])
        text, made = f"ld.shared.v4.f32 {registers(0, 4)}, [$4];", ir.LiteralStructType([FLOAT] * 4)
        found = ptx(builder, made, text, "=f,=f,=f,=f,r,~{memory}", [where], **EFFECT)
        return context.make_tuple(builder, result, [builder.extract_value(found, n) for n in range(4)])

    return result(array, types.int64), code


def order(name: str, text: str, file: str = "tensor_cores") -> Any:
    """An instruction without operands."""

    @twin(name, file)
    @intrinsic
    def instruction(typingctx):
        def code(context, builder, signature, values):
            ptx(builder, ir.VoidType(), text, "~{memory}", [], **EFFECT)
            return context.get_dummy_value()

        return types.void(), code

    return instruction


cp_async_commit = order("cp_async_commit", "cp.async.commit_group;")
cp_async_wait_0 = order("cp_async_wait_0", "cp.async.wait_group 0;")
cp_async_wait_1 = order("cp_async_wait_1", "cp.async.wait_group 1;")
cp_async_wait_2 = order("cp_async_wait_2", "cp.async.wait_group 2;")


# ------------------------------------------------------------------------------------------------ numbers


def conversion(name: str, instruction: str) -> Any:
    """Two float32 in one register; the first is the lower half."""

    @twin(name)
    @intrinsic
    def pack(typingctx, low, high):
        def code(context, builder, signature, values):
            return ptx(builder, WORD, f"{instruction} $0, $2, $1;", "=r,f,f", values)

        return types.int32(types.float32, types.float32), code

    return pack


pack_bfloat16 = conversion("pack_bfloat16", "cvt.rn.bf16x2.f32")
pack_float16 = conversion("pack_float16", "cvt.rn.f16x2.f32")


@twin("quotient")
@intrinsic
def quotient(typingctx, x, y):
    """x // y, of whole numbers from 0 to 2**32: a fifth of the instructions that it takes in 64 bits."""

    def code(context, builder, signature, values):
        return builder.udiv(*values)

    return types.int32(types.int32, types.int32), code


@twin("store_word")
@intrinsic
def store_word(typingctx, target, index, bits):
    """Writes four bytes at an element of global memory, at an address that four divides."""

    def code(context, builder, signature, values):
        where = address(context, builder, values[0], signature.args[0], values[1])
        ptx(builder, ir.VoidType(), "st.global.b32 [$0], $1;", "l,r,~{memory}", [where, values[2]], **EFFECT)
        return context.get_dummy_value()

    return types.void(target, types.int64, types.int32), code


@twin("load_word")
@intrinsic
def load_word(typingctx, source, index):
    """The four bytes at an element of global memory, at an address that four divides."""

    def code(context, builder, signature, values):
        where = address(context, builder, values[0], signature.args[0], values[1])
        return ptx(builder, WORD, "ld.global.nc.b32 $0, [$1];", "=r,l", [where])

    return types.int32(source, types.int64), code


@twin("exp2")
@intrinsic
def exp2(typingctx, x):
    """2**x in float32, to two units in the last place; what is smaller than normal numbers is 0."""

    def code(context, builder, signature, values):
        return ptx(builder, FLOAT, "ex2.approx.ftz.f32 $0, $1;", "=f,f", values)

    return types.float32(types.float32), code
