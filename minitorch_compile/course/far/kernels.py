"""A kernel of the other process's, for the simulator here: its text is brought, and none of it is run by Python.

The simulator interprets a syntax tree (`cuda_simulator/expressions.py`). It calls intrinsics, functions of elements of
NumPy's, conversions, and functions that it interprets, nothing else; so a judge may read what it would never run.

>>> def double(x):
...     x[0] *= 2
>>> kernel_here(double) is double  # it is here already
True
"""

from __future__ import annotations

import inspect
import linecache
import math
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.cuda import DeviceFunction
from minitorch_compile.cuda_simulator.expressions import CUDA

from .far import Far, text, whole
from .programs import all_codes

MODULES = {
    "numpy": np,
    "math": math,
    "numba.cuda": CUDA,
    "minitorch_compile.cuda_simulator.cuda": CUDA,
}
"""What kernels name, which is the same here; of all other modules each attribute is asked for."""


BROUGHT = "the kernel here"  # among what is known of a Far object; no attribute has such a name


def kernel_here(kernel: Any) -> Any:
    """The function that the simulator reads for `kernel`. TypeError if that one has no text in the learner's cells.

    It is brought once: all cases judge one text, whatever the other process would say the next time.
    """
    if not isinstance(kernel, Far):
        return kernel
    if BROUGHT not in kernel._values:
        kernel._values[BROUGHT] = Bringing().function(kernel)
    return kernel._values[BROUGHT]


class Bringing:
    """Functions that use each other, or themselves, are brought once."""

    def __init__(self) -> None:
        self.brought: dict[int, FunctionType] = {}

    def function(self, far: Any) -> FunctionType:
        far = getattr(far, "py_func", far)  # of one that a decorator of `cuda` has made
        if not (isinstance(far, Far) and isinstance(far, FunctionType)):
            raise TypeError("expected a Python function or a kernel made by cuda.jit")
        if far._number in self.brought:
            return self.brought[far._number]
        code = code_here(far)
        names = far._link.ask("call", inspect.getclosurevars, (far,), {})
        scope: dict[str, Any] = {"__name__": text(far.__module__)}
        cells = {name: CellType() for name in code.co_freevars}
        function = FunctionType(code, scope, code.co_name, None, tuple(cells.values()))
        self.brought[far._number] = function
        scope.update({text(name): self.value(each) for name, each in names.globals.items()})
        for name, each in names.nonlocals.items():
            if name in cells:
                cells[name].cell_contents = self.value(each)
        defaults, named = far.__defaults__, far.__kwdefaults__
        function.__defaults__ = defaults if type(defaults) is tuple else None
        function.__kwdefaults__ = named if type(named) is dict else None
        return function

    def value(self, value: Any) -> Any:
        """What a kernel finds under a name."""
        if isinstance(value, Far) and isinstance(value, ModuleType):
            return MODULES.get(text(value.__name__), value)
        if isinstance(value, Far) and isinstance(value, DeviceFunction):
            return DeviceFunction(self.function(value))
        if isinstance(value, Far) and isinstance(value, FunctionType):
            return self.function(value)
        return value


def code_here(far: Any) -> CodeType:
    """The code of a function, compiled from its text, and the text where `linecache` finds it."""
    file, first = text(far.__code__.co_filename), whole(far.__code__.co_firstlineno)
    lines = [text(line) for line in far._link.ask("call", linecache.getlines, (file,), {})]
    if not file.startswith("cell ") or not lines:
        raise TypeError(f"the simulator needs the text of {text(far.__name__)}, and finds none in your cells")
    source = "".join(lines)
    linecache.cache[file] = (len(source), None, lines, file)
    name = text(far.__code__.co_name)
    for code in all_codes(compile(source, file, "exec")):
        if (code.co_name, code.co_firstlineno) == (name, first):
            return code
    raise TypeError(f"line {first} of {file} defines no {name}")
