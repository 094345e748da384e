"""Where CPython keeps things in a frame, and whether this interpreter is one that we know.

PEP 523 hands a hook the interpreter's own frame, a C structure whose layout changes from version to version. These are
the places, in bytes, of the three things that a hook reads. `why_not` says why a hook can't be had here, and looks at
a real frame before anything is installed.

>>> import sys
>>> layout_of(sys.version_info[:2]).slots in (72, 80)
True
>>> layout_of((3, 10)) is None
True
"""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import struct
import sys
import sysconfig
from dataclasses import dataclass
from types import FrameType, FunctionType

# The low bits of a pointer in a frame are tags from 3.14 on (a reference that is not counted).
POINTER_BITS = ~3


@dataclass(frozen=True)
class FrameLayout:
    """Offsets in `struct _PyInterpreterFrame`: the code object, the function object, the first local variable.

    `count` is one in the thread's state: what CPython counts down to a RecursionError.
    """

    code: int
    function: int
    slots: int
    count: int = 0


# From Include/internal/pycore_frame.h (pycore_interpframe_structs.h in 3.14) and Include/cpython/pystate.h, for 64-bit
# builds with a GIL. 3.14 looks at the stack itself and needs no count.
LAYOUTS = {
    (3, 11): FrameLayout(code=32, function=0, slots=72, count=32),
    (3, 12): FrameLayout(code=0, function=16, slots=72, count=36),
    (3, 13): FrameLayout(code=0, function=16, slots=72, count=52),
    (3, 14): FrameLayout(code=0, function=16, slots=80),
}
FRAME_OBJECT_TO_FRAME = 24  # in a frame object: two words of object header, f_back, then the pointer


def layout_of(version: tuple[int, int]) -> FrameLayout | None:
    """The layout of that version, None for one that nobody has looked at."""
    return LAYOUTS.get(version)


def why_not() -> str:
    """Why this interpreter can't be hooked; empty if it can.

    >>> why_not()
    ''
    """
    version = sys.version_info[:2]
    if platform.python_implementation() != "CPython":
        return f"PEP 523 is CPython's, and this is {platform.python_implementation()}"
    if layout_of(version) is None:
        known = ", ".join(f"{major}.{minor}" for major, minor in LAYOUTS)
        return f"the frame layout of Python {version[0]}.{version[1]} is not known, only those of {known}"
    if struct.calcsize("P") != 8:
        return "the frame layouts are known for 64-bit builds only"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "in a free-threaded build frames are laid out differently"
    if importlib.util.find_spec("llvmlite") is None:
        return "llvmlite, which makes the hook's machine code, is not installed"
    if sys.platform not in ("linux", "darwin"):
        return f"how deep the stack of a thread may grow is found out on Linux and macOS, not on {sys.platform}"
    return _why_not_this_frame("argument") or _why_not_this_thread()


def _why_not_this_frame(argument: str) -> str:
    """Looks at its own frame through the layout."""
    layout = LAYOUTS[sys.version_info[:2]]
    here = sys._getframe()
    start = frame_address(here)
    found = [pointer_at(start + offset) for offset in (layout.code, layout.function, layout.slots)]
    expected = [id(here.f_code), id(_why_not_this_frame), id(argument)]
    return (
        "" if found == expected else f"frames of this build of Python {sys.version.split()[0]} are laid out differently"
    )


def _why_not_this_thread() -> str:
    """The recursion limit lies beside the count in the thread's state."""
    layout = LAYOUTS[sys.version_info[:2]]
    if not layout.count:
        return ""
    state = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_Get", ctypes.pythonapi))()
    beside = layout.count + (4 if sys.version_info[:2] == (3, 11) else -4)
    if ctypes.c_int.from_address(state + beside).value == sys.getrecursionlimit():
        return ""
    return f"threads of this build of Python {sys.version.split()[0]} are laid out differently"


def frame_address(frame: FrameType) -> int:
    """Where the interpreter's own frame lies, behind a frame object."""
    return pointer_at(id(frame) + FRAME_OBJECT_TO_FRAME)


def pointer_at(address: int) -> int:
    """The pointer stored there, without its tags."""
    return ctypes.c_uint64.from_address(address).value & POINTER_BITS


def function_of(frame: FrameType) -> FunctionType:
    """The function object that a running frame belongs to, which Python itself does not tell.

    >>> def me():
    ...     return function_of(sys._getframe())
    >>> me() is me
    True
    """
    address = pointer_at(frame_address(frame) + LAYOUTS[sys.version_info[:2]].function)
    return ctypes.cast(address, ctypes.py_object).value
