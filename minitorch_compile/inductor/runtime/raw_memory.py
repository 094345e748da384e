"""Memory as generated code sees it: pointers into arrays, and one block of scratch memory a call.

>>> from numba import njit
>>> @njit
... def total_of_squares(x):
...     block = allocate(64)
...     squares = float64_at(block, 0)
...     source = pointer(x)
...     for i in range(4):
...         squares[i] = source[i] * source[i]
...     total = squares[0] + squares[1] + squares[2] + squares[3]
...     release(block)
...     return total
>>> total_of_squares(np.arange(4.0))
14.0

A pointer knows no length and keeps nothing alive: the wrapper that generates these calls owns the memory plan.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
_BYTE_POINTER = ir.IntType(8).as_pointer()
Record = TypeVar("Record", bound=tuple[Any, ...])

# The element type behind a pointer. Booleans are bytes: kernels compare them with 0 when they load one. Floats of two
# bytes are their bits: kernels convert them to float32 (see `half_floats`).
ELEMENTS = {
    "float16": types.uint16, "bfloat16": types.uint16,
    "float64": types.float64, "float32": types.float32, "int64": types.int64, "int32": types.int32,
    "int16": types.int16, "int8": types.int8, "uint8": types.uint8, "bool": types.uint8,
}  # fmt: skip


def element_type(name: str) -> Any:
    """Numba's type for the elements of a buffer. NotImplementedError for a dtype that kernels can't compute in."""
    if name not in ELEMENTS:
        raise NotImplementedError(
            f"inductor: generated kernels don't support torch.{name} yet; convert to float32 first,"
            " or use backend='aot_eager'"
        )
    return ELEMENTS[name]


if config.DISABLE_JIT:

    def pointer(array: np.ndarray) -> np.ndarray:
        return array

    def advance(array: np.ndarray, count: int) -> np.ndarray:
        return array[count:]

    def as_integers(array: np.ndarray) -> np.ndarray:
        return array[: array.nbytes // 8 * 8 // array.itemsize].view(np.int64)

    def allocate(nbytes: int) -> np.ndarray:
        return np.zeros(nbytes, np.uint8)

    def release(block: np.ndarray) -> None:
        return None

    def as_tuple(array: np.ndarray, like: Record) -> Record:
        return _filled(like, iter([*map(int, array)]))

    def _filled(like: Any, words: Iterator[int]) -> Any:
        if isinstance(like, tuple):
            items = [_filled(item, words) for item in like]
            return type(like)._make(items) if hasattr(like, "_make") else type(like)(items)
        word = next(words)
        return struct.unpack("<d", struct.pack("<q", word))[0] if isinstance(like, float) else word

    def _typed(block: np.ndarray, offset: int, element: Any) -> np.ndarray:
        itemsize = element.bitwidth // 8
        usable = (len(block) - offset) // itemsize * itemsize
        return block[offset : offset + usable].view(str(element))

    def _make_typed(element: Any) -> Any:
        return lambda block, offset: _typed(block, offset, element)

else:

    @intrinsic
    def pointer(typing_context, array):
        """A pointer to the first element of an array."""
        element = types.uint8 if array.dtype == types.boolean else array.dtype

        def code(context, builder, signature, values):
            data = make_array(array)(context, builder, values[0]).data
            return builder.bitcast(data, context.get_value_type(signature.return_type))

        return types.CPointer(element)(array), code

    @intrinsic
    def advance(typing_context, start, count):
        """The pointer `count` elements further."""
        return start(start, count), lambda context, builder, signature, values: builder.gep(values[0], [values[1]])

    @intrinsic
    def as_integers(typing_context, start):
        """The same address as a pointer to 64-bit integers."""

        def code(context, builder, signature, values):
            return builder.bitcast(values[0], ir.IntType(64).as_pointer())

        return types.CPointer(types.int64)(start), code

    @intrinsic
    def allocate(typing_context, nbytes):
        """A block of memory, aligned to ALIGNMENT bytes, not initialised."""

        def code(context, builder, signature, values):
            function = _runtime_function(builder, "NRT_Allocate", _BYTE_POINTER, [ir.IntType(64)])
            size = builder.add(values[0], ir.Constant(ir.IntType(64), 2 * ALIGNMENT))
            raw = builder.ptrtoint(builder.call(function, [size]), ir.IntType(64))
            # Round up past a header that remembers where the block really starts.
            past = builder.add(raw, ir.Constant(ir.IntType(64), 2 * ALIGNMENT - 1))
            start = builder.and_(past, ir.Constant(ir.IntType(64), -ALIGNMENT))
            header = builder.sub(start, ir.Constant(ir.IntType(64), 8))
            builder.store(raw, builder.inttoptr(header, ir.IntType(64).as_pointer()))
            return builder.inttoptr(start, _BYTE_POINTER)

        return types.voidptr(types.int64), code

    @intrinsic
    def release(typing_context, block):
        """Gives a block of `allocate` back."""

        def code(context, builder, signature, values):
            start = builder.ptrtoint(values[0], ir.IntType(64))
            header = builder.sub(start, ir.Constant(ir.IntType(64), 8))
            raw = builder.load(builder.inttoptr(header, ir.IntType(64).as_pointer()))
            function = _runtime_function(builder, "NRT_Free", ir.VoidType(), [_BYTE_POINTER])
            builder.call(function, [builder.inttoptr(raw, _BYTE_POINTER)])
            return context.get_dummy_value()

        return types.void(block), code

    @intrinsic
    def as_tuple(typing_context, start, like):
        """What lies behind a pointer, as a tuple of the type of `like`: see `record_words`."""

        def code(context, builder, signature, arguments):
            return builder.load(builder.bitcast(arguments[0], context.get_value_type(like).as_pointer()))

        return like(start, like), code

    def _runtime_function(builder: ir.IRBuilder, name: str, result: ir.Type, parameters: list[ir.Type]) -> ir.Function:
        return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, parameters), name)

    def _make_typed(element: Any) -> Any:
        @intrinsic
        def typed(typing_context, block, offset):
            def code(context, builder, signature, values):
                return builder.bitcast(
                    builder.gep(values[0], [values[1]]), context.get_value_type(signature.return_type)
                )

            return types.CPointer(element)(block, offset), code

        return typed


# Pointers of each type, `offset` bytes into a block.
float64_at, float32_at = _make_typed(types.float64), _make_typed(types.float32)
int64_at, int32_at, int16_at = _make_typed(types.int64), _make_typed(types.int32), _make_typed(types.int16)
int8_at, uint8_at = _make_typed(types.int8), _make_typed(types.uint8)
bool_at = uint8_at
