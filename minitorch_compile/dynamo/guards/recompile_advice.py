"""What kept changing between calls of a function, and how to mend it: the warning when it has too many versions.

>>> from minitorch_compile.dynamo.guards.source import LocalSource
>>> guards = [Guard(LocalSource("n"), "CONSTANT_MATCH", f"{{0}} == {n}", str(n)) for n in (1, 2, 3)]
>>> failures = [GuardFailure(guard, "9") for guard in guards]
>>> print(what_kept_changing(failures))
What kept changing: n was 1, 2, 3, and is 9 now.
To mend it: pass a number that changes as a tensor, or keep to a few values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from minitorch_compile.dynamo.guards.failures import GuardFailure
from minitorch_compile.dynamo.guards.guards import Guard

IN_AN_INSTANCE = re.compile(r"\.__dict__\['(\w+)'\]")  # how an attribute is read that the class has, too
NUMBER = "pass a number that changes as a tensor, or keep to a few values"
ADVICE = {
    "CONSTANT_MATCH": NUMBER,
    "NUMBER_MATCH": NUMBER,
    "RANGE_MATCH": NUMBER,
    "TYPE_MATCH": "pass objects of one class; a new class at each call is a new kind of input each time",
    "ID_MATCH": "pass the same object each time, made once, outside the function",
    "FUNCTION_MATCH": "define the function once, outside; each definition with other code is another function",
    "TENSOR_MATCH": "bring tensors to one dtype, layout and requires_grad before the call",
    "SHAPE_ENV": "mark the size with mark_dynamic, or pad to a few sizes",
    "LENGTH": "pass containers of one length, or a stacked tensor instead of a list",
    "DICT_KEYS": "pass dicts with the same keys in the same order",
    "DICT_CONTAINS": "give the dict the same keys at each call",
    "SET_MATCH": "pass sets with the same members",
    "ATTRIBUTE_ABSENT": "give the object all its attributes before the first call",
    "DUPLICATE_INPUT": "pass either always the same object twice, or always two objects",
    "NO_ALIAS": "pass tensors that share no memory, or always the same that do",
    "GRAD_MODE": "call the function in one grad mode",
}
OF_SIZES = "compile with dynamic=None or dynamic=True, or pad to a few sizes"
OF_TEXT = "keep to a few texts: each has a version of its own, in which it is a constant"
OF_AN_ATTRIBUTE = "keep a counter in a buffer (a tensor), or count outside the compiled function"


def what_kept_changing(failures: Sequence[GuardFailure]) -> str:
    """Two lines. `failures`: for each version, the guard that the last arguments fail, in the order of compilation."""
    place, _ = Counter(_subject(failure.guard) for failure in failures).most_common(1)[0]
    about_it = [failure for failure in failures if _subject(failure.guard) == place]
    seen = dict.fromkeys(failure.expected for failure in about_it)
    last = about_it[-1]
    return (
        f"What kept changing: {place} was {', '.join(seen)}, and is {last.actual} now.\n"
        f"To mend it: {advice(last.guard)}."
    )


def advice(guard: Guard) -> str:
    """What to do about a guard that keeps failing."""
    if guard.kind == "TENSOR_MATCH" and ("sizes" in guard.actual or "strides" in guard.actual):
        return OF_SIZES
    if guard.kind == "CONSTANT_MATCH" and guard.expected.startswith(("'", '"')):
        return OF_TEXT
    if guard.kind in ("CONSTANT_MATCH", "NUMBER_MATCH") and "." in guard.source.name():
        return OF_AN_ATTRIBUTE
    return ADVICE.get(guard.kind, "let the program read the same values at each call")


def _subject(guard: Guard) -> str:
    """What the guard looks at, as the user would write it: `x.sizes`, `len(items)`, `state.step`."""
    return IN_AN_INSTANCE.sub(r".\1", guard.actual.format(guard.source.name()))
