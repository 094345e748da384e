"""Kernels: Numba functions with a C signature, known by their address.

A kernel takes a range `[lo, hi)` of its outermost loop, then sizes, then one pointer a buffer. It is compiled on its
own, and equal kernels are compiled once in a process, whichever graphs they belong to.

>>> @kernel("doctest_double", types.float32, types.float32)
... def double(lo, hi, x, out):
...     for i in range(lo, hi):
...         out[i] = x[i] + x[i]
>>> x, out = np.arange(3, dtype=np.float32), np.empty(3, np.float32)
>>> double(0, 3, x, out); out
array([0., 2., 4.], dtype=float32)
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, types
from numba.core.compiler_machinery import PassManager
from numba.core.sigutils import normalize_signature

from minitorch_compile.inductor.machine import check_compiles_here
from minitorch_compile.inductor.runtime import object_store

# Numba's `cfunc`, opened up: the class that compiles one is private.
ccallback: Any = importlib.import_module("numba.core.ccallback")
compiler: Any = importlib.import_module("numba.core.compiler")
untyped_passes: Any = importlib.import_module("numba.core.untyped_passes")
typed_passes: Any = importlib.import_module("numba.core.typed_passes")

# Division by zero gives inf or NaN instead of an exception; arithmetic is never reordered (see native.accumulate_sum).
OPTIONS = {"nopython": True, "error_model": "numpy"}

_compiled: dict[str, NativeFunction] = {}  # by name: equal kernels have equal names


class _KernelPipeline(compiler.CompilerBase):
    """Numba's passes without those for what no kernel has: closures, `with`, array expressions, literal unrolling.

    The machine code is the same; it takes a tenth less time to make.
    """

    PASSES = (
        untyped_passes.TranslateByteCode,
        untyped_passes.FixupArgs,
        untyped_passes.IRProcessing,
        untyped_passes.RewriteSemanticConstants,
        untyped_passes.GenericRewrites,
        untyped_passes.InlineInlinables,
        untyped_passes.ReconstructSSA,
        typed_passes.NopythonTypeInference,
        typed_passes.PreLowerStripPhis,
        typed_passes.IRLegalization,
        typed_passes.AnnotateTypes,
        typed_passes.NativeLowering,
        typed_passes.NoPythonBackend,
    )

    def define_pipelines(self) -> list[Any]:
        manager = PassManager("kernel")
        for step in self.PASSES:
            manager.add_pass(step, step.__name__)
        manager.finalize()
        return [manager]


class _KernelCompiler(ccallback._CFuncCompiler):
    """Tells LLVM that no two pointers of a kernel overlap: the memory plan passes a buffer that is reused once."""

    def _customize_flags(self, flags: Any) -> Any:
        flags = super()._customize_flags(flags)
        flags.noalias = True
        return flags


class NativeFunction:
    """Machine code at an `address`, taking 64-bit integers and pointers; `python` is the function it was made from.

    When its address is first asked for, it is read from disk if another process kept it there, else compiled and kept.
    """

    def __init__(self, name: str, signature: Any, python: Callable[..., Any]) -> None:
        self.name = name
        self.python = python
        self.signature = signature
        self.place: Path | None = None  # of the machine code; None: in the folder of all kernels

    @cached_property
    def key(self) -> str | None:
        """What the machine code is called on disk; None for a function that isn't kept there."""
        return object_store.key_of(self.name, self.signature, self.python)

    @cached_property
    def address(self) -> int:
        found = object_store.find(self.key, self.place) if self.key else None
        if found is not None:
            return found
        address: int = self.compiled.address
        if self.key and not self.compiled._library.has_dynamic_globals:
            _, _, (code, _) = self.compiled._library.serialize_using_object_code()
            object_store.keep(self.key, self.compiled.native_name, code, self.place)
        return address

    @property
    def path(self) -> Path | None:
        """Where the machine code is kept; None for a function that isn't."""
        return self.place or (object_store.path_of(self.key) if self.key else None)

    @property
    def was_kept(self) -> bool:
        """Whether the machine code came from disk."""
        return bool(self.address) and "compiled" not in vars(self)

    def is_missing(self) -> bool:
        """Whether the machine code is neither here nor on disk, and could be there."""
        return "address" not in vars(self) and self.key is not None and not object_store.path_of(self.key).exists()

    def is_ready(self) -> bool:
        """Whether the machine code is here, or was found missing before and is on disk now."""
        key = vars(self).get("key")
        return "address" in vars(self) or (key is not None and object_store.path_of(key).exists())

    @cached_property
    def compiled(self) -> Any:
        """What Numba makes of the function; compiled when first asked for."""
        check_compiles_here()
        result = ccallback.CFunc(self.python, normalize_signature(self.signature), {}, OPTIONS)
        result._compiler = _KernelCompiler(
            self.python, result._targetdescr, OPTIONS, {}, pipeline_class=_KernelPipeline
        )
        result.compile()
        return result

    def __call__(self, *arguments: Any) -> None:
        """Runs it from Python, for tests and lessons: an array stands for the pointer to its first element."""
        words = [a.ctypes.data if isinstance(a, np.ndarray) else int(a) for a in arguments]
        ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(words))(self.address)(*words)

    def assembly(self) -> str:
        """The machine code, as text."""
        return self.compiled._library.get_asm_str()

    def __repr__(self) -> str:
        return f"<native {self.python.__name__} at {self.address:#x}>"


def native_function(name: str, signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compiles a function of 64-bit integers and pointers; what was compiled under the same name is taken instead.

    With NUMBA_DISABLE_JIT=1 the function stays plain Python.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        if name not in _compiled:
            _compiled[name] = NativeFunction(name, signature, function)
        return _compiled[name]

    return decorate


def known(name: str) -> NativeFunction | None:
    """The function that was compiled, or is to be, under this name."""
    return _compiled.get(name)


def kernel(name: str, *elements: Any, sizes: int = 0) -> Callable[[Callable[..., None]], Any]:
    """Compiles a function (lo, hi, size, ..., pointer, ...).

    `elements` are the types behind its pointers; `sizes` says how many sizes stand before them.
    """
    arguments = [types.int64] * (2 + sizes) + [types.CPointer(element) for element in elements]
    return native_function(name, types.void(*arguments))


def planned_kernel(name: str, *elements: Any, record: Any = None) -> Callable[[Callable[..., None]], Any]:
    """Compiles a function (lo, hi, pointer, ..., numbers): it takes its sizes as a pointer to the words of a plan.

    `elements` are the types behind its pointers; see `raw_memory.as_tuple`. With `record`, a named tuple, the function
    takes its pointers as one. LLVM passes such a structure as so many words, so for the caller it's all the same.
    """
    pointers = [types.CPointer(element) for element in elements]
    passed = pointers if record is None else [types.NamedTuple(pointers, record)]
    signature = types.void(types.int64, types.int64, *passed, types.CPointer(types.int64))

    def decorate(function: Callable[..., None]) -> Any:
        made = native_function(name, signature)(function)
        if record is None or not config.DISABLE_JIT:
            return made
        return lambda lo, hi, *arrays: function(lo, hi, record(*arrays[:-1]), arrays[-1])

    return decorate
