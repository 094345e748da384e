"""Schemas: what an op takes and gives, as one line of text, PyTorch's way of writing a signature down.

>>> schema = parse("mylib::scale(Tensor x, float k=2.0, *, int? n=None) -> Tensor")
>>> schema.qualname, [(a.name, a.type, a.default) for a in schema.arguments]
('mylib::scale', [('x', 'Tensor', NOTHING), ('k', 'float', 2.0), ('n', 'int?', None)])
>>> schema
mylib::scale(Tensor x, float k=2., *, int? n=None) -> Tensor

`infer_schema` reads one off a Python function's annotations.

>>> from minitorch_compile.tensor import Tensor
>>> def double_(x: Tensor, times: int = 1) -> None: ...
>>> infer_schema(double_, mutates_args=("x",))
'(Tensor(a0!) x, SymInt times=1) -> ()'
"""

from __future__ import annotations

import ast
import collections.abc
import functools
import inspect
import operator
import re
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import Tensor, device, dtype
from minitorch_compile.tensor.tensor_base import TensorBase


class _Nothing:
    """The default of a parameter that has none."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()

# Python's types as a schema names them.
NAMES: dict[Any, str] = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    int | float | bool: "Scalar",
    dtype: "ScalarType",
    device: "Device",
}
INTS, FLOATS = (int, np.integer, SymInt), (int, float, np.floating, np.integer)
# What an argument of a type must be an instance of.
ACCEPTED: dict[str, tuple[type, ...]] = {
    "Tensor": (TensorBase,),
    "int": INTS,
    "SymInt": INTS,
    "float": FLOATS,
    "bool": (bool, np.bool_),
    "str": (str,),
    "Scalar": (*FLOATS, bool, complex, SymInt),
    "ScalarType": (dtype,),
    "Device": (device, str),
    "Layout": (object,),
    "MemoryFormat": (object,),
    "Generator": (object,),
    "Any": (object,),
}


@dataclass(frozen=True)
class Argument:
    """A parameter: `type` as the schema writes it, without the mark of what is written to."""

    name: str
    type: str
    default: Any = NOTHING
    kwarg_only: bool = False
    is_write: bool = False

    @property
    def is_optional(self) -> bool:
        return self.type.endswith("?")

    @property
    def base(self) -> str:
        """The innermost type: int of int[2]?."""
        return re.split(r"[\[?]", self.type)[0]

    @property
    def is_list(self) -> bool:
        return "[" in self.type

    def takes(self, value: Any) -> bool:
        """Whether a value may be given for it."""
        if value is None:
            return self.is_optional
        if not self.is_list:
            return self._is_one(value)
        if isinstance(value, (list, tuple)):
            return all(self._is_one(item) or (item is None and "?[" in self.type) for item in value)
        return "[" in self.type and self.base in ("int", "SymInt", "float") and self._is_one(value)

    def _is_one(self, value: Any) -> bool:
        if isinstance(value, bool) and self.base in ("int", "SymInt", "float"):
            return self.base != "float"
        return isinstance(value, ACCEPTED[self.base])


@dataclass(frozen=True)
class Schema:
    """A whole one. `returns` are types."""

    qualname: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]

    @property
    def writes(self) -> tuple[int, ...]:
        """The positions of the arguments that are written to."""
        return tuple(i for i, argument in enumerate(self.arguments) if argument.is_write)

    def __repr__(self) -> str:
        marks = {position: f"(a{position}!)" for position in self.writes}
        written: list[str] = []
        for position, argument in enumerate(self.arguments):
            if argument.kwarg_only and (position == 0 or not self.arguments[position - 1].kwarg_only):
                written.append("*")
            base = argument.base
            kind = base + marks.get(position, "") + argument.type[len(base) :]
            default = "" if argument.default is NOTHING else f"={_default_text(argument.default)}"
            written.append(f"{kind} {argument.name}{default}")
        results = self.returns[0] if len(self.returns) == 1 else f"({', '.join(self.returns)})"
        return f"{self.qualname}({', '.join(written)}) -> {results}"


def _default_text(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float) and value.is_integer():
        return f"{int(value)}."
    return f"[{', '.join(map(_default_text, value))}]" if isinstance(value, (list, tuple)) else str(value)


# ------------------------------------------------------------------------------------------ from text

SIGNATURE = re.compile(r"\s*([\w:.]*)\s*\((.*)\)\s*->\s*(.+?)\s*$", re.DOTALL)
PARAMETER = re.compile(
    r"([A-Za-z]+)(\(\w+!?(?:\s*->\s*[\w|*]+)?\))?((?:\?|\[\d*\])*)\s+(\w+)\s*(?:=\s*(.+))?$", re.DOTALL
)


def parse(text: str) -> Schema:
    """The schema that a text says. RuntimeError for what is none."""
    found = SIGNATURE.match(text)
    if found is None:
        raise RuntimeError(f"schema: expected 'name(Tensor x, int n=1) -> Tensor', but got {text!r}")
    name, parameters, results = found.groups()
    arguments, keyword_only = [], False
    for part in _split(parameters):
        if part == "*":
            keyword_only = True
        else:
            arguments.append(_argument(part, keyword_only, text))
    inside = results[1:-1] if results.startswith("(") else results
    return Schema(name, tuple(arguments), tuple(_result_type(part) for part in _split(inside)))


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _result_type(part: str) -> str:
    """`Tensor(a!) out` -> `Tensor`"""
    return re.sub(r"\(.*?\)", "", part).split()[0]


def _argument(part: str, keyword_only: bool, text: str) -> Argument:
    found = PARAMETER.match(part)
    if found is None or found[1] not in ACCEPTED:
        raise RuntimeError(f"schema: {part!r} in {text!r} is no parameter; expected a type and a name, 'float k=2.0'")
    base, mark, rest, name, default = found.groups()
    value = NOTHING if default is None else _read_default(default)
    return Argument(name, base + rest, value, keyword_only, "!" in (mark or ""))


def _read_default(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):  # a word such as contiguous_format or long
        return text


# ------------------------------------------------------------------------------------------ from annotations


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """The schema of a Python function, by its annotations.

    mutates_args: the names of the parameters that the function writes to; "unknown" if it may be any tensor.
    ValueError for a parameter without annotation, of an unsupported type, or for names in `mutates_args` that it
    doesn't have.
    """
    try:
        signature = inspect.signature(prototype_function, eval_str=True)
    except NameError as error:
        raise ValueError(f"infer_schema(func): unsupported type annotation: {error}") from error

    def refuse(what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    everything = mutates_args == "unknown"
    mutated = set() if everything else {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)
    parts: list[str] = []
    for position, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise refuse("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.annotation is parameter.empty:
            raise refuse(f"Parameter {name} must have a type annotation.")
        kind = type_name(parameter.annotation)
        if kind is None:
            raise refuse(
                f"Parameter {name} has unsupported type {parameter.annotation}. The valid types are: {_valid()}."
            )
        if name in mutated or (everything and kind.startswith("Tensor")):
            if not kind.startswith("Tensor"):
                raise refuse(
                    f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated"
                )
            kind = kind.replace("Tensor", f"Tensor(a{position}!)", 1)
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = "" if parameter.default is parameter.empty else f"={_python_default(parameter.default)}"
        parts.append(f"{kind} {name}{default}")
    if mutated - signature.parameters.keys():
        raise refuse(
            f"{mutated - signature.parameters.keys()} in mutates_args were not found in the custom op's signature."
            " mutates_args should contain the names of all args that the custom op mutates, or just the string"
            " 'unknown' if you don't know."
        )
    return f"{op_name or ''}({', '.join(parts)}) -> {_returns(signature.return_annotation, refuse)}"


def _python_default(value: Any) -> str:
    if isinstance(value, dtype | device):
        return str(value).removeprefix("torch.")
    return f'"{value}"' if isinstance(value, str) else str(value)


def _returns(annotation: Any, refuse: Callable[[str], ValueError]) -> str:
    if annotation is inspect.Signature.empty:
        raise refuse("No return type annotation was provided. Please add one.")
    if annotation is None:
        return "()"
    several = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else (annotation,)
    names = [type_name(each) for each in several]
    if None in names:
        raise refuse(f"Return has unsupported type {annotation}. The valid types are: {_valid()}.")
    words = [name for name in names if name is not None]
    return words[0] if typing.get_origin(annotation) is not tuple else f"({', '.join(words)})"


def type_name(annotation: Any) -> str | None:
    """A Python type as schemas write it; None for one that an op can't take.

    >>> type_name(list[int] | None), type_name(dict)
    ('SymInt[]?', None)
    """
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        if set(inside) == {int, float, bool}:
            return "Scalar"
        others = [each for each in inside if each is not type(None)]
        if len(others) == len(inside):
            return None
        name = type_name(functools.reduce(operator.or_, others))
        return None if name is None or name.startswith("Tensor[") else f"{name}?"
    if origin in (list, collections.abc.Sequence) and len(inside) == 1:
        name = type_name(inside[0])
        return None if name is None or "[" in name else f"{name}[]"
    return NAMES.get(annotation) if isinstance(annotation, type) else None


def _valid() -> str:
    return f"{', '.join(name for name in NAMES.values())}, lists of these, and these or None"
