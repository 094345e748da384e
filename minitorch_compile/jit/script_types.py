"""The types of a script's arguments: as text, and what they make of the values that come.

>>> import ast
>>> wanted = ast.parse("typing.Optional[typing.Tuple[int, float]]", mode="eval").body
>>> type_text(wanted), as_said(wanted, None), as_said(wanted, [True, 2])
('Optional[Tuple[int, float]]', None, (1, 2.0))

Only what is written is asked: an argument without annotation is a Tensor.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any

from minitorch_compile.jit.frontend import Definition
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.tensor_base import TensorBase

# How a plain value is made, and of what; None is false.
NUMBERS: dict[str, tuple[type, tuple[type, ...]]] = {
    "int": (int, (Integral,)),
    "float": (float, (Real,)),
    "bool": (bool, (Real, type(None))),
    "str": (str, (str,)),
}


class _WithoutPaths(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Name(node.attr)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return read(node)


def read(wanted: ast.expr) -> ast.expr:
    """A type; one that is written as a string is read."""
    quoted = isinstance(wanted, ast.Constant) and isinstance(wanted.value, str)
    return ast.parse(wanted.value, mode="eval").body if quoted else wanted  # type: ignore[attr-defined]


def type_text(wanted: ast.expr) -> str:
    """A type as TorchScript writes it: names without their modules."""
    copied = ast.parse(ast.unparse(read(wanted)), mode="eval").body
    text = ast.unparse(_WithoutPaths().visit(copied))
    return "NoneType" if text == "None" else text


def schema_type(wanted: ast.expr) -> str:
    """A type as declarations have it: `Tensor?` for Optional[Tensor], `int[]` for List[int]."""
    wanted = read(wanted)
    if isinstance(wanted, ast.Subscript):
        inner, name = schema_type(wanted.slice), type_text(wanted.value)
        if name in ("Optional", "List", "list"):
            return inner + ("?" if name == "Optional" else "[]")
    if isinstance(wanted, ast.Tuple):
        return ", ".join(map(schema_type, wanted.elts))
    return type_text(wanted)


class Misfit(Exception):
    """An argument isn't of its type."""


def as_said(wanted: ast.expr, value: Any) -> Any:
    """An argument as a value of its type, as PyTorch converts it: numbers, and what can be gone through. Misfit if it
    can't be one. Of a type that isn't known here, everything is."""
    wanted = read(wanted)
    if isinstance(wanted, ast.BinOp) and isinstance(wanted.op, ast.BitOr):
        try:
            return as_said(wanted.left, value)
        except Misfit:
            return as_said(wanted.right, value)
    if isinstance(wanted, ast.Subscript):
        name = type_text(wanted.value)
        if name == "Optional":
            return None if value is None else as_said(wanted.slice, value)
        parts = wanted.slice.elts if isinstance(wanted.slice, ast.Tuple) else [wanted.slice]
        return CONTAINERS[name](parts, value) if name in CONTAINERS else value
    if isinstance(wanted, ast.Constant) and wanted.value is None and value is not None:
        raise Misfit
    return _as_named(type_text(wanted), value)


def _as_named(name: str, value: Any) -> Any:
    """A tensor, or a number in the type that the script says it has."""
    if name == "Tensor" and not isinstance(value, TensorBase):
        raise Misfit
    if name not in NUMBERS:
        return value
    convert, kinds = NUMBERS[name]
    one_number = isinstance(value, Tensor) and name != "str" and value.numel() == 1
    if not isinstance(value, kinds) and not one_number:
        raise Misfit
    return value if type(value) is convert else convert(value)


def _as_tuple(parts: list[ast.expr], value: Any) -> Any:
    try:
        items = tuple(value)
    except TypeError:  # a number, say, or a tensor without dimensions
        raise Misfit from None
    if len(items) != len(parts):
        raise Misfit
    found = tuple(as_said(part, item) for part, item in zip(parts, items, strict=True))
    return _unless_same(value, found, items, found)


