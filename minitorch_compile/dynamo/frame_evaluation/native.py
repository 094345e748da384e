"""The hook in this process: its machine code, and what Python does with it.

>>> hook = native_hook()
>>> hook.is_installed
False
>>> def question():
...     return 42
>>> callback = Callback(
...     judge=lambda function: Word(CAPTURE if function is question else PASS),
...     enter=lambda function: f"caught {function.__name__}",
... )
>>> hook.install()
>>> before = hook.set_callback(callback.address)
>>> question()                                                    # never runs
'caught question'
>>> _ = hook.set_callback(before)
>>> hook.uninstall()
>>> question()
42

Everything here is called with the GIL held. What the machine code does is in frame_evaluation/ir.py.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from minitorch_compile.dynamo.frame_evaluation.ir import CAPTURE, OFF, PASS, PASS_HERE, functions_of, hook_text
from minitorch_compile.frame_marks import listen

__all__ = ["CAPTURE", "OFF", "PASS", "PASS_HERE", "RUN_AS_IS", "Callback", "NativeHook", "Word", "native_hook"]


class _RunAsIs:
    """What `enter` returns to have the interpreter evaluate the frame."""

    def __repr__(self) -> str:
        return "RUN_AS_IS"


RUN_AS_IS: Any = _RunAsIs()


@dataclass(frozen=True)
class Word:
    """What is known about a code object, as it fits into 64 bits: eight for the kind, sixteen for the number of
    argument slots, the upper half for the callback whose opinion it is.

    >>> Word.of(int(Word(CAPTURE, owner=7, slots=2)))
    Word(kind=3, owner=7, slots=2)
    """

    kind: int
    owner: int = 0
    slots: int = 0

    def said_by(self, owner: int) -> Word:
        """PASS and OFF hold for everybody; the other two for the callback with this number."""
        return self if self.kind in (PASS, OFF) else Word(self.kind, owner, self.slots)

    def __int__(self) -> int:
        return self.kind | self.slots << 8 | self.owner << 32

    @classmethod
    def of(cls, word: int) -> Word:
        return cls(word & 0xFF, word >> 32, word >> 8 & 0xFFFF)


class _CallbackRecord(ctypes.Structure):
    """What the machine code knows of a callback. Never freed, since a frame under way may still come back to it."""

    _fields_ = [("enter", ctypes.c_void_p), ("judge", ctypes.c_void_p), ("owner", ctypes.c_int64)]


_records: list[_CallbackRecord] = []
_numbers = itertools.count(1)


class Callback:
    """Two functions that are asked about frames: `judge(function) -> Word`, and `enter(function, *slots)`, which gives
    the frame's result, or RUN_AS_IS. With CAPTURE and PASS_HERE, `judge` speaks for this callback only."""

    def __init__(self, judge: Callable[[FunctionType], Word], enter: Callable[..., Any]) -> None:
        owner = next(_numbers)
        self.owner = owner
        self.enter = enter
        native_hook().set_word(getattr(enter, "__func__", enter).__code__, Word(PASS))  # it must not stop itself
        self._judge = lambda function: int(judge(function).said_by(owner))
        self._record = _CallbackRecord(id(self.enter), id(self._judge), owner)
        _records.append(self._record)

    @property
    def address(self) -> int:
        """For `NativeHook.set_callback`; whoever sets it keeps the callback alive."""
        return ctypes.addressof(self._record)

    def __del__(self) -> None:
        self._record.enter = self._record.judge = None


