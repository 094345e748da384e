"""Plain Python as the domain: interpreting bytecode instead of letting CPython run it.

This interpreter defines what programs mean; the tracer, which shares its handlers, is tested against it. Every Python
function that is called on the way is interpreted too, and so are class bodies and generators; what is written in C is
called.

>>> def classify(numbers):
...     return {n: "even" if n % 2 == 0 else "odd" for n in numbers}
>>> interpret(classify, [1, 2])
{1: 'odd', 2: 'even'}

Known differences: a generator object has a type of its own; `sys._getframe` and `traceback` see the interpreter's
frames; special methods that C code looks up (`__add__`, `__iter__`, properties, sort keys) are run by CPython. Async
functions and type parameters are refused with `UnsupportedBytecode`.
"""

from __future__ import annotations

import builtins
import functools
import operator
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.decode_rules import UnsupportedBytecode
from minitorch_compile.dynamo.bytecode.instructions import NULL, Program
from minitorch_compile.dynamo.execution.binding import bind_arguments
from minitorch_compile.dynamo.execution.concrete_calls import FRAME_FUNCTIONS, build_class, function_name
from minitorch_compile.dynamo.execution.generators import InterpretedGenerator
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter

from . import exception_groups, matching

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
    "not": operator.not_,
}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
BUILD: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "list": list,
    "set": set,
    "slice": lambda items: slice(*items),
}
CONVERT: dict[str, Callable[[Any], str]] = {"str": str, "repr": repr, "ascii": ascii}


