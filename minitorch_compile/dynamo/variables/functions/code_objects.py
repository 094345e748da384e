"""function.__code__: what a function's code says of its parameters and variables.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def scale(x, by):
...     return x * by
>>> print(captured(lambda x: x * scale.__code__.co_argcount if "by" in scale.__code__.co_varnames else x, ones(2)))
x -> (x * 2,)
"""

from __future__ import annotations

from collections.abc import Hashable
from types import CodeType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.rebuilding import Held, Template

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

# Numbers, text and tuples of text: the code of a function that is guarded has no others.
NUMBERS = "argcount posonlyargcount kwonlyargcount nlocals flags stacksize firstlineno"
TEXT = "name qualname filename varnames names freevars cellvars"
PLAIN = frozenset(f"co_{name}" for name in f"{NUMBERS} {TEXT}".split())


class CodeVariable(VariableTracker):
    """The code of a function. That the function still has it is guarded where the function was met."""

    def __init__(self, code: CodeType) -> None:
        super().__init__()
        self.code = code

    def python_type(self) -> type:
        return CodeType

    def real_value(self) -> Any:
        return self.code

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("value", self.code)

    def describe(self) -> str:
        return f"the code of {self.code.co_qualname}()"

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name not in PLAIN:
            self.unsupported(f"the attribute '{name}'")
        return tracer.output.from_python(getattr(self.code, name))

    def reconstruct(self, output: Output) -> Template:
        return Template(Held(self.code, f"code_{self.code.co_name}"))
