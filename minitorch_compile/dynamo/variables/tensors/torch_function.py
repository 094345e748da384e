"""__torch_function__ while tracing: modes and classes that say what a call means are asked, and what they do is traced.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import Tensor, ones
>>> class Doubled(Tensor):
...     @classmethod
...     def __torch_function__(cls, func, types, args=(), kwargs=None):
...         result = super().__torch_function__(func, types, args, kwargs)
...         return result + result if func is Tensor.sin else result
>>> print(captured(lambda x: x.sin(), ones(2).as_subclass(Doubled)))
x -> sin = x.sin(); (sin.add(sin),)

The graph is one of plain tensors, and is called with overrides switched off. A result that lives on becomes an instance
of its class behind the graph. Which function the program called, and in which order it gave the arguments, is told by
the dispatcher: the call is made once on fakes, and whoever is asked writes it down.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from minitorch_compile import overrides as public
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import NamedTupleVariable, TupleVariable
from minitorch_compile.dynamo.variables.functions.fixed_functions import FixedFunctionVariable
from minitorch_compile.dynamo.variables.rebuilding import Description, Held, Template, held_class
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tensors.tensor_members import METHODS
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch import overrides
from minitorch_compile.tensor.dispatch.overrides import DisableTorchFunction, DisableTorchFunctionSubclass
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class Overrides:
    """What a trace has switched off, and the modes that it has entered, the innermost last."""

    def __init__(self, output: Output) -> None:
        self.modes: list[Value] = []
        self.subclasses_off = self.subclasses_off_before = overrides.state.subclasses_off
        self.all_off = self.all_off_before = overrides.state.all_off
        source = output.constant_source(overrides.state, "overrides_state")
        for name in ("subclasses_off", "all_off"):
            switch, value = AttrSource(source, name), getattr(overrides.state, name)
            output.guards.add(guards.identity(switch, value, output.names, name, "TORCH_FUNCTION_STATE"))

    @classmethod
    def of(cls, output: Output) -> Overrides:
        """Those of a trace; there are none before something overrides."""
        output.overrides = output.overrides or cls(output)
        return output.overrides

    def left_switched(self, state: str) -> list[str]:
        """Statements: what the frame leaves switched."""
        switches = {"subclasses_off": self.subclasses_off, "all_off": self.all_off}
        before = {"subclasses_off": self.subclasses_off_before, "all_off": self.all_off_before}
        return [f"{state}.{name} = {value}" for name, value in switches.items() if value != before[name]]

    @contextmanager
    def without_subclasses(self) -> Iterator[None]:
        """Inside, classes are not asked."""
        self.subclasses_off += 1
        try:
            yield
        finally:
            self.subclasses_off -= 1


class SubclassVariable(TensorVariable):
    """What the graph computes as a plain tensor, and the program has as an instance of a subclass."""

    def __init__(self, plain: TensorVariable, cls: type) -> None:
        super().__init__(plain.node, plain.fake, cls)
        self.plain = plain

    def reconstruct(self, output: Output) -> Description:
        return Template(self.plain, ".as_subclass(", held_class(self.cls), ")")


# ------------------------------------------------------------------------------------------ who is asked


def answered(output: Output, kind: str, target: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """What a call gives that a mode or the class of an argument overrides; None if nobody does."""
    known = output.overrides
    found = [] if known is not None and known.subclasses_off else _overriding([*args, *kwargs.values()])
    modes = known is not None and bool(known.modes) and not known.all_off
    if not found and not modes:
        return None
    func, given, named = _call_as_made(output, kind, target, args, kwargs)
    return ask(output.tracer, func, found, given, named)


def _overriding(values: Sequence[Value]) -> list[VariableTracker]:
    """The arguments, also in lists, that are asked: one for each class, in the order in which they are."""
    found: list[VariableTracker] = []
    for value in _all_in(values):
        cls = value.python_type()
        if cls not in overrides.PLAIN and cls not in overrides.VALUES and overrides.overrides(cls):
            if all(other.python_type() is not cls for other in found):
                place = next((i for i, x in enumerate(found) if issubclass(cls, x.python_type())), len(found))
                found.insert(place, value)
    return found


def _all_in(values: Sequence[Value]) -> Iterator[VariableTracker]:
    for value in values:
        tracked = value.realize()
        if type(tracked) in (TupleVariable, ListVariable):
            yield from _all_in(tracked.items)  # type: ignore[attr-defined]
        elif not isinstance(tracked, ConstantVariable):
            yield tracked


def ask(
    tracer: Tracer, func: Value, found: Sequence[VariableTracker], args: Sequence[Value], kwargs: dict[str, Value]
) -> Value:
    """Asks the innermost mode, then each of these. TypeError of the program if all answer NotImplemented."""
    state = Overrides.of(tracer.output)
    types = tracer.build("tuple", [tracer.output.wrap_constant(x.python_type(), "cls") for x in found])
    given = [func, types, tracer.build("tuple", list(args))]
    if kwargs:
        given.append(tracer.build_map([ConstantVariable(name) for name in kwargs], list(kwargs.values())))
    if state.modes and not state.all_off:
        mode = state.modes.pop()
        try:
            result = tracer.call(tracer.load_attr(mode, "__torch_function__"), given, {})
        finally:
            state.modes.append(mode)
        if not _is_not_implemented(result):
            return result
    for value in found:
        cls = tracer.output.wrap_constant(value.python_type(), value.python_type().__name__)
        result = tracer.call(tracer.load_attr(cls, "__torch_function__"), given, {})
        if not _is_not_implemented(result):
            return result
    raise Unsupported("unsupported-call", "all __torch_function__ handlers return NotImplemented.")


def _is_not_implemented(value: Value) -> bool:
    tracked = value.realize()
    return isinstance(tracked, ConstantVariable) and tracked.as_constant() is NotImplemented


# ------------------------------------------------------------------------------------------ what was called


class _Asked(BaseException):
    """The dispatcher asks somebody about this call."""

    def __init__(self, func: Any, given: Sequence[Any], named: dict[str, Any]) -> None:
        self.func = func
        self.given = given
        self.named = named


def _write_down(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    raise _Asked(func, args, kwargs or {})


@functools.cache
def _instance_class() -> type:
    """In the place of a tensor whose class is asked. Made late: where no class overrides, nobody is to be watched."""
    return type("Instance", (Tensor,), {"__torch_function__": staticmethod(_write_down)})


class _Object:
    """In the place of another object whose class is asked."""

    __torch_function__ = staticmethod(_write_down)


class _Mode(public.TorchFunctionMode):
    """Is asked where no class is."""

    __torch_function__ = staticmethod(_write_down)


class _StandIns:
    """Fakes and constants in the places of trackers, and back."""

    def __init__(self) -> None:
        self.trackers: dict[int, Value] = {}
        self.kept: list[Any] = []  # so that no other object gets the same id

    def of(self, tracer: Tracer, value: Value) -> Any:
        tracked = value.realize()
        if type(tracked) in (TupleVariable, ListVariable):
            return tracked.python_type()(self.of(tracer, item) for item in tracked.items)  # type: ignore[attr-defined]
        if isinstance(tracked, TensorVariable):
            return self._kept(_as_instance(tracked.fake) if _overriding([tracked]) else tracked.fake, tracked)
        if _overriding([tracked]):
            return self._kept(_Object(), tracked)
        return map_arg(tracer.graph_argument(value), lambda node: node.meta["val"])

    def _kept(self, stand_in: Any, tracked: Value) -> Any:
        self.kept.append(stand_in)
        self.trackers[id(stand_in)] = tracked
        return stand_in

    def back(self, output: Output, value: Any) -> Value:
        if id(value) in self.trackers:
            return self.trackers[id(value)]
        if type(value) in (tuple, list):
            return output.tracer.build(type(value).__name__, [self.back(output, item) for item in value])
        return output.from_python(value)


def _as_instance(fake: TensorBase) -> Any:
    result: Any = object.__new__(_instance_class())
    kept_by(result).update(kept_by(fake), storage=fake.storage)
    return result


def _call_as_made(
    output: Output, kind: str, target: Any, args: list[Value], kwargs: dict[str, Value]
) -> tuple[Value, list[Value], dict[str, Value]]:
    """The function that the program called, as the dispatcher names it, and the arguments."""
    stand_ins = _StandIns()
    given = [stand_ins.of(output.tracer, arg) for arg in args]
    named = {name: stand_ins.of(output.tracer, arg) for name, arg in kwargs.items()}
    try:
        with output.fakes.active():
            _made(kind, target, given, named)
    except _Asked as call:
        back = [stand_ins.back(output, arg) for arg in call.given]
        return _func(output, call.func), back, {name: stand_ins.back(output, arg) for name, arg in call.named.items()}
    raise Unsupported("unsupported-call", f"a call of {target} that a class overrides is not followed.")


def _func(output: Output, func: Any) -> Value:
    getter = getattr(func, "__self__", None)
    if isinstance(getter, property) and getter.fget is not None:
        return PropertyGetterVariable(func, getter.fget.__name__)
    return output.wrap_constant(func, getattr(func, "__name__", "func"))


class PropertyGetterVariable(FixedFunctionVariable):
    """Tensor.T.__get__"""

    def __init__(self, function: Any, property_name: str) -> None:
        super().__init__(function)
        self.property_name = property_name

    def describe(self) -> str:
        return f"Tensor.{self.property_name}.__get__"

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return tracer.load_attr(args[0], self.property_name)

    def reconstruct(self, output: Output) -> Description:
        return Template(Held(self.function, "getter"))


def _made(kind: str, target: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """The call, with somebody there who is asked."""
    call = getattr(args[0], target) if kind == "call_method" else target
    rest = args[1:] if kind == "call_method" else args
    if any(isinstance(x, (_instance_class(), _Object)) for x in _flat([*args, *kwargs.values()])):
        call(*rest, **kwargs)
    else:
        with _Mode():
            call(*rest, **kwargs)


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) in (list, tuple):
            yield from _flat(value)
        else:
            yield value


# ------------------------------------------------------------------------------------------ what subclasses do


@handles(vars(Tensor)["__torch_function__"].__func__)
def _as_for_tensors(
    tracer: Tracer, cls: Value, func: Value, types: Value, args: Value | None = None, kwargs: Value | None = None
) -> Value:
    """What Tensor's own `__torch_function__` does."""
    subclass = cls.realize().real_value()
    if not all(issubclass(subclass, each.realize().real_value()) for each in tracer.unpack_all(types)):
        return ConstantVariable(NotImplemented)
    given = [] if args is None else tracer.unpack_all(args)
    named = {} if kwargs is None or tracer.is_none(kwargs) else dict(tracer.mapping_items(kwargs))
    with Overrides.of(tracer.output).without_subclasses():
        result = tracer.call(func, given, {tracer.constant(name): value for name, value in named.items()})
    if func.realize().real_value() in overrides.get_default_nowrap_functions():
        return result
    instances = [x for x in _all_in([*given, *named.values()]) if isinstance(x, TensorVariable)]
    return _as_class(tracer, result, subclass, {id(x.fake): x for x in instances if issubclass(x.cls, subclass)})


