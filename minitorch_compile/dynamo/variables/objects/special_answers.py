"""What Python makes of the answer of a special method: `__len__` must give an int that is not negative, `__bool__` a
bool, `__str__` a str, each with its own complaint.

The built-in function itself is the judge: it is asked about an object whose method gives that very answer.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Odd:
...     def __len__(self):
...         return -1
>>> def f(x):
...     try:
...         return x * len(Odd())
...     except ValueError as error:
...         return x + 1, str(error)
>>> print(captured(f, ones(2)))
x -> (x + 1,)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


def judged(
    tracer: Tracer, function: Callable[..., Any], method: str, answer: Value, *args: Any, of: type = object
) -> Any:
    """function(object, *args), for an object of class `of` whose method gave the answer; what it raises, the program
    gets."""
    known = tracer.constant(answer)
    asked = type(of.__name__, (), {method: lambda self, *_: known})()
    return tracer.compute(function, asked, *args)
