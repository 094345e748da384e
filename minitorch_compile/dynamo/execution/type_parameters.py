"""What `def f[T]`, `class C[T]` and `type A` make: type variables, generic bases, aliases (PEP 695, from 3.12 on).

No function of the standard library makes a type variable whose bound is evaluated when it is first asked for. CPython
has instructions for that, and so each of them becomes a function here, two instructions long.

>>> import sys
>>> if sys.version_info >= (3, 12):
...     T = type_intrinsic("TYPEVAR_WITH_BOUND")("T", lambda: int)
...     assert T.__bound__ is int
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import TYPE_INTRINSICS, Instruction


@functools.cache
def type_intrinsic(name: str) -> Callable[..., Any]:
    """The intrinsic function of CPython's interpreter as one that can be called."""
    count, _ = TYPE_INTRINSICS[name]
    program = decode((lambda v: (v,)).__code__ if count == 1 else (lambda v, w: (v, w)).__code__)
    steps = (Instruction("TYPE_PARAMETERS", name) if i.opname == "BUILD_TUPLE" else i for i in program.instructions)
    return types.FunctionType(assemble(replace(program, instructions=tuple(steps))), globals())
