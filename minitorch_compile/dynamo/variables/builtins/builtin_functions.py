"""Rules for Python's built-in functions: attributes, types, text, and those that always break.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: x * getattr(x, "nothing", 3) if isinstance(x, type(x)) else x, ones(2)))
x -> (x * 3,)
"""

from __future__ import annotations

import abc
import builtins
import functools
import inspect
import logging
import sys
import time
import warnings
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.class_guards import note_order
from minitorch_compile.dynamo.guards.source import ConstantSource
from minitorch_compile.dynamo.variables.base import MISSING, ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable
from minitorch_compile.dynamo.variables.functions.functions import MethodVariable, PartialVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import (
    Found,
    bind_class_attribute,
    guard_found,
    is_library,
    look_up,
)
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable
from minitorch_compile.dynamo.variables.objects.instance_dict import InstanceDictVariable
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.objects.supers import SuperVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import warn_user

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

NONE = ConstantVariable(None)

# --- attributes -------------------------------------------------------------------------------------------------------


@handles(getattr)
def _getattr(tracer: Tracer, obj: Value, name: Value, default: Value | None = None) -> Value:
    text = _attribute_name(tracer, name)
    if default is None:
        return tracer.load_attr(obj, text)
    found = _attribute_or_none(tracer, obj, text)
    return default if found is None else found


def _attribute_name(tracer: Tracer, name: Value) -> str:
    text = tracer.constant(name)
    if not isinstance(text, str):
        tracer.raise_error(TypeError, f"attribute name must be string, not '{type(text).__name__}'")
    return text


def _attribute_or_none(tracer: Tracer, obj: Value, name: str) -> Value | None:
    try:
        return tracer.load_attr(obj, name)
    except ObservedException as error:
        if not issubclass(error.value.python_type(), AttributeError):
            raise
        return None


@handles(hasattr)
def _hasattr(tracer: Tracer, obj: Value, name: Value) -> Value:
    text, tracked = _attribute_name(tracer, name), obj.realize()
    found = look_up(tracked.cls, text) if isinstance(tracked, TensorVariable) else None
    if found is not None and is_library(found.owner):  # whatever the value is
        guard_found(tracer, found)
        return ConstantVariable(True)
    return ConstantVariable(_attribute_or_none(tracer, tracked, text) is not None)


@handles(setattr)
def _setattr(tracer: Tracer, obj: Value, name: Value, value: Value) -> Value:
    tracer.store_attr(obj, _attribute_name(tracer, name), value)
    return NONE


@handles(delattr)
def _delattr(tracer: Tracer, obj: Value, name: Value) -> Value:
    tracer.delete_attr(obj, _attribute_name(tracer, name))
    return NONE


@handles(vars)
def _vars(tracer: Tracer, obj: Value) -> Value:
    tracked = obj.realize()
    if isinstance(tracked, UserObjectVariable):
        if not tracked.cls.__dictoffset__:
            tracer.raise_error(TypeError, "vars() argument must have __dict__ attribute")
        return InstanceDictVariable(tracked)
    tracked.unsupported("vars()")


# --- types ------------------------------------------------------------------------------------------------------------


@handles(type)
def _type(tracer: Tracer, obj: Value, *rest: Value) -> Value:
    if rest:
        raise Unsupported("unsupported-syntax", "making a class while tracing is not followed.")
    cls = obj.realize().python_type()
    return tracer.output.wrap_constant(cls, cls.__name__)


def _class_list(tracer: Tracer, classes: Value) -> list[Any]:
    """What stands as second argument of isinstance(): a class, a tuple of such, a union."""
    tracked = classes.realize()
    if isinstance(tracked, TupleVariable):
        return [cls for item in tracked.items for cls in _class_list(tracer, item)]
    value = tracked.real_value()
    if value is MISSING:
        tracked.unsupported("as a class")
    return list(value.__args__) if hasattr(value, "__args__") and not isinstance(value, type) else [value]


@handles(isinstance)
def _isinstance(tracer: Tracer, obj: Value, classes: Value) -> Value:
    tracked = obj.realize()
    cls = tracked.python_type()
    for wanted in _class_list(tracer, classes):
        if not isinstance(wanted, type):
            tracer.compute(isinstance, None, wanted)  # which says what is wrong
        custom = _own_check(wanted, "__instancecheck__")
        if custom is not None:
            metaclass_method = bind_class_attribute(
                tracer, tracer.output.wrap_constant(wanted, "cls").realize(), custom
            )
            if tracer.truth(tracer.call(metaclass_method, [tracked], {})):
                return ConstantVariable(True)
        elif cls is wanted or _is_subclass_by(tracer, tracked, wanted):
            return ConstantVariable(True)
    return ConstantVariable(False)


