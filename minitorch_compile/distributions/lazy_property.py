"""An attribute that is computed when first asked for.

>>> class Circle:
...     radius = 2.0
...     @lazy_property
...     def area(self):
...         return 3.14 * self.radius**2
>>> Circle().area
12.56
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.grad_mode import enable_grad


class lazy_property:
    """An attribute that is computed when first asked for, and kept; with gradients, whatever the caller's mode is."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
