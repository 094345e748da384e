"""Objects whose end can be seen, since their class has `__del__`, or somebody has a weak reference to them.

Python ends an object when the last reference to it goes. A compiled frame keeps values a little longer, and makes some
of them not at all. So a frame that makes such an object, or takes one out of a container, runs as it is.

>>> class Noisy:
...     def __del__(self):
...         pass
>>> holds_finalizer([1, {"key": Noisy()}]), holds_finalizer([1, {"key": "text"}])
(True, False)
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up

DEEPEST, MOST = 3, 1000  # what is further inside, or in larger containers, is not looked at


def has_finalizer(cls: type) -> bool:
    """Whether the class has a `__del__` written in Python."""
    found = look_up(cls, "__del__")
    return found is not None and isinstance(found.value, FunctionType)


def holds_finalizer(value: Any, depth: int = 0) -> bool:
    """Whether the value is such an object, or a built-in container with one inside."""
    if has_finalizer(type(value)):
        return True
    if type(value) not in (list, tuple, dict, set) or depth == DEEPEST or len(value) > MOST:
        return False
    members = [*value, *value.values()] if type(value) is dict else value
    return any(holds_finalizer(member, depth + 1) for member in members)


def refuse(what: str, why: str = "has __del__, which runs when the last reference goes") -> Unsupported:
    """The break for such an object."""
    error = Unsupported("unsupported-object", f"{what} {why}.")
    error.keeps_frame_whole = "its end can be seen, so it must come when it comes in the plain function"
    return error
