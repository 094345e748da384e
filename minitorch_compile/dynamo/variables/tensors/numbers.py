"""Numbers from outside, whose value is not pinned down before it is needed.

An int or float argument is at first guarded by its type only. Arithmetic on it stays an expression, a comparison
guards its outcome (`(step + 1) > 10`), and text made of it is made again at each call. Only when the value itself is
needed, as a size, an index or an argument of a tensor operation, is it guarded by equality and becomes a constant.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda step: (step + 1, f"step {step}"), 5))                    # doctest: +ELLIPSIS
return (t_..., ''.join(['step ', format(step, '')]))
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE, CONVERT
from minitorch_compile.dynamo.guards import guards, value_guards
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.lazy import LazyVariable
from minitorch_compile.dynamo.variables.rebuilding import Description, Read, Template, call, commas

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

LONGEST_EXPRESSION = 200  # a sum over a long loop is pinned down instead of written out
NEVER_RAISING = ("+", "-", "*")  # on ints and floats: so the expression can be evaluated at another time


@dataclass(frozen=True)
class ExpressionSource(Source):
    """A value computed from other sources: `(step + 1)`."""

    text: str

    def read(self, base: str) -> str:
        return self.text


class NumberVariable(ConstantVariable):
    """An int or float. Asking for its `value` guards it."""

    def __init__(
        self, output: Output, seen: Any, source: Source | None, inputs: Iterable[tuple[str, int]] | None = None
    ) -> None:
        VariableTracker.__init__(self, source)
        self.output = output
        self.seen = seen
        self.pinned = False
        # The paths of the whole numbers that it is computed from: if they change, they need not be pinned again.
        self.inputs = frozenset([(source.name(), seen)] if inputs is None and source is not None else inputs or ())

    @property
    def value(self) -> Any:
        if not self.pinned:
            assert self.source is not None
            self.output.guards.add(*value_guards.equals(self.source, self.seen, self.output.names))
            self.output.sizes.policy.pinned(self.inputs)
            self.pinned = True
        return self.seen

    def __repr__(self) -> str:
        return f"<number {self.seen!r}{'' if self.pinned else ', not pinned'}>"

    def describe(self) -> str:
        return f"the number {self.seen!r}"

    def python_type(self) -> type:
        return type(self.seen)

    def real_value(self) -> Any:
        return self.value

    def text_of(self) -> str:
        """The expression, as an operand of another."""
        assert self.source is not None
        return repr(self.seen) if self.pinned else self.source.name()

    def outcome(self, check: str, result: bool, expected: str) -> bool:
        """Guards that a question about the number has the same answer at the next call."""
        assert self.source is not None
        text = check if result else f"not ({check})"
        self.output.guards.add(guards.Guard(self.source, "NUMBER_MATCH", text, expected))
        return result

    def truth(self, tracer: Tracer) -> bool:
        return bool(self.seen) if self.pinned else self.outcome("{0} != 0", bool(self.seen), "the same truth")

    def unary(self, tracer: Tracer, op: str) -> Value:
        if op != "-" or self.pinned or self.seen == 0:  # -0.0 is not 0.0, but equal to it
            return super().unary(tracer, op)
        return NumberVariable(self.output, -self.seen, ExpressionSource(f"(-{self.text_of()})"), self.inputs)

    def format(self, tracer: Tracer, spec: str) -> str:
        return format(self.value, spec)

    def reconstruct(self, output: Output) -> Description:
        if self.pinned:
            return super().reconstruct(output)
        assert self.source is not None
        return Template(Read(self.source))


def arithmetic(op: str, left: VariableTracker, right: VariableTracker) -> VariableTracker | None:
    """left op right as an expression, None if neither is an open number or the operator might raise."""
    number = _open_number(left, right)
    if number is None or op not in NEVER_RAISING:
        return None
    a, b = _seen(left), _seen(right)
    if not _has_literal(a) or not _has_literal(b):
        return None
    text = f"({_text(left)} {op} {_text(right)})"
    if len(text) > LONGEST_EXPRESSION:
        return None
    inputs = {pair for part in (left, right) if isinstance(part, NumberVariable) for pair in part.inputs}
    return NumberVariable(number.output, BINARY[op](a, b), ExpressionSource(text), inputs)


def comparison(op: str, left: VariableTracker, right: VariableTracker) -> ConstantVariable | None:
    """The outcome of a comparison, guarded as such; None if neither is an open number."""
    number = _open_number(left, right)
    if number is None or not _has_literal(_seen(left)) or not _has_literal(_seen(right)):
        return None
    result = COMPARE[op](_seen(left), _seen(right))
    if number is left:
        check = f"{{0}} {op} {_text(right)}"
    else:
        check = f"{_text(left)} {op} {{0}}"
    number.outcome(check, result, str(result))
    return ConstantVariable(result)


def _open_number(left: VariableTracker, right: VariableTracker) -> NumberVariable | None:
    for tracked in (left, right):
        if isinstance(tracked, NumberVariable) and not tracked.pinned:
            return tracked
    return None


def _seen(tracked: VariableTracker) -> Any:
    """The value without pinning it; None for what is not a plain constant."""
    if isinstance(tracked, NumberVariable):
        return tracked.seen
    return tracked.value if isinstance(tracked, ConstantVariable) else None


def _has_literal(value: Any) -> bool:
    return type(value) is int or type(value) is float and math.isfinite(value)


def _text(tracked: VariableTracker) -> str:
    return tracked.text_of() if isinstance(tracked, NumberVariable) else f"({tracked.as_constant()!r})"


@dataclass(frozen=True)
class TextPart:
    """A piece of a text that is not known yet: format(value, spec), or str(value), or repr(value)."""

    value: Value
    spec: str = ""
    conversion: str = ""


class TextVariable(ConstantVariable):
    """Text with pieces that are made at each call: f"loss {loss:.3f}" of a loss that differs from call to call."""

    def __init__(self, parts: list[str | TextPart]) -> None:
        VariableTracker.__init__(self)
        self.parts = parts

    @property
    def value(self) -> Any:
        return "".join(part if isinstance(part, str) else _rendered(part) for part in self.parts)

    def describe(self) -> str:
        return "a text"

    def python_type(self) -> type:
        return str

    def __repr__(self) -> str:
        return f"<text {self.parts!r}>"

    def reconstruct(self, output: Output) -> Template:
        pieces = [Template(repr(part)) if isinstance(part, str) else _rendering(part) for part in self.parts]
        return pieces[0] if len(pieces) == 1 else call("''.join", Template("[", commas(pieces), "]"))


def open_text(value: Value, spec: str = "", conversion: str = "") -> TextVariable | None:
    """Text of a value that is not pinned down: an open number, or a string from outside not looked into yet."""
    if isinstance(value, TextVariable) and not spec and conversion in ("", "str"):
        return value
    if isinstance(value, LazyVariable) and value.is_unread_text():
        return TextVariable([TextPart(value, spec, conversion)])
    tracked = value.realize()
    if isinstance(tracked, NumberVariable) and not tracked.pinned:
        return TextVariable([TextPart(tracked, spec, conversion)])
    return None


def joined(parts: list[Value]) -> TextVariable | None:
    """The pieces of an f-string put together, None if all of them are constants."""
    pieces: list[str | TextPart] = []
    is_open = False
    for part in parts:
        text = open_text(part)
        is_open |= text is not None
        pieces += [str(part.realize().as_constant())] if text is None else text.parts
    return TextVariable(pieces) if is_open else None


def _rendered(part: TextPart) -> str:
    """The piece as known now; this pins the value."""
    value = part.value.realize().as_constant()
    if part.conversion:
        value = CONVERT[part.conversion](value)
    return format(value, part.spec)


def _rendering(part: TextPart) -> Template:
    value = call(part.conversion, part.value) if part.conversion else part.value
    return call("format", value, repr(part.spec))
