"""Plain Python as the domain: interpreting bytecode instead of letting CPython run it.

This interpreter defines what programs mean; the tracer, which shares its handlers, is tested against it. Every Python
function that is called on the way is interpreted too, and so are class bodies and generators; what is written in C is
called.

>>> def classify(numbers):
...     return {n: "even" if n % 2 == 0 else "odd" for n in numbers}
>>> interpret(classify, [1, 2])
{1: 'odd', 2: 'even'}

So are modules, and what is typed at the prompt:

>>> interpret(compile("total = 0\\nfor n in (1, 2): total += n", "a module", "exec"), names := {})
>>> interpret(compile("total + 1", "the prompt", "single"), names)
4

Known differences: special methods that C code looks up (`__add__`, `__iter__`, properties, sort keys) are run by
CPython; a frame object shows what its frame was like when it was asked for. Template strings are refused with
`UnsupportedBytecode`.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.decode_rules import UnsupportedBytecode
from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction, Program
from minitorch_compile.dynamo.execution.binding import bind_arguments
from minitorch_compile.dynamo.execution.concrete_calls import FRAME_FUNCTIONS, build_class, function_name
from minitorch_compile.dynamo.execution.frame_objects import traceback_here, traceback_left, view_of, without_host
from minitorch_compile.dynamo.execution.generators import PREFIXES, Delegated, Suspended, make_suspended
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter
from minitorch_compile.dynamo.execution.type_parameters import type_intrinsic

from . import awaiting, exception_groups, importing, matching

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


def interpret(function: Callable[..., Any] | types.CodeType, /, *args: Any, **kwargs: Any) -> Any:
    """Call the function, interpreting its bytecode and that of every Python function it calls. For a code object made
    by `compile`, the arguments are the globals and the locals, as for `exec` and `eval`.

    TypeError for what has no bytecode, such as `sorted`: call it inside a Python function.
    """
    if isinstance(function, types.MethodType):
        return interpret(function.__func__, function.__self__, *args, **kwargs)
    if not isinstance(function, types.FunctionType | types.CodeType):
        raise TypeError(
            f"interpret: expected a Python function, got {function!r}, which has no bytecode; wrap the call in a lambda"
        )
    try:
        if isinstance(function, types.CodeType):
            return run_code(function, *args, **kwargs)
        return call_function(function, args, kwargs)
    except BaseException as error:
        error.__traceback__ = without_host(error.__traceback__)
        raise


def interpret_module(code: types.CodeType, namespace: dict[str, Any]) -> None:
    """Execute a module's code object (`compile(source, name, "exec")`) in the namespace."""
    interpret(code, namespace)


def run_code(code: types.CodeType, globals: dict[str, Any] | None = None, locals: Any = None) -> Any:
    """What `exec` and `eval` do with a code object; the value of an expression."""
    if code.co_freevars:
        raise TypeError(
            f"interpret: the code object {code.co_name!r} has free variables, which only a function gives it"
        )
    names: dict[str, Any] = {"__name__": "__main__"} if globals is None else globals
    names.setdefault("__builtins__", vars(builtins))
    return ConcreteInterpreter(decode(code), {}, names, namespace=names if locals is None else locals).run()