def _as_class(tracer: Tracer, result: Value, cls: type, given: dict[int, TensorVariable]) -> Value:
    """The tensors of a result as instances of a subclass; an argument that comes back is the argument."""
    tracked = result.realize()
    if isinstance(tracked, TensorVariable):
        return given.get(id(tracked.fake)) or instance_of(tracked, cls)
    if type(tracked) in (TupleVariable, ListVariable, NamedTupleVariable):
        parts = [_as_class(tracer, part, cls, given) for part in tracked.items]  # type: ignore[attr-defined]
        if isinstance(tracked, NamedTupleVariable):
            return NamedTupleVariable(tracked.cls, parts)
        return tracer.build(tracked.python_type().__name__, parts)
    return result


def instance_of(tensor: TensorVariable, cls: type) -> TensorVariable:
    """The tensor as an instance of a subclass."""
    return tensor if issubclass(tensor.cls, cls) else SubclassVariable(tensor, cls)


def _as_subclass(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    cls = (args[0] if args else kwargs["cls"]).realize().real_value()
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise Unsupported("wrong-arguments", "as_subclass() takes a class of tensors.")
    with Overrides.of(tracer.output).without_subclasses():
        if cls is Tensor:
            return tracer.output.call("call_method", "view_as", [tensor, tensor], {})
    return SubclassVariable(tensor.plain if isinstance(tensor, SubclassVariable) else tensor, cls)


METHODS["as_subclass"] = _as_subclass


# ------------------------------------------------------------------------------------------ switches and modes


def _switches(function: Callable[..., Any], subclasses: int, everything: int) -> None:
    @handles(function)
    def rule(tracer: Tracer, manager: Value, *error: Value) -> Value:
        state = Overrides.of(tracer.output)
        state.subclasses_off += subclasses
        state.all_off += everything
        return ConstantVariable(None)


_switches(DisableTorchFunctionSubclass.__enter__, 1, 0)
_switches(DisableTorchFunctionSubclass.__exit__, -1, 0)
_switches(DisableTorchFunction.__enter__, 1, 1)
_switches(DisableTorchFunction.__exit__, -1, -1)


@handles(public.TorchFunctionMode.__init__)
def _mode_init(tracer: Tracer, mode: Value) -> Value:
    return ConstantVariable(None)


@handles(public.TorchFunctionMode.__enter__)
def _enter_mode(tracer: Tracer, mode: Value) -> Value:
    Overrides.of(tracer.output).modes.append(mode)
    return mode


@handles(public.TorchFunctionMode.__exit__)
def _exit_mode(tracer: Tracer, mode: Value, *error: Value) -> Value:
    modes = Overrides.of(tracer.output).modes
    if not modes or modes[-1].realize() is not mode.realize():
        raise Unsupported("unsupported-call", "a mode is left that the frame has not entered last.")
    modes.pop()
    return ConstantVariable(None)


# ------------------------------------------------------------------------------------------ torch.overrides


def _asks(tracer: Tracer, values: Sequence[Value]) -> Value:
    state = Overrides.of(tracer.output)
    if state.modes and not state.all_off:
        return ConstantVariable(True)
    return ConstantVariable(not state.subclasses_off and bool(_overriding(values)))


@handles(public.has_torch_function)
def _has_torch_function(tracer: Tracer, relevant_args: Value) -> Value:
    return _asks(tracer, tracer.unpack_all(relevant_args))


@handles(public.has_torch_function_unary, public.has_torch_function_variadic)
def _has_torch_function_variadic(tracer: Tracer, *args: Value) -> Value:
    return _asks(tracer, args)


@handles(public.handle_torch_function)
def _handle_torch_function(
    tracer: Tracer, public_api: Value, relevant_args: Value, *args: Value, **kwargs: Value
) -> Value:
    off = Overrides.of(tracer.output).subclasses_off
    found = [] if off else _overriding(tracer.unpack_all(relevant_args))
    return ask(tracer, public_api, found, args, kwargs)


@handles(public.is_tensor_like)
def _is_tensor_like(tracer: Tracer, inp: Value) -> Value:
    return ConstantVariable(hasattr(inp.realize().python_type(), "__torch_function__"))
