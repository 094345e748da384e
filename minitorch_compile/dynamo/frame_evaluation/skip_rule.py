"""Which frames are worth capturing: the skip rule of the hook.

A frame is captured if it is a call of an ordinary function of the user's: not of Python's library, not of an installed
package (unless it is named), not of this package but for the entry points it has marked, and not a generator, a class
body or a module. And tensors must be in sight: among the arguments, inside them, or made by something of this
package that the function names. The first half depends on the code alone and is asked once, the second half at each
call until the function is compiled.

>>> import collections, json
>>> judge_code(json.loads, frozenset()) == PASS, judge_code(judge_code, frozenset()) == PASS
(True, True)
>>> judge_code(lambda x: x, frozenset()) == CAPTURE
True
>>> from minitorch_compile.tensor import ones
>>> sees_tensors(lambda x, y: x, (1, [ones(2)])), sees_tensors(lambda x: x, ("text",))
(True, False)
>>> sees_tensors(lambda: ones(3), ())
True

PyTorch's rule is of the same kind: trace_rules.py for the code, has_tensor_in_frame for the arguments. It captures
installed packages too.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from types import CodeType, FunctionType, ModuleType
from typing import Any

from minitorch_compile import config
from minitorch_compile.dynamo.bytecode.instructions import has_hidden_variables
from minitorch_compile.dynamo.frame_evaluation.ir import CAPTURE, OFF, PASS, PASS_HERE
from minitorch_compile.dynamo.variables.functions.skipped_modules import (
    is_library_code,
    is_traced_whole,
    reason_to_skip,
)
from minitorch_compile.dynamo.variables.objects.class_lookup import LIBRARY, is_library
from minitorch_compile.frame_marks import mark_of
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.tensor_base import TensorBase

STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
INSTALLED = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})
SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
FUNCTION_BODY = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
DECIDED_BY_HAND = ("_dynamo_disabled", "_dynamo_allowed", "_dynamo_constant")
DEPTH, MOST_ITEMS = 4, 64  # how far into containers and objects a tensor is looked for, and at how many items of each


def judge_code(function: FunctionType, include: Collection[str] | None) -> int:
    """PASS, OFF, PASS_HERE or CAPTURE. `include`: names of installed packages to capture, None for all of them."""
    code = function.__code__
    marked = mark_of(code)
    if marked is not None:
        return marked
    module = str(function.__globals__.get("__name__") or "")
    if is_library_code(code) and is_traced_whole(module):
        return OFF  # a transform that is not captured runs as it is, with everything in it
    if is_generated(code) or _is_standard(code) or is_library_code(code) or _is_made_by_library(code, module):
        return PASS
    if code.co_filename.startswith(INSTALLED) and include is not None and module.partition(".")[0] not in include:
        return PASS_HERE
    decided = reason_to_skip(code, module) is not None or any(mark in function.__dict__ for mark in DECIDED_BY_HAND)
    if decided or not is_ordinary(code):
        return PASS
    return CAPTURE


def is_ordinary(code: CodeType) -> bool:
    """A function's body that runs at once, not a generator's, a class's, a module's, a comprehension's; nor what makes
    type parameters, some of whose variables have no proper names."""
    is_body = code.co_flags & FUNCTION_BODY == FUNCTION_BODY and not code.co_flags & SUSPENDED
    return is_body and not has_hidden_variables(code)


def is_generated(code: CodeType) -> bool:
    """What the compiler has written; in memory, or in the folder that the option names."""
    folder = config.generated_source_folder
    return code.co_filename.startswith("<generated ") or bool(folder and code.co_filename.startswith(folder))


def _is_standard(code: CodeType) -> bool:
    name = code.co_filename
    return name.startswith("<frozen ") or (name.startswith(STANDARD_LIBRARY) and not name.startswith(INSTALLED))


def _is_made_by_library(code: CodeType, module: str) -> bool:
    """What a named tuple, or a dataclass of ours or of Python's, has without a file: __new__, __init__ and others."""
    top = module.partition(".")[0]
    has_no_user = top == LIBRARY or top in sys.stdlib_module_names or top.startswith("namedtuple_")
    return code.co_filename == "<string>" and has_no_user


ATOMS = (str, bytes, int, float, type, ModuleType, FunctionType)
# By the built-in class, past what a subclass overrides.
INSIDE: dict[type | tuple[type, ...], Callable[[Any], Iterable[Any]]] = {
    ATOMS: lambda value: (),
    list: lambda value: [*list.__iter__(value)],
    tuple: lambda value: [*tuple.__iter__(value)],
    set: lambda value: [*set.__iter__(value)],
    frozenset: lambda value: [*frozenset.__iter__(value)],
    dict: lambda value: [*dict.values(value)],
}


def sees_tensors(function: FunctionType, arguments: tuple[Any, ...]) -> bool:
    """Whether a call may have to do with tensors."""
    return _names_library(function) or any(holds_tensor(argument, DEPTH) for argument in arguments)


def _names_library(function: FunctionType) -> bool:
    """`torch.zeros(3)` makes a tensor of nothing, through a global that is this package, or comes from it."""
    scope = function.__globals__
    values = (scope.get(name) for name in function.__code__.co_names)
    return any(
        (issubclass(type(value), ModuleType) and str(vars(value).get("__name__")).partition(".")[0] == LIBRARY)
        or (issubclass(type(value), (Op, FunctionType, type)) and is_library(value))
        for value in values
    )


def holds_tensor(value: Any, depth: int) -> bool:
    """Whether it is a tensor, or leads to one in at most `depth` steps, each to an item or an attribute.

    >>> holds_tensor([1, {"x": None}], 4)
    False
    """
    if issubclass(type(value), TensorBase):
        return True
    return depth > 0 and any(holds_tensor(item, depth - 1) for item in islice(_inside(value), MOST_ITEMS))


def _inside(value: Any) -> Iterable[Any]:
    """Items of a container, values of a dict, attributes of an object; no code of the user's runs for it."""
    for base, items in INSIDE.items():
        if issubclass(type(value), base):
            return items(value)
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return ()
    return list(attributes.values()) if type(attributes) is dict else ()
