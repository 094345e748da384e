"""The function that stands in for the user's: same signature, and the shortest way to compiled code.

>>> def scale(x, by=2, *rest, offset=0, **more):
...     return x * by + offset
>>> print(wrapper_text(Signature.of(scale)), end="")
def make_wrapper(dispatcher, function, MISS, UNSET, ABSENT):
    def scale(x, by=UNSET, *rest, offset=UNSET, **more):
        if function.__code__ is not dispatcher.code:
            dispatcher.code_was_replaced()
        try:
            if by is UNSET:
                by = function.__defaults__[-1]
            if offset is UNSET:
                offset = function.__kwdefaults__['offset']
        except ABSENT:
            result = MISS
        else:
            result = dispatcher.run(x, by, offset, rest, more)
        return result if result is not MISS else dispatcher.miss(x, by, offset, rest, more)
    return scale

Code and defaults are looked up at the call, since a program may change them; it may even take a default away. Compiled
code gets all slots by position, in the order that CPython keeps them in a frame; `plain_caller` goes the other way.

>>> plain_caller(scale)(10, 2, 5, (), {})
25
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.execution.binding import argument_names
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.generated_source import function_from_source

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.dispatcher import Dispatcher

ABSENT = TypeError, LookupError  # what reading a default raises that the program took away
UNSET: Any = type("Unset", (), {"__repr__": lambda self: "<default>", "__doc__": "An argument that was not given."})()


@dataclass(frozen=True)
class Signature:
    """What decides the text of a wrapper."""

    code: CodeType
    default_count: int
    keyword_defaults: tuple[str, ...]

    @classmethod
    def of(cls, function: FunctionType) -> Signature:
        return cls(function.__code__, len(function.__defaults__ or ()), tuple(function.__kwdefaults__ or ()))

    @property
    def positional(self) -> tuple[str, ...]:
        return self.code.co_varnames[: self.code.co_argcount]

    @property
    def keyword_only(self) -> tuple[str, ...]:
        return self.code.co_varnames[self.code.co_argcount : self.code.co_argcount + self.code.co_kwonlyargcount]

    @property
    def parameters(self) -> tuple[object, ...]:
        """How arguments are matched: the names, and which of them take what."""
        kinds = self.code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        return argument_names(self.code), self.code.co_posonlyargcount, self.code.co_kwonlyargcount, kinds

    @property
    def stars(self) -> tuple[str, str]:
        """The names of *args and **kwargs, empty where there are none."""
        rest = list(argument_names(self.code)[self.code.co_argcount + self.code.co_kwonlyargcount :])
        star = rest.pop(0) if self.code.co_flags & inspect.CO_VARARGS else ""
        return star, rest.pop(0) if self.code.co_flags & inspect.CO_VARKEYWORDS else ""

    @property
    def default_places(self) -> dict[str, str]:
        """Which arguments have a default, and the text that reads it."""
        first = len(self.positional) - self.default_count
        places = {name: f"__defaults__[{i - self.default_count}]" for i, name in enumerate(self.positional[first:])}
        by_keyword = (name for name in self.keyword_only if name in self.keyword_defaults)
        return {**places, **{name: f"__kwdefaults__[{name!r}]" for name in by_keyword}}


def _parameter_list(signature: Signature, unset: str) -> str:
    """The text between the parentheses of the def."""
    named = (*signature.positional, *signature.keyword_only)
    shown = {name: f"{name}={unset}" if name in signature.default_places else name for name in named}
    star, double_star = signature.stars
    parts = [shown[name] for name in signature.positional]
    if signature.code.co_posonlyargcount:
        parts.insert(signature.code.co_posonlyargcount, "/")
    if star or signature.keyword_only:
        parts.append("*" + star)
    parts += [shown[name] for name in signature.keyword_only]
    return ", ".join([*parts, *(["**" + double_star] if double_star else [])])


def wrapper_text(signature: Signature) -> str:
    """The source of a function that makes the wrapper."""
    slots = argument_names(signature.code)
    names = Namespace(slots)
    hints = ("dispatcher", "function", "MISS", "UNSET", "ABSENT", "result", _safe_name(signature.code))
    dispatcher, function, miss, unset, absent, result, wrapper = (names.install(object(), hint) for hint in hints)
    lines = [
        f"def {wrapper}({_parameter_list(signature, unset)}):",
        f"    if {function}.__code__ is not {dispatcher}.code:",
        f"        {dispatcher}.code_was_replaced()",
    ]
    run = f"    {result} = {dispatcher}.run({', '.join(slots)})"
    filled = [
        line
        for name, place in signature.default_places.items()
        for line in (f"        if {name} is {unset}:", f"            {name} = {function}.{place}")
    ]
    if filled:
        lines += ["    try:", *filled, f"    except {absent}:", f"        {result} = {miss}", "    else:", f"    {run}"]
    else:
        lines.append(run)
    lines.append(f"    return {result} if {result} is not {miss} else {dispatcher}.miss({', '.join(slots)})")
    inner = "".join(f"    {line}\n" for line in lines)
    return f"def make_wrapper({dispatcher}, {function}, {miss}, {unset}, {absent}):\n{inner}    return {wrapper}\n"


def _safe_name(code: CodeType) -> str:
    return code.co_name if code.co_name.isidentifier() else "function_"


@functools.cache
def _wrapper_maker(signature: Signature) -> Callable[..., Any]:
    return function_from_source(wrapper_text(signature), "make_wrapper", {})


def make_wrapper(function: FunctionType, dispatcher: Dispatcher, miss: object) -> Callable[..., Any]:
    """The stand-in for `function`; it looks like it, and `_dynamo_original` is it."""
    signature = Signature.of(function)
    wrapper = _wrapper_maker(signature)(dispatcher, function, miss, UNSET, ABSENT)
    code = function.__code__
    wrapper.__code__ = wrapper.__code__.replace(co_name=code.co_name, co_qualname=code.co_qualname)
    functools.update_wrapper(wrapper, function)
    wrapper._dynamo_original = wrapper._torchdynamo_orig_callable = function
    wrapper._dynamo_wrapper_id = id(wrapper)
    wrapper._dynamo_dispatcher = dispatcher
    wrapper._dynamo_signature = signature
    return wrapper


def fits(wrapper: Callable[..., Any], function: FunctionType) -> bool:
    """Whether the wrapper still takes the arguments that the function takes."""
    made_for: Signature = wrapper.__dict__["_dynamo_signature"]
    return (  # Signature.of(function) would say it too, slower: this is asked at each call after a break
        function.__code__ is made_for.code
        and len(function.__defaults__ or ()) == made_for.default_count
        and tuple(function.__kwdefaults__ or ()) == made_for.keyword_defaults
    )


def call_with_what_was_given(function: FunctionType, slots: tuple[Any, ...]) -> Any:
    """A call some of whose arguments were not given, and have no default any more: Python says so itself.

    >>> call_with_what_was_given(lambda x, by, *rest: x, (1, UNSET, ()))
    Traceback (most recent call last):
        ...
    TypeError: <lambda>() missing 1 required positional argument: 'by'
    """
    signature = Signature.of(function)
    given = dict(zip(argument_names(function.__code__), slots))
    star, double_star = signature.stars
    rest, by_name = given.pop(star, ()), given.pop(double_star, {})
    positional = list(itertools.takewhile(lambda name: given[name] is not UNSET, signature.positional))
    first = [given.pop(name) for name in positional]
    return function(*first, *rest, **{name: value for name, value in given.items() if value is not UNSET}, **by_name)


def plain_caller(function: FunctionType) -> Callable[..., Any]:
    """Calls the plain function with its slots by position, as compiled code gets them."""
    signature = Signature.of(function)
    if not (any(signature.stars) or signature.keyword_only):
        return function
    return _plain_caller_maker(signature)(function)


@functools.cache
def _plain_caller_maker(signature: Signature) -> Callable[..., Any]:
    star, double_star = signature.stars
    slots = argument_names(signature.code)
    function = Namespace(slots).install(object(), "function")
    parts = [*signature.positional, *([f"*{star}"] if star else [])]
    parts += [f"{name}={name}" for name in signature.keyword_only] + ([f"**{double_star}"] if double_star else [])
    text = f"def make_caller({function}):\n    return lambda {', '.join(slots)}: {function}({', '.join(parts)})\n"
    return function_from_source(text, "make_caller", {})