def _as_list(parts: list[ast.expr], value: Any) -> Any:
    if not isinstance(value, Iterable) or isinstance(value, (str, dict, TensorBase)):
        raise Misfit
    items = list(value)
    found = [as_said(parts[0], item) for item in items]
    return _unless_same(value, found, items, found)


def _as_dict(parts: list[ast.expr], value: Any) -> Any:
    if not isinstance(value, dict):
        raise Misfit
    keys, items = ([as_said(part, x) for x in every] for part, every in zip(parts, (value, value.values())))
    return _unless_same(value, dict(zip(keys, items)), [*value, *value.values()], [*keys, *items])


CONTAINERS: dict[str, Callable[[list[ast.expr], Any], Any]] = {
    **dict.fromkeys(("List", "list"), _as_list),
    **dict.fromkeys(("Dict", "dict"), _as_dict),
    **dict.fromkeys(("Tuple", "tuple"), _as_tuple),
}


def _unless_same(value: Any, found: Any, before: Sequence[Any], after: Sequence[Any]) -> Any:
    """What was found, or the argument itself if no part had to be converted: scripts that call each other share it."""
    is_same = isinstance(value, type(found)) and all(old is new for old, new in zip(before, after, strict=True))
    return value if is_same else found


def declaration(definition: Definition, itself: str = "") -> str:
    """`f(Tensor x, int y=2) -> Tensor`, as in messages about arguments."""
    defaults = default_texts(definition)
    parts = [itself] if itself else []
    for name, wanted in definition.types.items():
        default = f"={defaults[name]}" if name in defaults else ""
        parts.append(f"{schema_type(wanted)} {name}{default}")
    returns = f" -> {schema_type(definition.returns)}" if definition.returns is not None else ""
    return f"{definition.name}({', '.join(parts)}){returns}"


def default_texts(definition: Definition) -> dict[str, str]:
    """The defaults of parameters, as text."""
    arguments = definition.tree.args
    every = [*arguments.posonlyargs, *arguments.args]
    with_default = every[len(every) - len(arguments.defaults) :]
    return {arg.arg: ast.unparse(default) for arg, default in zip(with_default, arguments.defaults)}


def bound(definition: Definition, itself: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments in their order. RuntimeError for one too many, missing, unknown or of another type."""
    names, says = list(definition.types), f"Declaration: {declaration(definition, itself)}"
    called = f"{definition.name}()"
    extra = 1 if itself else 0
    if len(args) > len(names):
        raise RuntimeError(
            f"{called} expected at most {len(names) + extra} argument(s) but received {len(args) + extra}"
            f" argument(s). {says}"
        )
    given = dict(zip(names, args))
    for name in kwargs:
        if name in given:
            raise RuntimeError(f"{called} got multiple values for argument '{name}'. {says}")
    given.update(kwargs)
    parameters = inspect.signature(definition.function).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    for name in names:
        if name not in given and name not in defaults:
            raise RuntimeError(f"{called} is missing value for argument '{name}'. {says}")
    unknown = [name for name in kwargs if name not in names]
    if unknown:
        raise RuntimeError(f"Unknown keyword argument '{unknown[0]}' for operator '{definition.name}'. {says}")
    return [_checked(definition, says, extra, name, given.get(name, defaults.get(name))) for name in names]


def _checked(definition: Definition, says: str, extra: int, name: str, value: Any) -> Any:
    wanted = definition.types[name]
    try:
        return as_said(wanted, value)
    except Misfit:
        raise RuntimeError(_complaint(definition, says, extra, name, value)) from None


def _complaint(definition: Definition, says: str, extra: int, name: str, value: Any) -> str:
    wanted = definition.types[name]
    place = list(definition.types).index(name) + extra
    inferred = "" if getattr(wanted, "lineno", None) else " (inferred)"
    why = f"Inferred '{name}' to be of type 'Tensor' because it was not annotated with an explicit type.\n"
    return (
        f"{definition.name}() Expected a value of type '{type_text(wanted)}{inferred}' for argument '{name}' but"
        f" instead found type '{type(value).__name__}'.\n{why if inferred else ''}"
        f"Position: {place}\nValue: {value}\n{says}"
    )
