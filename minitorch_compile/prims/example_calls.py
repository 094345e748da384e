"""One call of each public op, on fake tensors: for looking at what it comes down to.

The calls are in `example_calls.txt`, which `tools/example_calls.py` takes from the call sheets of the tests. A line
says `f(2, 3)` for a float tensor of these sizes, `i` for integers, `b` for bools, `c` for complex numbers.

>>> example("softmax")
'torch.softmax(f(3, 4), -1)'
>>> function, args, kwargs = parts(example("softmax"))
>>> function.name, args
('softmax', [FakeTensor(sizes=[3, 4], strides=[4, 1], dtype=torch.float32), -1])
"""

from __future__ import annotations

import ast
import difflib
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from minitorch_compile.tensor.numerics.dtype import bool_, complex64, dtype, float32, int64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

FILE = Path(__file__).with_suffix(".txt")


@cache
def example_calls() -> dict[str, str]:
    """The example of each public op, by the name that the op has in the op table."""
    return dict(line.split(": ", 1) for line in FILE.read_text(encoding="utf-8").splitlines())


def known_name(name: str) -> str:
    """The name in the op table: "gelu" for "F.gelu", "F.softplus" for "softplus", whichever there is. ValueError, with
    similar names, if there is none."""
    for known in (name, name.removeprefix("F."), f"F.{name}"):
        if known in example_calls():
            return known
    similar = difflib.get_close_matches(name, example_calls(), 3)
    hint = f"did you mean {', '.join(similar)}?" if similar else "example_calls() has all names"
    raise ValueError(f"closure: no public op is named {name!r}; {hint}")


def example(name: str) -> str:
    """The example of one op."""
    return example_calls()[known_name(name)]


def parts(text: str) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
    """The function that an example calls, and with what: its arguments are computed, the call itself isn't made."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    names = vocabulary()
    owner = _evaluate(call.func.value, names)
    items = _evaluate(ast.List(call.args, ast.Load()), names)
    kwargs = {keyword.arg: _evaluate(keyword.value, names) for keyword in call.keywords if keyword.arg}
    if isinstance(owner, TensorBase):
        return getattr(type(owner), call.func.attr), [owner, *items], kwargs
    return getattr(owner, call.func.attr), items, kwargs


def _evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "<example>", "eval"), names)


def vocabulary() -> dict[str, Any]:
    """What the examples speak of. The numbers in a tensor don't matter, so it is fake."""
    torch = importlib.import_module("minitorch_compile")  # the package's face, which imports this floor
    floats = dict.fromkeys(("f", "pos", "unit", "distinct"), _tensors_of(float32))
    matrices = dict.fromkeys(("square", "definite"), lambda n, *batch: empty_fake((*batch, n, n)))
    others = {"i": _tensors_of(int64), "b": _tensors_of(bool_), "c": _tensors_of(complex64)}
    numbers = {"inf": float("inf"), "nan": float("nan"), "special": lambda: empty_fake((10,))}
    return {"torch": torch, "F": torch.nn.functional, **floats, **matrices, **others, **numbers}


def _tensors_of(element: dtype) -> Callable[..., Any]:
    return lambda *sizes, low=0, high=3: empty_fake(sizes, None, element)
