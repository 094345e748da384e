"""A whole graph as one native call: a list of kernels and what to pass to each, walked by one small compiled loop.

The list is data, so making it costs nothing: only kernels have to be compiled. (A compiled function that calls the
kernels of a four-layer GPT one after the other would take as long to compile as the kernels themselves.)

An argument of a kernel is a number, a tuple of numbers (passed as a pointer to them), or the name of an array. Names of
`tensors` are arrays that the caller passes; `temporaries` are places in one block of memory that lives during the call.

>>> from minitorch_compile.inductor.kernel_function import kernel
>>> @kernel("doctest_add", types.float64, types.float64, types.float64)
... def add(lo, hi, x, y, out):
...     for i in range(lo, hi):
...         out[i] = x[i] + y[i]
>>> quadruple = NativeCall(
...     tensors=("x", "out"),
...     block=64,
...     temporaries={"double": ("float64", 0)},
...     steps=[
...         (add, 0, 3, "x", "x", "double"),
...         (add, 0, 3, "double", "double", "out"),
...     ],
... )
>>> x, out = np.arange(3.0), np.empty(3)
>>> quadruple((x, out)); out
array([0., 4., 8.])
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from minitorch_compile.inductor.raw_memory import allocate, release

# What an argument's number is added to: nothing, the block's address, the address of the list itself, or, from
# FIRST_TENSOR on, the address of that tensor's data.
NUMBER, IN_BLOCK, IN_LIST, FIRST_TENSOR = range(4)
MOST_ARGUMENTS = 128
# Where the items of a tuple, and the address of an array's data, lie in CPython's and NumPy's objects.
TUPLE_ITEMS, ARRAY_DATA = tuple.__basicsize__, object.__basicsize__

Step = tuple[Any, ...]


class Part(NamedTuple):
    """An array `offset` bytes into a named one; `element` is its dtype, for those who run without Numba."""

    name: str
    offset: int
    element: str


class NativeCall:
    """`call(arrays)` runs the steps; `arrays` are those that `tensors` names, contiguous, of the right dtypes."""

    def __init__(
        self,
        tensors: Sequence[str],
        steps: Sequence[Step],
        block: int = 0,
        temporaries: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        self.tensors = tuple(tensors)
        self.steps = list(steps)
        self.block = block
        self.temporaries = dict(temporaries or {})
        if not config.DISABLE_JIT:
            self.code = self.encoded()
            self.address: int = self.code.ctypes.data

    def __call__(self, arrays: tuple[np.ndarray, ...]) -> None:
        execute(self.address, id(arrays))

    if config.DISABLE_JIT:

        def __call__(self, arrays: tuple[np.ndarray, ...]) -> None:
            self.interpret(arrays)

    # ------------------------------------------------------------------------------------------ as data

    def encoded(self) -> np.ndarray:
        """The list as integers: number of steps, size of the block, then a step's address, argument count and pairs."""
        words: list[int] = [len(self.steps), self.block]
        tuples: list[tuple[int, tuple[int, ...]]] = []  # where a tuple is wanted, and its numbers
        for function, *arguments in self.steps:
            if len(arguments) > MOST_ARGUMENTS:
                raise RuntimeError(
                    f"NativeCall: {function} takes {len(arguments)} arguments, more than {MOST_ARGUMENTS}"
                )
            words += [function.address, len(arguments)]
            for argument in arguments:
                if isinstance(argument, tuple) and not isinstance(argument, Part):
                    tuples.append((len(words) + 1, argument))
                words += self.pair(argument)
        for place, numbers in tuples:
            words[place] = 8 * len(words)
            words += numbers
        return np.array(words, np.int64)

    def pair(self, argument: Any) -> tuple[int, int]:
        """What the argument counts from, and how many bytes (or just how many) from there."""
        if isinstance(argument, Part):
            base, offset = self.pair(argument.name)
            return base, offset + argument.offset
        if argument in self.temporaries:
            base, start = self.pair("block")
            return base, start + self.temporaries[argument][1]
        if isinstance(argument, str):
            known = argument in self.tensors  # the block may be one of them: the caller keeps it from call to call
            return (FIRST_TENSOR + self.tensors.index(argument), 0) if known else (IN_BLOCK, 0)
        return (IN_LIST, 0) if isinstance(argument, tuple) else (NUMBER, int(argument))

    # ------------------------------------------------------------------------------------------ as Python

    def interpret(self, arrays: tuple[np.ndarray, ...]) -> None:
        """Runs the steps as plain Python functions on arrays."""
        named = dict(zip(self.tensors, arrays))
        named.setdefault("block", np.zeros(self.block, np.uint8))
        for name, (element, offset) in self.temporaries.items():
            named[name] = as_array(named["block"], offset, element)
        for function, *arguments in self.steps:
            function(*(self.value(argument, named) for argument in arguments))

    def value(self, argument: Any, named: Mapping[str, np.ndarray]) -> Any:
        if isinstance(argument, Part):
            return as_array(named[argument.name], argument.offset, argument.element)
        if isinstance(argument, str):
            return named[argument]
        return np.array(argument) if isinstance(argument, tuple) else argument


def as_array(memory: np.ndarray, offset: int, element: str) -> np.ndarray:
    """The bytes of an array from an offset on, as elements of a dtype."""
    rest = memory.view(np.uint8)[offset:]
    itemsize = np.dtype(element).itemsize
    return rest[: len(rest) // itemsize * itemsize].view(element)


# ------------------------------------------------------------------------------------------------ the native loop


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


@njit(forceinline=True, error_model="numpy")
def _run_steps(code, arrays, block):
    """The steps of the list at `code`, with temporaries in the memory at the address `block`."""
    words = _words()
    position = code + 16
    for _ in range(_word_at(code)):
        function, count = _word_at(position), _word_at(position + 8)
        position += 16
        for n in range(count):
            base, value = _word_at(position), _word_at(position + 8)
            position += 16
            if base == IN_BLOCK:
                value += block
            elif base == IN_LIST:
                value += code
            elif base >= FIRST_TENSOR:
                array = _word_at(arrays + TUPLE_ITEMS + 8 * (base - FIRST_TENSOR))
                value += _word_at(array + ARRAY_DATA)
            words[n] = value
        _call_function(function, words, count)


@njit("void(int64, int64)", cache=True, error_model="numpy")
def execute(code, arrays):
    """Runs the list at the address `code` on the arrays in the tuple at the address `arrays`."""
    size = _word_at(code + 8)
    if size == 0:
        _run_steps(code, arrays, 0)
    else:
        block = allocate(size)
        _run_steps(code, arrays, _address_of(block))
        release(block)


def check_layout() -> None:
    """RuntimeError if an array's data isn't where `execute` looks for it."""
    word_at = lambda address: ctypes.c_int64.from_address(address).value
    arrays = (np.zeros(1), np.zeros(3, np.int64))
    for number, array in enumerate(arrays):
        item = word_at(id(arrays) + TUPLE_ITEMS + 8 * number)
        if item != id(array) or word_at(item + ARRAY_DATA) != array.ctypes.data:
            raise RuntimeError(
                "inductor: this Python or NumPy lays out its objects in an unknown way;"
                " use backend='loops' or 'aot_eager'"
            )


check_layout()