def interpret(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call the function, interpreting its bytecode and that of every Python function it calls.

    TypeError for what has no bytecode, such as `sorted`: call it inside a Python function.
    """
    if isinstance(function, types.MethodType):
        return interpret(function.__func__, function.__self__, *args, **kwargs)
    if not isinstance(function, types.FunctionType):
        raise TypeError(
            f"interpret: expected a Python function, got {function!r}, which has no bytecode; wrap the call in a lambda"
        )
    return call_function(function, args, kwargs, caller=None)


def interpret_module(code: types.CodeType, namespace: dict[str, Any]) -> None:
    """Execute a module's code object (`compile(source, name, "exec")`) in the namespace."""
    ConcreteInterpreter(decode(code), {}, namespace, namespace=namespace).run()


def call_function(
    function: types.FunctionType, args: Sequence[Any], kwargs: dict[str, Any], caller: ConcreteInterpreter | None
) -> Any:
    """One interpreted call: a new frame, run to its end."""
    slots = bind_arguments(function, args, kwargs)
    return function_frame(function, slots, caller).run()


def function_frame(
    function: types.FunctionType, slots: dict[str, Any], caller: ConcreteInterpreter | None, namespace: Any = None
) -> ConcreteInterpreter:
    """The frame of a call whose arguments are bound; the cells of outer functions go into its slots."""
    slots.update(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return ConcreteInterpreter(decode(function.__code__), slots, function.__globals__, caller, namespace)


class ConcreteInterpreter(BytecodeInterpreter):
    """A frame over plain Python objects.

    `namespace` is what a class or module body fills; `caller` is the frame whose `except` a bare `raise` may mean.
    """

    def __init__(
        self,
        program: Program,
        slots: dict[str, Any],
        module_globals: dict[str, Any],
        caller: ConcreteInterpreter | None = None,
        namespace: Any = None,
    ) -> None:
        super().__init__(program, slots)
        self.globals = module_globals
        found = module_globals.get("__builtins__", builtins)
        self.builtins: dict[str, Any] = found if isinstance(found, dict) else vars(found)
        self.caller = caller
        self.namespace = namespace
        self.raised_again: tuple[BaseException | None, types.TracebackType | None] = (None, None)

    # --- constants and names ------------------------------------------------------------------------------------------

    def load_const(self, value: object) -> Any:
        return value

    def load_global(self, name: str) -> Any:
        for scope in (self.globals, self.builtins):
            if name in scope:
                return scope[name]
        raise NameError(f"name {name!r} is not defined", name=name)

    def store_global(self, name: str, value: Any) -> None:
        self.globals[name] = value

    def delete_global(self, name: str) -> None:
        if name not in self.globals:
            raise NameError(f"name {name!r} is not defined", name=name)
        del self.globals[name]

    def load_name(self, name: str) -> Any:
        value = self.lookup(self.namespace, name)
        return self.load_global(name) if value is NULL else value

    def store_name(self, name: str, value: Any) -> None:
        self.namespace[name] = value

    def delete_name(self, name: str) -> None:
        if self.lookup(self.namespace, name) is NULL:
            raise NameError(f"name {name!r} is not defined", name=name)
        del self.namespace[name]

    def load_namespace(self) -> Any:
        return self.namespace

    def lookup(self, mapping: Mapping[str, Any], name: str) -> Any:
        try:
            return mapping[name]
        except KeyError:
            return NULL

    def load_build_class(self) -> Any:
        return self.builtins["__build_class__"]

    # --- slots and cells ----------------------------------------------------------------------------------------------

    def unbound(self, name: str) -> NoReturn:
        if name in self.program.code.co_freevars:
            where = "where it is not associated with a value in enclosing scope"
            raise NameError(f"cannot access free variable {name!r} {where}", name=name)
        raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")

    def make_cell(self, content: Any) -> types.CellType:
        return types.CellType() if content is NULL else types.CellType(content)

    def load_cell(self, cell: types.CellType) -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return NULL

    def store_cell(self, cell: types.CellType, content: Any) -> None:
        if content is NULL:
            del cell.cell_contents
        else:
            cell.cell_contents = content

    # --- attributes, items, operators ---------------------------------------------------------------------------------

    def load_attr(self, obj: Any, name: str) -> Any:
        return getattr(obj, name)

    def store_attr(self, obj: Any, name: str, value: Any) -> None:
        setattr(obj, name, value)

    def delete_attr(self, obj: Any, name: str) -> None:
        delattr(obj, name)

    def load_special(self, obj: Any, name: str) -> Any:
        return special_method(obj, name)

    def getitem(self, obj: Any, key: Any) -> Any:
        return obj[key]

    def setitem(self, obj: Any, key: Any, value: Any) -> None:
        obj[key] = value

    def delitem(self, obj: Any, key: Any) -> None:
        del obj[key]

    def unary(self, op: str, a: Any) -> Any:
        return UNARY[op](a)

    def binary(self, op: str, a: Any, b: Any) -> Any:
        return BINARY[op](a, b)

    def inplace(self, op: str, a: Any, b: Any) -> Any:
        return INPLACE[op](a, b)

    def compare(self, op: str, a: Any, b: Any) -> Any:
        return COMPARE[op](a, b)

    def is_(self, a: Any, b: Any) -> bool:
        return a is b

    def contains(self, item: Any, container: Any) -> bool:
        return item in container

    def truth(self, value: Any) -> bool:
        return bool(value)

    def is_none(self, value: Any) -> bool:
        return value is None

    # --- building and taking apart ------------------------------------------------------------------------------------

    def build(self, kind: str, items: list[Any]) -> Any:
        return BUILD[kind](items)

    def build_map(self, keys: list[Any], values: list[Any]) -> dict[Any, Any]:
        return dict(zip(keys, values, strict=True))

    def build_string(self, parts: list[str]) -> str:
        return "".join(parts)

    def list_append(self, target: list[Any], item: Any) -> None:
        target.append(item)

    def list_extend(self, target: list[Any], iterable: Any) -> None:
        target.extend([*iterable])

    def list_to_tuple(self, target: list[Any]) -> tuple[Any, ...]:
        return tuple(target)

    def set_add(self, target: set[Any], item: Any) -> None:
        target.add(item)

    def set_update(self, target: set[Any], iterable: Any) -> None:
        target.update(iterable)

    def map_add(self, target: dict[Any, Any], key: Any, value: Any) -> None:
        target[key] = value

    def dict_update(self, target: dict[Any, Any], mapping: Any) -> None:
        target.update({**mapping})

    def dict_merge(self, target: dict[Any, Any], mapping: Any, function: Any) -> None:
        if not hasattr(mapping, "keys"):
            came = type(mapping).__name__
            raise TypeError(f"{function_name(function)} argument after ** must be a mapping, not {came}")
        for key in mapping.keys():  # noqa: SIM118 (any object with keys() and [] is a mapping here)
            if key in target:
                raise TypeError(f"{function_name(function)} got multiple values for keyword argument {key!r}")
            target[key] = mapping[key]

    def unpack(self, iterable: Any, count: int) -> Sequence[Any]:
        return _unpacker(count, None)(iterable)

    def unpack_ex(self, iterable: Any, before: int, after: int) -> Sequence[Any]:
        return _unpacker(before, after)(iterable)

    def convert_value(self, value: Any, conversion: str) -> str:
        return CONVERT[conversion](value)

    def format_value(self, value: Any, spec: Any) -> str:
        return format(value) if spec is NULL else format(value, spec)

    # --- iteration and calls ------------------------------------------------------------------------------------------

    def get_iter(self, iterable: Any) -> Any:
        return iter(iterable)

    def next_item(self, iterator: Any) -> tuple[bool, Any]:
        try:
            return True, next(iterator)
        except StopIteration:
            return False, None

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if isinstance(function, types.MethodType) and not isinstance(function.__self__, InterpretedGenerator):
            return self.call(function.__func__, [function.__self__, *args], kwargs)
        if isinstance(function, types.FunctionType):
            return call_function(function, args, kwargs, caller=self)
        if function is builtins.__build_class__:
            return build_class(self, *args, **kwargs)
        if isinstance(function, type) and _has_python_constructor(function):
            return self._instantiate(function, args, kwargs)
        if _is_builtin(function) and function in FRAME_FUNCTIONS:
            return FRAME_FUNCTIONS[function](self, *args, **kwargs)
        return function(*args, **kwargs)

    def call_unpacked(self, function: Any, args: Any, kwargs: Any) -> Any:
        if not hasattr(args, "__iter__") and not hasattr(args, "__getitem__"):
            came = type(args).__name__
            raise TypeError(f"{function_name(function)} argument after * must be an iterable, not {came}")
        return self.call(function, list(args), {} if kwargs is NULL else kwargs)

    def _instantiate(self, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What `type.__call__` does, with __new__ and __init__ interpreted."""
        instance = self.call(cls.__new__, [cls, *args], kwargs)
        if isinstance(instance, cls):
            result = self.call(type(instance).__init__, [instance, *args], kwargs)
            if result is not None:
                raise TypeError(f"__init__() should return None, not {type(result).__name__!r}")
        return instance

    def make_function(self, code: types.CodeType, attributes: dict[str, Any]) -> types.FunctionType:
        function = types.FunctionType(code, self.globals, None, attributes.get("defaults"), attributes.get("closure"))
        function.__kwdefaults__ = attributes.get("kwdefaults")
        annotations = attributes.get("annotations", {})
        if isinstance(annotations, tuple):  # name, value, name, value, ...
            annotations = dict(zip(annotations[::2], annotations[1::2], strict=True))
        if annotations:
            function.__annotations__ = annotations
        if "annotate" in attributes:
            function.__annotate__ = attributes["annotate"]  # type: ignore[attr-defined]
        return function

    # --- exceptions ---------------------------------------------------------------------------------------------------

    def caught(self, error: BaseException) -> BaseException | None:
        if isinstance(error, UnsupportedBytecode):
            return None
        again, trace = self.raised_again
        if error is again:
            error.__traceback__ = trace
        elif error.__context__ is None:
            self.chain(error)
        self.raised_again = None, None
        return error

    def handled_exception(self) -> Any:
        """The exception that the innermost `except` on the call stack is handling, NULL if none."""
        frame: ConcreteInterpreter | None = self
        while frame is not None and frame.handled is NULL:
            frame = frame.caller
        return NULL if frame is None else frame.handled

    def chain(self, error: BaseException) -> None:
        """The exception being handled becomes the context of a new one, without making a circle."""
        handled = self.handled_exception()
        if handled is NULL or handled is error:
            return
        link = handled
        while link.__context__ is not None and link.__context__ is not error:
            link = link.__context__
        link.__context__ = None
        error.__context__ = handled

    def raise_(self, exception: Any, cause: Any) -> NoReturn:
        if exception is NULL:
            exception = self.handled_exception()
            if exception is NULL:
                raise RuntimeError("No active exception to reraise")
            self.reraise(exception)
        if isinstance(exception, BaseException):
            self.chain(exception)
        if cause is NULL:
            raise exception
        raise exception from cause

    def reraise(self, exception: BaseException) -> NoReturn:
        self.raised_again = exception, exception.__traceback__  # raising again leaves no new trace
        raise exception

    def exception_matches(self, exception: BaseException, classes: Any) -> bool:
        return exception_groups.matches(exception, classes)

    def exception_group_split(self, exception: BaseException, classes: Any) -> tuple[Any, Any]:
        return exception_groups.split_group(exception, classes)

    def exception_group_join(self, original: BaseException, raised: list[Any]) -> Any:
        return exception_groups.join_raised(original, raised)

    def exception_info(self, exception: BaseException) -> list[Any]:
        return [type(exception), exception, exception.__traceback__]

    def stop_iteration_value(self, exception: BaseException) -> tuple[bool, Any]:
        return isinstance(exception, StopIteration), getattr(exception, "value", None)

    def stop_iteration_error(self, exception: BaseException) -> BaseException:
        if not isinstance(exception, StopIteration):
            return exception
        error = RuntimeError("generator raised StopIteration")
        error.__cause__ = error.__context__ = exception
        return error

    # --- generators, match, import ------------------------------------------------------------------------------------

    def make_generator(self) -> InterpretedGenerator:
        return InterpretedGenerator(self)

    def get_yield_from_iter(self, iterable: Any) -> Any:
        return iter(iterable)

    def send(self, receiver: Any, value: Any) -> tuple[bool, Any]:
        try:
            return True, next(receiver) if value is None else receiver.send(value)
        except StopIteration as stop:
            return False, stop.value

    def get_len(self, subject: Any) -> int:
        return len(subject)

    def match_mapping(self, subject: Any) -> bool:
        return matching.match_mapping(subject)

    def match_sequence(self, subject: Any) -> bool:
        return matching.match_sequence(subject)

    def match_keys(self, subject: Any, keys: Any) -> Any:
        return matching.match_keys(subject, keys)

    def match_class(self, subject: Any, cls: Any, positional: int, names: Any) -> Any:
        return matching.match_class(subject, cls, positional, names)

    def import_name(self, name: str, fromlist: Any, level: int) -> Any:
        return self.builtins["__import__"](name, self.globals, self.namespace, fromlist, level)

    def import_from(self, module: Any, name: str) -> Any:
        missing = object()
        module_name = getattr(module, "__name__", "<unknown module name>")
        value = getattr(module, name, sys.modules.get(f"{module_name}.{name}", missing))
        if value is not missing:
            return value
        path = getattr(module, "__file__", None)
        where = path or "unknown location"
        raise ImportError(f"cannot import name {name!r} from {module_name!r} ({where})", name=module_name, path=path)

    def import_star(self, module: Any) -> None:
        public = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        self.namespace.update({name: getattr(module, name) for name in public})


def special_method(obj: Any, name: str) -> Any:
    """`__enter__` or `__exit__`, looked up on the type and bound."""
    cls = type(obj)
    for base in cls.__mro__:
        if name in vars(base):
            method = vars(base)[name]
            return method.__get__(obj, cls) if hasattr(method, "__get__") else method
    with obj:  # CPython's own error: each version words it differently
        raise AssertionError(f"{cls} has no {name} and yet was entered")


def _has_python_constructor(cls: type) -> bool:
    """Whether making an instance goes through a Python `__new__` or `__init__`, and through nothing else of Python."""
    plain_call = type(cls).__call__ is type.__call__
    methods = [getattr(cls, name) for name in ("__new__", "__init__")]
    return plain_call and any(isinstance(method, types.FunctionType) for method in methods)


def _is_builtin(function: Any) -> bool:
    return isinstance(function, types.BuiltinFunctionType | type)


@functools.cache
def _unpacker(before: int, after: int | None) -> Callable[[Any], Sequence[Any]]:
    """A function that unpacks as the assignment `a, b, *rest, c = value` does, with CPython's own checks and
    messages."""
    names = [f"v{i}" for i in range(before + (after or 0))]
    targets = [*names[:before], *(["*rest"] if after is not None else []), *names[before:]]
    source = (
        f"def unpack(value):\n    [{', '.join(targets)}] = value\n    return [{', '.join(targets).replace('*', '')}]"
    )
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace["unpack"]
