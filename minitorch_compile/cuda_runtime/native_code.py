"""Machine code of a few lines of LLVM's assembly, for loops over calls of CUDA's driver, between which Python has
nothing to do; and a call of machine code that takes a quarter of the time of one by `ctypes`.

>>> PROGRAM = "define i64 @less(i64 %x, i64 %y) { %z = sub i64 %x, %y ret i64 %z }"
>>> native_call()(native_function(PROGRAM, "less"), 2, 44, 0, 0, 0)
-42
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

METH_FASTCALL = 0x0080  # CPython passes the object that a function belongs to, where its arguments are, and how many
OF_PYTHON = ("PyLong_AsLongLong", "PyLong_FromLongLong", "PyEval_SaveThread", "PyEval_RestoreThread")
WORDS = 5  # that a function is given
TAKEN = "\n".join(f"  %word{n} = call i64 @word(ptr %arguments, i64 {n})" for n in range(WORDS + 1))
PASSED = ", ".join(f"i64 %word{n}" for n in range(1, WORDS + 1))
# Other threads of Python go on meanwhile: a driver whose queue is full makes a launch wait.
CALL = f"""
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

define i64 @word(ptr %arguments, i64 %place) {{
  %at = getelementptr ptr, ptr %arguments, i64 %place
  %number = load ptr, ptr %at
  %word = call i64 @PyLong_AsLongLong(ptr %number)
  ret i64 %word
}}

define ptr @call(ptr %nothing, ptr %arguments, i64 %count) {{
{TAKEN}
  %function = inttoptr i64 %word0 to ptr
  %thread = call ptr @PyEval_SaveThread()
  %answer = call i64 %function({PASSED})
  call void @PyEval_RestoreThread(ptr %thread)
  %number = call ptr @PyLong_FromLongLong(i64 %answer)
  ret ptr %number
}}
"""

_lock = threading.Lock()
_made: dict[str, tuple[int, Any]] = {}  # by name: an address, and what keeps the machine code
_calls: list[tuple[Callable[..., int], Any]] = []


class MethodDefinition(ctypes.Structure):
    """PyMethodDef: how CPython describes a builtin function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def native_function(program: str, name: str) -> int:
    """The address of the function of that name, made once in a process."""
    with _lock:
        if name not in _made:
            from llvmlite import binding as llvm  # not for programs without a GPU

            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            module = llvm.parse_assembly(program)
            module.verify()
            engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine(opt=2))
            engine.finalize_object()
            _made[name] = engine.get_function_address(name), engine
        return _made[name][0]


def native_call() -> Callable[..., int]:
    """A function of an address and five ints, which calls what is there with these, and returns its answer, an int."""
    if not _calls:
        from llvmlite import binding as llvm

        for name in OF_PYTHON:
            llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
        definition = MethodDefinition(b"call", native_function(CALL, "call"), METH_FASTCALL, None)
        _calls.append((builtin(definition), definition))
    return _calls[0][0]


def builtin(definition: MethodDefinition, own: Any = None) -> Any:
    """A builtin function of Python's, whose code is given `own` as what it belongs to. Whoever makes it keeps the
    definition: CPython knows its address only."""
    new = ctypes.pythonapi.PyCMethod_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p]
    return new(ctypes.addressof(definition), own, None, None)
