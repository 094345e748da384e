"""Products of a warpgroup, 128 threads that multiply together, as functions for kernels: Hopper's `wgmma`.

A warp's `mma` (`tensor_cores.py`) takes both factors from registers, where `ldmatrix` has to bring them first. Here
four warps have 64 rows of the first factor in registers, 16 each, in the same form; the second is read by the tensor
cores themselves, from shared memory. There it lies in *panels*, whose lines have 128 bytes, 8 chunks of 16: chunk c of
line l is at place c ^ (l % 8), so that no bank is hit twice whichever way it is read, and a panel begins where 1,024
divides. What is wider lies in several panels, one behind the other:

                     panel 0                panel 1
              +--------------------+ +--------------------+
       line 0 | elements 0  ..  63 | | elements 64 .. 127 |       add_rows: a line is a column of the second factor
       line 1 |                    | |                    |       add_columns: a line is a row of it
         ...  +--------------------+ +--------------------+

`add_rows` and its like issue the instructions for all of their depth, 16 each, and wait for them, while other
warpgroups go on. `begin_rows` doesn't wait: until `finish_0`, or `finish_1` if another product was begun since, its
sums and the registers of its first factor belong to the tensor cores. Of its sums a thread has, of every 8 columns,
those that it has of `mma`'s.

Copies into shared memory are made by other units than those that read it here: between both, a thread that has waited
for its copies says so (`fence_copies`), before the barrier.

Four warps multiply the identity, of 16 rows in each, by 16 lines of 64 numbers, of which 8 columns are asked for:

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def multiply(b, out):
...     words = simulated.shared.array(16 * 32, int32, 1024)
...     thread, zero = simulated.threadIdx.x, float32(0)
...     line, chunk = thread // 8, thread % 8
...     for n in range(4):
...         words[32 * line + 4 * (chunk ^ line % 8) + n] = b[line, 4 * chunk + n]
...     fence_copies()
...     simulated.syncthreads()
...     row, pair = thread % 32 // 4, 2 * (thread % 4)                       # 1.0 is 0x3C00
...     one = (0x3C00 if row == pair else 0) + (0x3C000000 if row == pair + 1 else 0)
...     sums = add_columns_float16((zero, zero, zero, zero), (one, 0, 0, one), words, 0)
...     for n in range(4):
...         out[thread // 32, row + n // 2 * 8, pair + n % 2] = sums[n]
>>> from numpy import float16, float32, int32, random, zeros
>>> b, out = random.default_rng(0).random((16, 64)).astype(float16), zeros((4, 16, 8), float32)
>>> run = simulate(multiply)[1, 128](b.view(int32), out)
>>> (out == b[:, :8]).all()
np.True_
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

from minitorch_compile.inductor.codegen.cuda.tensor_cores import (
    EFFECT,
    FLOAT,
    LONG,
    fragment,
    order,
    ptx,
    registers,
    shared_address,
    twin,
)

LINE = 128  # bytes of a panel's line
SWIZZLED = 1 << 62  # of a descriptor: chunks of 16 bytes change places among 8
EIGHT_LINES = 8 * LINE
DEPTH = 16  # of one instruction


def descriptor(context: Any, builder: Any, words: Any, kind: Any, place: Any, panel: int) -> Any:
    """What tells the tensor cores where a factor lies: its beginning, from one panel to the next, from 8 lines to the
    next 8; in units of 16 bytes."""
    start = builder.zext(shared_address(context, builder, words, kind, place), LONG)
    begin = builder.lshr(builder.and_(start, ir.Constant(LONG, 0x3FFFF)), ir.Constant(LONG, 4))
    return builder.or_(begin, ir.Constant(LONG, SWIZZLED | EIGHT_LINES // 16 << 32 | panel // 16 << 16))


def instructions(columns: int, element: str, steps: int, transposed: int, waits: bool) -> str:
    """The text for all steps. Operands: the sums twice, four registers for each step, and a place for each."""
    count = columns // 2
    a, b = 2 * count, 2 * count + 4 * steps
    shape = f"wgmma.mma_async.sync.aligned.m64n{columns}k{DEPTH}.f32.{element}.{element}"
    lines = [".reg .pred adds;", "setp.eq.b32 adds, 0, 0;", "wgmma.fence.sync.aligned;"]
    for step in range(steps):
        factors = f"{registers(0, count)}, {registers(a + 4 * step, 4)}, ${b + step}"
        lines.append(f"{shape} {factors}, adds, 1, 1, {transposed};")
    lines += ["wgmma.commit_group.sync.aligned;", *["wgmma.wait_group.sync.aligned 0;"] * waits]
    return "{ " + " ".join(lines) + " }"


def product(name: str, element: str, by_rows: bool, waits: bool = True) -> Any:
    """sums + A B' if lines of B are read along the depth, which is `by_rows`; else sums + A B."""

    @twin(name, "warpgroups")
    @intrinsic
    def add(typingctx, sums, a, words, place):
        """Sums, with the product of A and what lies from a word of shared memory on."""
        count, steps = len(sums), len(a) // 4
        result = fragment(types.float32, count, sums)

        def code(context, builder, signature, values):
            panel = LINE * (2 * count if by_rows else DEPTH * steps)
            first = descriptor(context, builder, values[2], signature.args[2], values[3], panel)
            if by_rows:  # 4 steps in a panel
                apart = [step // 4 * panel + step % 4 * 2 * DEPTH for step in range(steps)]
            else:
                apart = [step * DEPTH * LINE for step in range(steps)]
            operands = [builder.extract_value(value, n) for value, n in parts(values[:2], (count, 4 * steps))]
            operands += [builder.add(first, ir.Constant(LONG, nbytes // 16)) for nbytes in apart]
            tied = ",".join(map(str, range(count)))
            constraints = f"{','.join(['=f'] * count)},{tied},{','.join(['r'] * 4 * steps + ['l'] * steps)},~{{memory}}"
            text = instructions(2 * count, element, steps, int(not by_rows), waits)
            found = ptx(builder, ir.LiteralStructType([FLOAT] * count), text, constraints, operands, **EFFECT)
            return context.make_tuple(builder, result, [builder.extract_value(found, n) for n in range(count)])

        return result(result, fragment(types.int32, 4 * steps, a), words, types.int64), code

    return add


def parts(values: Sequence[Any], counts: Sequence[int]) -> list[tuple[Any, int]]:
    """Each tuple with the number of each of its parts."""
    return [(value, n) for value, count in zip(values, counts) for n in range(count)]


add_rows_bfloat16 = product("add_rows_bfloat16", "bf16", by_rows=True)
add_rows_float16 = product("add_rows_float16", "f16", by_rows=True)
add_columns_bfloat16 = product("add_columns_bfloat16", "bf16", by_rows=False)
add_columns_float16 = product("add_columns_float16", "f16", by_rows=False)
begin_rows_bfloat16 = product("begin_rows_bfloat16", "bf16", by_rows=True, waits=False)
begin_rows_float16 = product("begin_rows_float16", "f16", by_rows=True, waits=False)
begin_columns_bfloat16 = product("begin_columns_bfloat16", "bf16", by_rows=False, waits=False)
begin_columns_float16 = product("begin_columns_float16", "f16", by_rows=False, waits=False)


def waiting(name: str, behind: int) -> Any:
    @twin(name, "warpgroups")
    @intrinsic
    def finish(typingctx, sums):
        """The sums of a product that was begun, and all before it; so many that were begun later may go on."""
        count = len(sums)
        result = fragment(types.float32, count, sums)

        def code(context, builder, signature, values):
            operands = [builder.extract_value(values[0], n) for n in range(count)]
            constraints = f"{','.join(['=f'] * count)},{','.join(map(str, range(count)))},~{{memory}}"
            text, made = f"wgmma.wait_group.sync.aligned {behind};", ir.LiteralStructType([FLOAT] * count)
            found = ptx(builder, made, text, constraints, operands, **EFFECT)
            return context.make_tuple(builder, result, [builder.extract_value(found, n) for n in range(count)])

        return result(result), code

    return finish


finish_0, finish_1 = waiting("finish_0", 0), waiting("finish_1", 1)
fence_copies = order("fence_copies", "fence.proxy.async.shared::cta;", "warpgroups")
