"""What the arguments of an exported program must be like, checked at each call by a function that is generated.

>>> from minitorch_compile.pytree import tree_flatten
>>> from minitorch_compile.tensor import ones
>>> checks = InputChecks(tree_flatten(((0, 0), {}))[1], ["x", "n"], [[2, 3], 7], {}, [])
>>> checks.check(*checks.flattened((ones(2, 3), 7), {}))
>>> checks.check(ones(2, 4), 7)
Traceback (most recent call last):
AssertionError: Guard failed: x.size()[1] == 3
>>> checks.check(ones(2, 3), 8)
Traceback (most recent call last):
AssertionError: Guard failed: n == 7

A size is a number or an expression of symbols; a symbol is bound by the first dimension that is nothing but it. The
function is Python that the tracer can follow, so a compiled function may call an exported program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from minitorch_compile.generated_source import function_from_source
from minitorch_compile.pytree import TreeSpec, tree_flatten, tree_unflatten
from minitorch_compile.symbolic import Range, Relation, Symbol, text_of
from minitorch_compile.symbolic.expression import Expression
from minitorch_compile.tensor import Tensor


class InputChecks:
    """`in_spec` nests (args, kwargs); `seen` has for each leaf the list of its sizes, or the value of what is no
    tensor; `ranges` and `relations` say which sizes the program is for."""

    def __init__(
        self,
        in_spec: TreeSpec,
        names: Sequence[str],
        seen: Sequence[Any],
        ranges: dict[Symbol, Range],
        relations: Sequence[Relation],
    ) -> None:
        self.in_spec = in_spec
        self.names = list(names)
        self.seen = list(seen)
        self.ranges = ranges
        self.relations = list(relations)

    def flattened(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves. ValueError for other nesting."""
        if len(kwargs) > 1:  # in the order in which they were given when the program was exported
            order = list(tree_unflatten([None] * self.in_spec.num_leaves, self.in_spec)[1])
            if set(order) == set(kwargs):
                kwargs = {name: kwargs[name] for name in order}
        leaves, spec = tree_flatten((args, kwargs))
        if spec != self.in_spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{self.in_spec}\nbut actually got"
                f" inputs with tree spec of: \n{spec}.\nPlease check that the inputs have the same number and type of"
                " args and kwargs as the ones you used when tracing."
            )
        return leaves

    @cached_property
    def check(self) -> Callable[..., None]:
        """A function of the leaves, with a line for each condition; AssertionError for what the program isn't for."""
        lines = [f"    if not ({text}): fail({text!r})" for text in self._conditions()]
        source = "\n".join([f"def check({', '.join(self.names)}):", *lines, "    return None", ""])
        return function_from_source(source, "check", {"Tensor": Tensor, "fail": _fail, "math": math})

    def _conditions(self) -> Iterator[str]:
        for name, seen in zip(self.names, self.seen, strict=True):
            if not isinstance(seen, list):
                yield _equality(name, seen)
                continue
            yield f"isinstance({name}, Tensor)"
            yield f"{name}.dim() == {len(seen)}"
        for name, dim, size in self._sizes():
            shown = self._text(size)
            if shown != f"{name}.size()[{dim}]":
                yield f"{name}.size()[{dim}] == {shown}"
        for symbol, within in self.ranges.items():
            size = self._bound_by[symbol]
            yield f"{within.lower} <= {size}" + ("" if within.upper == math.inf else f" <= {within.upper}")
        for relation in self.relations:
            left, right = relation.sides
            yield f"{self._text(left)} {relation.sign} {self._text(right)}"

    def _sizes(self) -> Iterator[tuple[str, int, Any]]:
        for name, sizes in zip(self.names, self.seen):
            for dim, size in enumerate(sizes if isinstance(sizes, list) else ()):
                yield name, dim, size

    @cached_property
    def _bound_by(self) -> dict[Symbol, str]:
        """For each symbol the text that reads the first dimension which is nothing but it."""
        found: dict[Symbol, str] = {}
        for name, dim, size in self._sizes():
            symbol = size.only_symbol if isinstance(size, Expression) else None
            if symbol is not None:
                found.setdefault(symbol, f"{name}.size()[{dim}]")
        return found

    def _text(self, size: Any) -> str:
        return text_of(size, self._bound_by.__getitem__) if isinstance(size, Expression) else str(size)


def _equality(name: str, value: Any) -> str:
    """That an argument has this value, a number, text or None."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"math.isnan({name})" if math.isnan(value) else f"{name} == {'-' * (value < 0)}math.inf"
    return f"{name} == {value!r}" if isinstance(value, (int, float, str)) else f"{name} is {value!r}"


def _fail(what: str) -> None:
    raise AssertionError(f"Guard failed: {what}")
