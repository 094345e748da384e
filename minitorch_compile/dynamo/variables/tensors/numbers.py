"""Numbers from outside, whose value is not pinned down before it is needed.

An int or float argument is at first guarded by its type only. Arithmetic on it stays an expression, a comparison
guards its outcome (`(step + 1) > 10`), and text made of it is made again at each call. Only when the value itself is
needed, as a size, an index or an argument of a tensor operation, is it guarded by equality and becomes a constant. If
it changes then, the next version is for all its values: the graph takes the float, or the whole number, as an argument.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda step: (step + 1, f"step {step}"), 5))                    # doctest: +ELLIPSIS
return (t_..., ''.join(['step ', format(step, '')]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
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
DIVISIONS = ("/", "//", "%")
NEVER_RAISING = (abs, float)
ARITHMETIC = ("+", "-", "*", *DIVISIONS, "**")


@dataclass(frozen=True)
class ExpressionSource(Source):
    """A value computed from other sources: `(step + 1)`."""

    text: str

    def read(self, base: str) -> str:
        return self.text


class NumberVariable(ConstantVariable):
    """An int or float. Asking for its `value` guards it."""

    def __init__(
        self,
        output: Output,
        seen: Any,
        source: Source | None,
        inputs: Iterable[tuple[str, float]] | None = None,
        changing: bool = False,
        of_sizes: bool = False,
    ) -> None:
        VariableTracker.__init__(self, source)
        self.output = output
        self.seen = seen
        self.pinned = False
        self.changing = changing  # it is computed from numbers that changed between calls
        self.of_sizes = of_sizes  # and these are sizes of tensors
        # The paths of the numbers that it is computed from: if they change, they need not be pinned again.
        self.inputs = frozenset([(source.name(), seen)] if inputs is None and source is not None else inputs or ())

    @property
    def value(self) -> Any:
        if not self.pinned:
            assert self.source is not None
            self.output.guards.add(*value_guards.equals(self.source, self.seen, self.output.names))
            self.output.sizes.policy.pinned(self.inputs)
            self.pinned = True
        return self.seen

    @property
    def is_input(self) -> bool:
        """Whether the graph takes it instead of being for this value only."""
        return self.changing and not self.pinned and type(self.seen) is float and math.isfinite(self.seen)

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
        return _literal(self.seen) if self.pinned else self.source.name()

    def outcome(self, check: str, result: bool, expected: str) -> bool:
        """Guards that a question about the number has the same answer at the next call."""
        assert self.source is not None
        text = check if result else f"not ({check})"
        self.output.guards.add(guards.Guard(self.source, "NUMBER_MATCH", text, expected))
        return result

    def truth(self, tracer: Tracer) -> bool:
        return not self.is_zero()

    def is_zero(self) -> bool:
        """Whether it is; guarded."""
        return not (self.seen if self.pinned else self.outcome("{0} != 0", bool(self.seen), "the same truth"))

    def unary(self, tracer: Tracer, op: str) -> Value:
        if op == "-" and not self.pinned:
            negated = _expression(self.output, -self.seen, f"(-{self.text_of()})", [self])
            if negated is not None:
                return negated
        return super().unary(tracer, op)

    def format(self, tracer: Tracer, spec: str) -> str:
        return format(self.value, spec)

    def reconstruct(self, output: Output) -> Description:
        if self.pinned:
            return super().reconstruct(output)
        assert self.source is not None
        return Template(Read(self.source))


def arithmetic(op: str, left: VariableTracker, right: VariableTracker) -> VariableTracker | None:
    """left op right as an expression, None if neither is an open number or the operator raises."""
    number = _open_number(left, right)
    if number is None or op not in ARITHMETIC:
        return None
    a, b = _seen(left), _seen(right)
    if not _has_literal(a) or not _has_literal(b) or (op == "**" and type(a) is type(b) is int):
        return None
    if op in DIVISIONS and isinstance(right, NumberVariable) and right.is_zero():
        return None  # it raises, which is seen at once even where nobody reads the quotient
    try:
        seen = BINARY[op](a, b)
    except ArithmeticError:
        return None
    return _expression(number.output, seen, f"({_text(left)} {op} {_text(right)})", [left, right], op == "**")


def applied(function: Callable[..., Any], operands: list[VariableTracker], may_vary: bool = False) -> Value | None:
    """math.sqrt(number), int(number) and their like as an expression; a truth value is guarded as such.

    `may_vary`: the type of the result depends on the values. It is guarded, too, where the function might raise for
    others. None if no operand is an open number, or it raises.
    """
    number = _open_number(*operands)
    values = [_seen(operand) for operand in operands]
    if number is None or not all(map(_has_literal, values)):
        return None
    try:
        seen = function(*values)
    except (ArithmeticError, ValueError, TypeError):
        return None
    name = number.output.names.install(function, function.__name__)
    text = f"{name}({', '.join(map(_text, operands))})"
    if type(seen) is bool:
        return ConstantVariable(number.outcome(text, seen, str(seen)))
    return _expression(number.output, seen, text, operands, may_vary or function not in NEVER_RAISING)


def is_open_float(value: Value) -> bool:
    """Whether it is a float from outside that is not pinned down."""
    tracked = value.realize()
    return isinstance(tracked, NumberVariable) and type(tracked.seen) is float and not tracked.pinned


def _expression(
    output: Output, seen: Any, text: str, parts: list[VariableTracker], may_vary: bool = False
) -> VariableTracker | None:
    """A number that is computed from others, None if it is none or its text is too long."""
    if type(seen) not in (int, float) or len(text) > LONGEST_EXPRESSION:
        return None
    source = ExpressionSource(text)
    if may_vary:
        output.guards.add(guards.type_is(source, type(seen), output.names))
    numbers = [part for part in parts if isinstance(part, NumberVariable)]
    changing = any(number.changing for number in numbers)
    of_sizes = all(number.of_sizes for number in numbers if number.changing)
    if changing and type(seen) is int and seen not in (0, 1):
        return output.from_python(output.sizes.number(seen, source)).realize()
    inputs = {pair for number in numbers for pair in number.inputs}
    return NumberVariable(output, seen, source, inputs, changing, of_sizes)


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


def _open_number(*operands: VariableTracker) -> NumberVariable | None:
    for tracked in operands:
        if isinstance(tracked, NumberVariable) and not tracked.pinned:
            return tracked
    return None


def _seen(tracked: VariableTracker) -> Any:
    """The value without pinning it; None for what is not a plain constant."""
    if isinstance(tracked, NumberVariable):
        return tracked.seen
    return tracked.value if isinstance(tracked, ConstantVariable) else None


def _has_literal(value: Any) -> bool:
    return type(value) is int or type(value) is float and not math.isnan(value)


def _text(tracked: VariableTracker) -> str:
    if isinstance(tracked, NumberVariable):
        return tracked.text_of()
    text = _literal(tracked.as_constant())
    return f"({text})" if text.startswith("-") else text


def _literal(value: Any) -> str:
    """The number as Python writes it; infinity has no digits, but numbers too large have."""
    return repr(value).replace("inf", "1e999")


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
