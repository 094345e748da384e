"""Names that mean something only to several processes: programs import them and ask about them, and use is refused.

Libraries write `isinstance(parameter, DTensor)` on their way through one process, too; the answer is no.

>>> Sharded = refused_class("Sharded")
>>> isinstance(1, Sharded)
False
>>> Sharded([1, 2])
Traceback (most recent call last):
NotImplementedError: Sharded: processes can't work together here; with one, leave it out, and ask ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def refuse(name: str) -> NoReturn:
    """NotImplementedError, with what a program can do instead."""
    raise NotImplementedError(
        f"{name}: processes can't work together here; with one, leave it out, and ask"
        " torch.distributed.get_world_size() > 1 before it"
    )


def refused_function(name: str) -> Callable[..., NoReturn]:
    """A function that is there to be imported."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} needs several processes: NotImplementedError."
    return function


def refused_class(name: str, *bases: type, methods: tuple[str, ...] = ()) -> Any:
    """A class that has no instances. Of its `methods`, those that make one are refused like the class itself."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        refuse(name)

    body: dict[str, Any] = {"__new__": __new__, "__doc__": f"{name} needs several processes: NotImplementedError."}
    body |= {method: staticmethod(refused_function(f"{name}.{method}")) for method in methods}
    return type(name, bases, body)