def _is_subclass_by(tracer: Tracer, tracked: VariableTracker, wanted: Any) -> bool:
    """An abstract base class always asks the object for its class, others when the real class is none of theirs."""
    real = tracked.python_type()
    if isinstance(wanted, abc.ABCMeta):
        claimed = _claimed_class(tracer, tracked)
        return _is_subclass(tracer, claimed, wanted) or claimed is not real and _is_subclass(tracer, real, wanted)
    return _is_subclass(tracer, real, wanted) or _is_subclass(tracer, _claimed_class(tracer, tracked), wanted)


def _claimed_class(tracer: Tracer, tracked: VariableTracker) -> type:
    """What the object itself says of its class, through a `__class__` or `__getattribute__` in Python."""
    cls = tracked.python_type()
    found = look_up(cls, "__getattribute__")
    if not _in_python(look_up(cls, "__class__")) and (not _in_python(found) or issubclass(cls, TensorBase)):
        return cls
    if not isinstance(tracked, UserObjectVariable):
        tracked.unsupported("isinstance()")
    claimed = tracer.constant(tracer.load_attr(tracked, "__class__"))
    return claimed if isinstance(claimed, type) else cls


def _in_python(found: Found | None) -> bool:
    return found is not None and isinstance(found.value, (FunctionType, property))


@handles(issubclass)
def _issubclass(tracer: Tracer, cls: Value, classes: Value) -> Value:
    real = tracer.constant(cls)
    for wanted in _class_list(tracer, classes):
        custom = _own_check(wanted, "__subclasscheck__")
        if custom is not None:
            check = bind_class_attribute(tracer, tracer.output.wrap_constant(wanted, "cls").realize(), custom)
            if tracer.truth(tracer.call(check, [cls], {})):
                return ConstantVariable(True)
        elif _is_subclass(tracer, real, wanted):
            return ConstantVariable(True)
    return ConstantVariable(False)


def _own_check(wanted: Any, name: str) -> Found | None:
    """The method by which a metaclass in Python decides; None for what `type` and ABCMeta do."""
    found = look_up(type(wanted), name)
    return (
        found
        if found is not None and isinstance(found.value, FunctionType) and found.owner is not abc.ABCMeta
        else None
    )


def _is_subclass(tracer: Tracer, cls: type, wanted: Any) -> bool:
    """Decided by the order of resolution, or by an ABC: which classes are registered with it is asked again."""
    answer = bool(tracer.compute(issubclass, cls, wanted))
    if isinstance(wanted, abc.ABCMeta):
        names = tracer.output.names
        check = f"{names.install(issubclass, 'issubclass')}({names.install(cls, cls.__name__)}, {{0}}) is {answer}"
        source = tracer.output.constant_source(wanted, wanted.__name__)
        tracer.output.guards.add(guards.Guard(source, "SUBCLASS", check, str(answer), actual=str(not answer)))
    else:
        note_order(cls)
    return answer


@handles(callable)
def _callable(tracer: Tracer, obj: Value) -> Value:
    return tracer.is_callable(obj)


@handles(super)
def _super(tracer: Tracer, *args: Value) -> Value:
    problem = "" if args else tracer.super_problem()
    if problem:
        tracer.raise_error(RuntimeError, problem)
    cls, instance = args or tracer.super_arguments()
    start = cls.realize()
    if not isinstance(start, ClassVariable):
        start.unsupported("super()")
    assert isinstance(start, ClassVariable)
    return SuperVariable(start.cls, instance.realize())


@handles(object)
def _object(tracer: Tracer) -> Value:
    return UserObjectVariable(object)


@handles(object.__new__)
def _object_new(tracer: Tracer, cls: Value, *args: Value, **kwargs: Value) -> Value:
    return UserObjectVariable(tracer.constant(cls))


@handles(MethodType)
def _method_type(tracer: Tracer, function: Value, owner: Value) -> Value:
    return MethodVariable(function, owner)


@handles(functools.partial)
def _partial(tracer: Tracer, function: Value, *args: Value, **kwargs: Value) -> Value:
    return PartialVariable(function, list(args), kwargs)


