"""The native loop that walks the list of a `NativeCall`: it finds out each kernel's arguments and calls it.

The list is 64-bit integers. It begins with the number of steps, the size of the block of temporaries, the size of the
scratch memory that each thread needs, and whether matrix products are called. A step begins with how long its range
is, how much of that makes a chunk (0: there are none, its kernel is called once), and how many kernels it has, which
take turns at each chunk. A kernel is its address, how many arguments it takes, how long its own range is, and then
two words an argument: what it counts from, and how far.

A step with chunks goes to the thread pool, where each thread has scratch memory of its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from minitorch_compile.inductor.runtime import blas  # noqa: F401 (provides the symbols of OpenBLAS's thread count)
from minitorch_compile.inductor.runtime.builtin_function import argument, builtin_function, returned_none
from minitorch_compile.inductor.runtime.caching_allocator import give_back_block, take_block
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.thread_pool import HAS_THREADS, MOST_THREADS, POOL
from minitorch_compile.kernel_library.call_words import (
    ARRAY_DATA,
    FIRST_TENSOR,
    HEADER,
    IN_BLOCK,
    IN_LIST,
    IN_SCRATCH,
    IN_WINDOW,
    KERNEL,
    MOST_ARGUMENTS,
    NUMBER,  # noqa: F401 (for who writes lists)
    STEP,
    TUPLE_ITEMS,
)
from minitorch_compile.kernel_library.pool_memory import PARALLEL, PARALLEL_ADDRESS  # noqa: F401 (what `execute` takes)

get_blas_threads = types.ExternalFunction("minitorch_get_blas_threads", types.int32())
set_blas_threads = types.ExternalFunction("minitorch_set_blas_threads", types.void(types.int32))


# ------------------------------------------------------------------------------------------------ words and calls


@intrinsic
def _call_function(typing_context, address, arguments, count):
    """Calls the C function at an address with the first `count` words of `arguments`.

    It may be passed more words than it takes: in C's calling convention it is the caller who takes them away again.
    """

    def code(context, builder, signature, values):
        function, words, number = values
        word = ir.IntType(64)
        with builder.if_then(builder.icmp_signed("<=", number, word(16)), likely=True):
            _emit_call(builder, function, words, 16)
        with builder.if_then(builder.icmp_signed(">", number, word(16)), likely=False):
            _emit_call(builder, function, words, MOST_ARGUMENTS)
        return context.get_dummy_value()

    return types.void(types.int64, types.CPointer(types.int64), types.int64), code


def _emit_call(builder: ir.IRBuilder, address: ir.Value, words: ir.Value, count: int) -> None:
    word = ir.IntType(64)
    kind = ir.FunctionType(ir.VoidType(), [word] * count).as_pointer()
    passed = [builder.load(builder.gep(words, [word(n)])) for n in range(count)]
    builder.call(builder.inttoptr(address, kind), passed)


@intrinsic
def _words(typing_context):
    """Room for MOST_ARGUMENTS integers, until the calling function returns."""

    def code(context, builder, signature, values):
        room = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), MOST_ARGUMENTS))
        return builder.bitcast(room, ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(), code


@intrinsic
def _word_at(typing_context, address):
    """The 64-bit integer at an address."""

    def code(context, builder, signature, values):
        return builder.load(builder.inttoptr(values[0], ir.IntType(64).as_pointer()))

    return types.int64(types.int64), code


@intrinsic
def _address_of(typing_context, pointer):
    def code(context, builder, signature, values):
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.int64(pointer), code


# ------------------------------------------------------------------------------------------------ steps


@njit(forceinline=True, error_model="numpy")
def _find_arguments(words, position, count, code, arrays, block, scratch, first):
    """Fills `words` with the arguments described from `position` on; `first` is where in the range the chunk begins."""
    for n in range(count):
        base, value = _word_at(position), _word_at(position + 8)
        position += 16
        if base == IN_BLOCK:
            value += block
        elif base == IN_LIST:
            value += code
        elif base == IN_SCRATCH:
            value += scratch
        elif base == IN_WINDOW:
            value = scratch + _word_at(code + value) - first * _word_at(code + value + 8)
        elif base >= FIRST_TENSOR:
            array = _word_at(arrays + TUPLE_ITEMS + 8 * (base - FIRST_TENSOR))
            value += _word_at(array + ARRAY_DATA)
        words[n] = value


@njit(forceinline=True, error_model="numpy")
def _run_chunk(context, chunk, thread):
    """One chunk of a step: its kernels on a part of the range. `context` points to what `_run_steps` says of it."""
    position, code, arrays = _word_at(context), _word_at(context + 8), _word_at(context + 16)
    block, scratch, size = _word_at(context + 24), _word_at(context + 32), _word_at(context + 40)
    extent, length, kernels = _word_at(position), _word_at(position + 8), _word_at(position + 16)
    first, last = chunk * length, min(chunk * length + length, extent)
    words = _words()
    position += 8 * STEP
    for _ in range(kernels):
        function, count, own = _word_at(position), _word_at(position + 8), _word_at(position + 16)
        position += 8 * KERNEL
        _find_arguments(words, position, count, code, arrays, block, scratch + thread * size, first)
        words[0], words[1] = first * own // extent, last * own // extent
        _call_function(function, words, count)
        position += 16 * count


def run_chunk(context, chunk, thread):
    """`_run_chunk` as a task of the thread pool."""
    _run_chunk(context, chunk, thread)


@njit(forceinline=True, error_model="numpy")
def _next_step(position):
    """Where the step after the one at `position` begins."""
    kernels = _word_at(position + 16)
    position += 8 * STEP
    for _ in range(kernels):
        position += 8 * KERNEL + 16 * _word_at(position + 8)
    return position


@njit(forceinline=True, error_model="numpy")
def _run_steps(code, arrays, block, scratch, parallel, threads):
    """The steps of the list at `code`, with temporaries at `block` and the threads' scratch memory at `scratch`.

    `parallel` points to three addresses: of `parallel_for`, of the pool, and of `run_chunk`.
    """
    words, more, context = _words(), _words(), _words()
    position = code + 8 * HEADER
    size = _word_at(code + 16)
    for _ in range(_word_at(code)):
        extent, length, kernels = _word_at(position), _word_at(position + 8), _word_at(position + 16)
        context[0], context[1], context[2], context[3], context[4], context[5] = (
            position, code, arrays, block, scratch, size,
        )  # fmt: skip
        if length == 0 or (threads == 1 and kernels == 1):
            place = position + 8 * STEP
            function, count = _word_at(place), _word_at(place + 8)
            _find_arguments(words, place + 8 * KERNEL, count, code, arrays, block, scratch, 0)
            _call_function(function, words, count)
        elif threads == 1:
            for chunk in range((extent + length - 1) // length):
                _run_chunk(_address_of(context), chunk, 0)
        else:
            more[0], more[1], more[2] = _word_at(parallel + 8), _word_at(parallel + 16), _address_of(context)
            more[3], more[4] = (extent + length - 1) // length, threads
            _call_function(_word_at(parallel), more, 5)
        position = _next_step(position)


@njit(forceinline=True, error_model="numpy")
def _execute(code, arrays, parallel):
    """Runs the list at the address `code` on the arrays in the tuple at the address `arrays`.

    `parallel` points to what `_run_steps` takes, and then to the addresses of the number of threads and of the slot for
    a large block.
    """
    threads = min(_word_at(_word_at(parallel + 24)), MOST_THREADS)
    blas_threads = 1
    if _word_at(code + 24):  # the pool shares out products, so BLAS must not
        blas_threads = get_blas_threads()
        if blas_threads != 1:
            set_blas_threads(1)
    size = _word_at(code + 8)
    needed = size + threads * _word_at(code + 16)
    if needed == 0:
        _run_steps(code, arrays, 0, 0, parallel, threads)
    else:
        block = take_block(_word_at(parallel + 32), needed)
        _run_steps(code, arrays, block, block + size, parallel, threads)
        give_back_block(_word_at(parallel + 32), block, needed)
    if blas_threads != 1:
        set_blas_threads(blas_threads)


def execute(nothing, arguments, count):
    """`_execute` as CPython calls it, with three ints."""
    _execute(argument(arguments, 0), argument(arguments, 1), argument(arguments, 2))
    return returned_none(nothing)


if not config.DISABLE_JIT:
    execute = builtin_function(execute)


# ------------------------------------------------------------------------------------------------ threads


def thread_functions() -> list[Any]:
    """The native functions that steps with chunks need: what starts a task, what threads run, and one chunk of a step.

    Without threads there are none.
    """
    if not HAS_THREADS:
        return []
    return [*POOL.functions, native_function("run_chunk", types.void(*[types.int64] * 3))(run_chunk)]


@cache
def provide_threads() -> None:
    """Compiles what steps with chunks need."""
    if HAS_THREADS:
        PARALLEL[0], PARALLEL[2] = POOL.launcher.address, thread_functions()[-1].address