def call_function(function: types.FunctionType, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """One interpreted call: a new frame, run to its end."""
    return function_frame(function, bind_arguments(function, args, kwargs)).run()


def function_frame(function: types.FunctionType, slots: dict[str, Any], namespace: Any = None) -> ConcreteInterpreter:
    """The frame of a call whose arguments are bound; the cells of outer functions go into its slots."""
    code = function.__code__
    slots.update(zip(code.co_freevars, function.__closure__ or (), strict=True))
    if namespace is None and not code.co_flags & inspect.CO_OPTIMIZED:
        namespace = function.__globals__  # a function made of a module's code
    frame = ConcreteInterpreter(decode(code), slots, function.__globals__, namespace)
    frame.named = function.__name__, function.__qualname__
    return frame


class _Running(threading.local):
    """The frame that each thread is running, None if it runs none."""

    frame: ConcreteInterpreter | None = None


_running = _Running()


class ConcreteInterpreter(BytecodeInterpreter):
    """A frame over plain Python objects.

    `namespace` is what a class or module body fills; `caller` is the frame below, whose `except` a bare `raise` may
    mean.
    """

    def __init__(
        self,
        program: Program,
        slots: dict[str, Any],
        module_globals: dict[str, Any],
        namespace: Any = None,
    ) -> None:
        super().__init__(program, slots)
        self.globals = module_globals
        found = module_globals.get("__builtins__", builtins)
        self.builtins: dict[str, Any] = found if isinstance(found, dict) else vars(found)
        self.caller: ConcreteInterpreter | None = _running.frame
        self.namespace = namespace
        self.named = program.code.co_name, program.code.co_qualname
        self.raised_again: tuple[BaseException | None, types.TracebackType | None] = (None, None)
        self.shown: list[types.FrameType] = []  # as what tracebacks show this frame

    def run(self) -> Any:
        self.caller, _running.frame = _running.frame, self
        try:
            while self.outcome is None:
                self.step()
            value = self.outcome.value
            if self.instruction.opname == "RETURN_GENERATOR":
                self.outcome = None  # the generator holds this frame, and is held by its caller alone
            return value
        finally:
            _running.frame, self.caller = self.caller, None

    # --- constants and names ------------------------------------------------------------------------------------------

    def load_const(self, value: object) -> Any:
        return value

    def load_global(self, name: str) -> Any:
        for scope in (self.globals, self.builtins):
            try:
                return scope[name]
            except KeyError:
                continue
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

    def visible(self) -> dict[str, Any]:
        """The variables by name: the namespace of a class or module body, else the bound slots, cells looked
        through."""
        if self.namespace is not None:
            return self.namespace
        cells = {*self.program.code.co_cellvars, *self.program.code.co_freevars}
        contents = {
            name: self.load_cell(value) if name in cells and isinstance(value, types.CellType) else value
            for name, value in self.locals.items()
        }
        return {name: value for name, value in contents.items() if value is not NULL}

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
        return view_of(obj, name) if type(obj) in PREFIXES else getattr(obj, name)

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
        if isinstance(function, types.MethodType):
            return self.call(function.__func__, [function.__self__, *args], kwargs)
        if isinstance(function, types.FunctionType):
            return call_function(function, args, kwargs)
        if function is builtins.__build_class__:
            return build_class(self, *args, **kwargs)
        if isinstance(function, type) and _has_python_constructor(function):
            return self._instantiate(function, args, kwargs)
        if _is_builtin(function):
            here = FRAME_FUNCTIONS.get(function)
            return function(*args, **kwargs) if here is None else here(self, *args, **kwargs)
        method = inspect.getattr_static(type(function), "__call__", None)
        if isinstance(method, types.FunctionType):
            return call_function(method, [function, *args], kwargs)
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

    def type_parameters(self, intrinsic: str, operands: list[Any]) -> Any:
        return type_intrinsic(intrinsic)(*operands)

    # --- exceptions ---------------------------------------------------------------------------------------------------

    def caught(self, error: BaseException) -> BaseException | None:
        if isinstance(error, UnsupportedBytecode):
            return None
        again, trace = self.raised_again
        if error is again:
            error.__traceback__ = trace
        else:
            if error.__context__ is None:
                self.chain(error)
            error.__traceback__ = traceback_here(self, error)
        self.raised_again = None, None
        return error

    def unwind(self, exception: BaseException) -> bool:
        if super().unwind(exception):
            return True
        exception.__traceback__ = traceback_left(self, exception.__traceback__)
        return False

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

    def make_generator(self) -> Suspended:
        return make_suspended(self, *self.named)

    def get_yield_from_iter(self, iterable: Any) -> Any:
        return iterable  # CPython's own `yield from` asks for its iterator

    def SEND(self, inst: Instruction) -> None:
        """CPython's generator waits for the receiver, and gives what that returns."""
        receiver, _ = self.popn(2)
        self.outcome = Delegated(receiver)  # type: ignore[assignment]
        self.goto(inst)

    def get_awaitable(self, value: Any, purpose: int) -> Any:
        return awaiting.check_awaitable(value, purpose)

    def get_aiter(self, iterable: Any) -> Any:
        return awaiting.async_iterator(iterable, self.call)

    def get_anext(self, iterator: Any) -> Any:
        return awaiting.next_awaitable(iterator, self.call)

    def ends_async_for(self, exception: BaseException) -> bool:
        return isinstance(exception, StopAsyncIteration)

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
        importer = self.lookup(self.builtins, "__import__")
        if importer is NULL:
            raise ImportError("__import__ not found")
        return self.call(importer, [name, self.globals, self.namespace, fromlist, level], {})

    def import_from(self, module: Any, name: str) -> Any:
        return importing.import_from(module, name)

    def import_star(self, module: Any) -> None:
        for name in importing.public_names(module):
            self.namespace[name] = getattr(module, name)

    def print_expr(self, value: Any) -> None:
        if not hasattr(sys, "displayhook"):
            raise RuntimeError("lost sys.displayhook")
        self.call(sys.displayhook, [value], {})


def special_method(obj: Any, name: str) -> Any:
    """`__enter__`, `__exit__`, `__aenter__` or `__aexit__`, looked up on the type and bound."""
    cls = type(obj)
    for base in cls.__mro__:
        if name in vars(base):
            method = vars(base)[name]
            return method.__get__(obj, cls) if hasattr(method, "__get__") else method
    if name in ("__aenter__", "__aexit__"):
        awaiting.refuse_to_enter(obj)
    with obj:  # CPython's own error: each version words it differently
        raise AssertionError(f"{cls} has no {name} and yet was entered")


def _has_python_constructor(cls: type) -> bool:
    """Whether making an instance goes through a Python `__new__` or `__init__`, and through nothing else of Python."""
    plain_call = type(cls).__call__ is type.__call__
    methods = [getattr(cls, name) for name in ("__new__", "__init__")]
    return plain_call and any(isinstance(method, types.FunctionType) for method in methods)


def _is_builtin(function: Any) -> bool:
    return isinstance(function, types.BuiltinFunctionType) or type(function) is type


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
    exec(compile(source, __file__, "exec"), namespace)  # by its file no frame that the program sees
    return namespace["unpack"]