@handles(property, staticmethod, classmethod)
def _descriptor(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
    raise Unsupported("unsupported-syntax", "making a class while tracing is not followed.")


# --- text -------------------------------------------------------------------------------------------------------------


@handles(str)
def _str(
    tracer: Tracer,
    object: Value = ConstantVariable(""),
    encoding: Value | None = None,
    errors: Value | None = None,
) -> Value:
    decoding = {name: tracer.constant(v) for name, v in (("encoding", encoding), ("errors", errors)) if v is not None}
    if decoding:
        return ConstantVariable(tracer.compute(str, tracer.constant(object), **decoding))
    return tracer.convert_value(object, "str")


@handles(repr)
def _repr(tracer: Tracer, value: Value) -> Value:
    return tracer.convert_value(value, "repr")


@handles(ascii)
def _ascii(tracer: Tracer, value: Value) -> Value:
    return tracer.convert_value(value, "ascii")


@handles(format)
def _format(tracer: Tracer, value: Value, spec: Value = ConstantVariable("")) -> Value:
    if not isinstance(tracer.constant(spec), str):
        tracer.raise_error(TypeError, f"format() argument 2 must be str, not {spec.realize().python_type().__name__}")
    return tracer.format_value(value, spec)


# --- exceptions -------------------------------------------------------------------------------------------------------


@handles(sys.exception)
def _exception(tracer: Tracer) -> Value:
    """What the innermost `except` is handling; outside of any in the traced program, nothing, which is guarded."""
    handled = tracer.output.tracer.handled_here_or_above()
    if handled is not NULL:
        return handled
    if tracer.output.is_handling_outside:
        raise Unsupported("outside-state", "sys.exception() asks for an exception that a caller is handling.")
    source = ConstantSource(tracer.output.names.install(sys.exception, "sys_exception"))
    tracer.output.guards.add(guards.Guard(source, "HANDLED_EXCEPTION", "{0}() is None", "no exception is handled"))
    return NONE


@handles(sys.exc_info)
def _exc_info(tracer: Tracer) -> Value:
    handled = _exception(tracer)
    return TupleVariable([NONE] * 3 if tracer.is_none(handled) else tracer.exception_info(handled))


# --- hashing ----------------------------------------------------------------------------------------------------------


@handles(hash)
def _hash(tracer: Tracer, value: Value) -> Value:
    tracked = value.realize()
    if isinstance(tracked, TensorVariable) or not tracked.is_constant():
        tracked.unsupported("hash()")
    tracked.hash_key(tracer)
    return ConstantVariable(tracer.compute(hash, tracked.as_constant()))


# --- what acts on the world outside -----------------------------------------------------------------------------------


@handles(warnings.warn)
def _warn(
    tracer: Tracer,
    message: Value,
    category: Value | None = None,
    stacklevel: Value = ConstantVariable(1),
    source: Value | None = None,
    **rest: Value,
) -> Value:
    error = Unsupported("input-output", "warn() writes while tracing, before the values exist.")
    error.asks_callers = max(0, int(tracer.constant(stacklevel)) - 1)
    raise error


@handles(warn_user)
def _warn_user(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
    raise tracer.at_users_line(
        Unsupported("input-output", "a warning is shown while tracing, before the values exist.")
    )


@handles(sys._getframe, inspect.currentframe)
def _getframe(tracer: Tracer, depth: Value = ConstantVariable(0)) -> Value:
    error = Unsupported("outside-state", "_getframe() gives a frame of the running program.")
    error.asks_callers = max(1, int(tracer.constant(depth)))  # from any frame its caller can be reached
    raise error


def _refuse(reason: str, detail: str, *functions: Any) -> None:
    """These functions always break the graph."""
    for function in functions:

        def rule(tracer: Tracer, *args: Value, name: str = function.__name__, **kwargs: Value) -> Value:
            raise Unsupported(reason, f"{name}() {detail}")

        handles(function)(rule)


_refuse("input-output", "writes while tracing, before the values exist.", print, open, input, builtins.breakpoint)
_refuse("input-output", "writes while tracing.", logging.debug, logging.info, logging.warning, logging.error)
_refuse("outside-state", "depends on the clock.", time.time, time.perf_counter, time.monotonic, time.sleep)
_refuse("unsupported-call", "works on the names of the running program.", globals, locals, eval, exec, compile, dir)
