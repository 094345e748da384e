"""The types of a script's arguments: as text, and as a question about the values that come.

>>> import ast
>>> wanted = ast.parse("typing.Optional[torch.Tensor]", mode="eval").body
>>> type_text(wanted), fits(wanted, None), fits(wanted, 3)
('Optional[Tensor]', True, False)

Only what is written is asked: an argument without annotation is a Tensor. Contents of containers are not looked at.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from minitorch_compile.jit.frontend import Definition
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.tensor_base import TensorBase

CONTAINERS: dict[str, type] = {"List": list, "list": list, "Dict": dict, "dict": dict, "Tuple": tuple, "tuple": tuple}

NUMBERS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (float, int), "bool": (bool,), "str": (str,)}


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


def fits(wanted: ast.expr, value: Any) -> bool:
    """Whether an argument has the type. Of a type that isn't known here, everything has."""
    wanted = read(wanted)
    if isinstance(wanted, ast.BinOp) and isinstance(wanted.op, ast.BitOr):
        return fits(wanted.left, value) or fits(wanted.right, value)
    if isinstance(wanted, ast.Subscript):
        name = type_text(wanted.value)
        if name == "Optional":
            return value is None or fits(wanted.slice, value)
        return _container_fits(CONTAINERS.get(name), value)
    if isinstance(wanted, ast.Constant):
        return wanted.value is not None or value is None
    return _name_fits(type_text(wanted), value)


def _container_fits(kind: type | None, value: Any) -> bool:
    return kind is None or isinstance(value, (list, tuple) if kind is list else kind)


def _name_fits(name: str, value: Any) -> bool:
    if name == "Tensor":
        return isinstance(value, TensorBase)
    kinds: tuple[type, ...] | None = NUMBERS.get(name)
    if kinds is None:
        return True
    one_number = isinstance(value, Tensor) and name != "str" and value.numel() == 1  # becomes a number
    return type(value) in kinds or one_number


def as_said(wanted: ast.expr, value: Any) -> Any:
    """A number in the type that the script says it has."""
    convert = {"int": int, "float": float, "bool": bool}.get(type_text(wanted))
    return value if convert is None or type(value) is convert else convert(value)


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
    if fits(wanted, value):
        return as_said(wanted, value)
    place = list(definition.types).index(name) + extra
    inferred = "" if getattr(wanted, "lineno", None) else " (inferred)"
    why = f"Inferred '{name}' to be of type 'Tensor' because it was not annotated with an explicit type.\n"
    raise RuntimeError(
        f"{definition.name}() Expected a value of type '{type_text(wanted)}{inferred}' for argument '{name}' but"
        f" instead found type '{type(value).__name__}'.\n{why if inferred else ''}"
        f"Position: {place}\nValue: {value}\n{says}"
    )
