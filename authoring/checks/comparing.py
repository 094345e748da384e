"""What a call comes to, and whether it is what was expected: for the checks of all lessons.

`fact` says what was tried, `why` what a learner is told if it comes to something else.

>>> attempt(divmod, 7, 2), attempt(divmod, 7, 0)
((3, 1), 'ZeroDivisionError: integer division or modulo by zero')
>>> expect("divmod(7, 2)", (3, 1), attempt(divmod, 7, 2), "The quotient comes first.")
>>> expect("divmod(7, 2)", (3, 1), [3, 1], "It is a tuple.")
Traceback (most recent call last):
minitorch_compile.course.checking.exercise.WrongAnswer: divmod(7, 2): expected (3, 1), got [3, 1]. It is a tuple.
>>> must_raise("int('x')", "It is no number.", int, "x", kind=ValueError)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer, same

Kinds = type[Exception] | tuple[type[Exception], ...]
NEVER_TOLD = (NotWritten, MemoryError, RecursionError)
"""What the check itself tells: what is not written, takes too much memory, or calls itself too often."""


def attempt(call: Callable[..., Any], *args: Any) -> Any:
    """What a call gives; an exception, whichever it is, as a text."""
    try:
        return call(*args)
    except NEVER_TOLD:
        raise
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is told)
        return f"{type(error).__name__}: {error}"


def tried(fact: str, why: str, call: Callable[..., Any], *args: Any, about: Kinds = Exception) -> Any:
    """What a call gives, which must not raise. `why` is said of errors of the kind `about` only."""
    try:
        return call(*args)
    except (NotImplementedError, *NEVER_TOLD):
        raise
    except Exception as error:
        said = why if isinstance(error, about) else ""
        raise WrongAnswer(f"{fact}: raised {type(error).__name__}: {error}", said) from error


def must_raise(fact: str, why: str, call: Callable[..., Any], *args: Any, kind: type[Exception] = RuntimeError) -> None:
    """An error of this kind must come; a stub's is none."""
    expected = f"{fact}: expected {'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"
    try:
        got = call(*args)
    except NEVER_TOLD:
        raise
    except NotImplementedError as error:
        if kind is not NotImplementedError or "your code here" in str(error):
            raise NotWritten(str(error)) from error
        return
    except kind:
        return
    except Exception as error:
        raise WrongAnswer(f"{expected}, it raised {error!r}", why) from error
    raise WrongAnswer(f"{expected}, got {attempt(repr, got)}", why)


def expect(fact: str, expected: Any, got: Any, why: str) -> None:
    """Equal and of the same types, as far as `==` or repr tell them: NaN is NaN, 1 is not True."""
    if repr(expected) != repr(got) and not same(expected, got):
        raise WrongAnswer(f"{fact}: expected {expected!r}, got {got!r}", why)