class NativeHook:
    """The machine code, and the three things that Python does with it: put it in place, take it out, set a callback.

    There is one for the process, see `native_hook()`.
    """

    def __init__(self) -> None:
        old = sys.version_info[:2] == (3, 11)  # the functions had other names
        get, put, request = _EXTRA_NAMES_3_11 if old else _EXTRA_NAMES
        self._get_extra = _c_function(get, ctypes.c_int, ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p)
        self._put_extra = _c_function(put, ctypes.c_int, ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p)
        self._get_evaluator = _c_function("_PyInterpreterState_GetEvalFrameFunc", ctypes.c_void_p, ctypes.c_void_p)
        self._set_evaluator = _c_function(
            "_PyInterpreterState_SetEvalFrameFunc", None, ctypes.c_void_p, ctypes.c_void_p
        )
        self._interpreter = _c_function("PyInterpreterState_Get", ctypes.c_void_p)()
        self._index = ctypes.c_int64(_c_function(request, ctypes.c_ssize_t, ctypes.c_void_p)(None))
        if self._index.value < 0:
            raise RuntimeError("frame_hook: other tools have taken all extra words of code objects.")
        self._key, self._evaluator = _new_thread_key(), ctypes.c_void_p(None)
        places = {
            "key": ctypes.addressof(self._key),
            "index": ctypes.addressof(self._index),
            "evaluator": ctypes.addressof(self._evaluator),
            "RUN_AS_IS": id(RUN_AS_IS),
            "RuntimeError": id(RuntimeError),
            "get_extra": _address(get),
            "put_extra": _address(put),
        }
        self._machine_code = _compiled(hook_text(sys.version_info[:2], sys.platform), places)
        self._hook = self._machine_code.get_function_address("hook")
        # With the GIL held: another thread must not come in between.
        this_thread = ctypes.PYFUNCTYPE(ctypes.c_void_p)
        self._this_thread = this_thread(self._machine_code.get_function_address("this_thread"))

    @property
    def is_installed(self) -> bool:
        return self._get_evaluator(self._interpreter) == self._hook

    def install(self) -> None:
        """Makes the hook the evaluator of all frames; frames that pass go to the evaluator before it."""
        if not self.is_installed:
            self._evaluator.value = self._get_evaluator(self._interpreter)
            self._set_evaluator(self._interpreter, self._hook)

    def uninstall(self) -> None:
        """Brings the previous evaluator back. If somebody put a hook of his own on top, ours stays below, and
        passes."""
        if self.is_installed:
            self._set_evaluator(self._interpreter, self._evaluator.value)

    def set_callback(self, address: int | None) -> int | None:
        """Makes this thread's frames ask the callback at that address, None for nobody; gives the one before."""
        place = ctypes.c_void_p.from_address(self._this_thread())
        before, place.value = place.value, address
        return before

    def word_of(self, code: CodeType) -> Word:
        """What is known about a code object."""
        place = ctypes.c_int64(0)
        self._get_extra(code, self._index.value, ctypes.addressof(place))
        return Word.of(place.value)

    def set_word(self, code: CodeType, word: Word) -> None:
        """Keeps that from now on."""
        if self._put_extra(code, self._index.value, int(word)):
            raise MemoryError("frame_hook: no memory for the extra word of a code object.")


_EXTRA_NAMES = "PyUnstable_Code_GetExtra", "PyUnstable_Code_SetExtra", "PyUnstable_Eval_RequestCodeExtraIndex"
_EXTRA_NAMES_3_11 = "_PyCode_GetExtra", "_PyCode_SetExtra", "_PyEval_RequestCodeExtraIndex"


_made: list[NativeHook] = []  # for ever: frames may be on their way through it


def native_hook() -> NativeHook:
    """The process's hook, made when it is first wanted."""
    if not _made:
        hook = NativeHook()
        listen(lambda code, kind: hook.set_word(code, Word(kind if kind != CAPTURE else 0)))
        _made.append(hook)
    return _made[0]


def _new_thread_key() -> ctypes.c_int64:
    """A key for a value of each thread's own, freed when the thread ends."""
    key = ctypes.c_int64(0)  # an unsigned int on Linux, a long on macOS
    library = ctypes.CDLL(None)
    if library.pthread_key_create(ctypes.byref(key), ctypes.cast(library.free, ctypes.c_void_p)):
        raise RuntimeError("frame_hook: the operating system has no more thread-specific keys.")
    return key


def _c_function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of Python's C interface, called with the GIL held."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


def _address(name: str) -> int:
    """Where a function of Python's or of the C library lies in this process."""
    address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert address is not None
    return address


def _compiled(text: str, places: dict[str, int]) -> Any:
    """The engine that owns the machine code for the text. `places`: addresses of what is not a function of Python's."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in functions_of(text):
        places.setdefault(name, 0)
    for name, place in places.items():
        llvm.add_symbol(name, place or _address(name))
    # The large code model: Python's functions may lie further away than a short jump reaches.
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, codemodel="large")
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine
