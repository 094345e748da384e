"""A native call as Python: its kernels are called one after the other, as the Python functions that they are.

This is what runs where Numba is switched off (NUMBA_DISABLE_JIT=1), so that a debugger or a coverage tool sees kernels.

>>> from minitorch_compile.inductor.runtime.native_call import NativeCall
>>> def double(lo, hi, x, out):
...     for i in range(lo, hi):
...         out[i] = x[i] + x[i]
>>> x, out = np.arange(3.0), np.empty(3)
>>> interpret(NativeCall(("x", "out"), [(double, Chunks(3, 2), "x", "out")]), (x, out)); out
array([0., 2., 4.])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.inductor.runtime.call_steps import Chunks, InTurns, Part, ScratchBlock
from minitorch_compile.kernel_library.call_words import record_words

if TYPE_CHECKING:
    from minitorch_compile.inductor.runtime.native_call import NativeCall


def interpret(call: NativeCall, arrays: tuple[np.ndarray, ...]) -> None:
    """Runs the steps as plain Python functions on arrays."""
    named = {name: as_stored(array) for name, array in zip(call.tensors, arrays)}
    named.setdefault("block", np.zeros(call.block, np.uint8))
    named["scratch"] = np.zeros(call.scratch, np.uint8)
    for name, (element, offset) in call.temporaries.items():
        named[name] = as_array(named["block"], offset, element)
    for step in call.steps:
        if isinstance(step, InTurns):
            blocks = {b: whole_block(b) for kernel in step.kernels for b in kernel if isinstance(b, ScratchBlock)}
            for function, *arguments in step.kernels:  # with room for all blocks, one turn is enough
                function(0, *(blocks[a] if isinstance(a, ScratchBlock) else _value(a, named) for a in arguments))
            continue
        function, *arguments = step
        if arguments and isinstance(arguments[0], Chunks):
            arguments = [0, *arguments]
        function(*(_value(argument, named) for argument in arguments))


def _value(argument: Any, named: Mapping[str, np.ndarray]) -> Any:
    if isinstance(argument, Part):
        return as_array(named[argument.name], argument.offset, argument.element)
    if isinstance(argument, str):
        return named[argument]
    if isinstance(argument, Chunks):
        return argument.extent
    return np.array(record_words(argument)) if isinstance(argument, tuple) else argument


def whole_block(block: ScratchBlock) -> np.ndarray:
    """Memory for a block over its whole range."""
    return as_array(np.zeros(block.nbytes * block.extent, np.uint8), 0, block.element)


def as_array(memory: np.ndarray, offset: int, element: str) -> np.ndarray:
    """The bytes of an array from an offset on, as elements of a dtype."""
    rest = memory.view(np.uint8)[offset:]
    kind = np.dtype("uint16" if element in ("float16", "bfloat16") else element)
    return rest[: len(rest) // kind.itemsize * kind.itemsize].view(kind)


def as_stored(array: np.ndarray) -> np.ndarray:
    """An array as kernels see it: floats of two bytes are their bits."""
    return array.view(np.uint16) if array.dtype.name in ("float16", "bfloat16") else array
