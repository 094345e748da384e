"""The hooks of `import`, while tracing: a module that is loaded is found, none is loaded.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     from math import pi
...     return x * pi
>>> print(captured(f, ones(2)))
x -> (x * 3.141592653589793,)
"""

from __future__ import annotations

import sys
from types import ModuleType

from minitorch_compile.dynamo.capture.domain import SymbolicDomain
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.scope import GlobalsVariable


class ImportHooks(SymbolicDomain):
    """The module in which the code stands is `scope`."""

    scope: GlobalsVariable

    def import_name(self, name: str, fromlist: Value, level: Value) -> Value:
        """A module that is imported already. Importing one now would run its code while tracing."""
        names, depth = self.constant(fromlist), self.constant(level)
        package = self.scope.real.get("__package__") or self.scope.real.get("__name__", "")
        full = (
            name
            if depth == 0
            else ".".join([*package.split(".")[: len(package.split(".")) - depth + 1], *filter(None, [name])])
        )
        module = sys.modules.get(full)
        missing = [item for item in names or () if not hasattr(module, item)]
        if not isinstance(module, ModuleType) or missing:
            raise Unsupported("unsupported-call", f"importing {name}, which is not loaded yet, runs its code.")
        top = module if names else sys.modules[full.partition(".")[0]]
        return self.output.wrap_constant(top, top.__name__)

    def import_from(self, module: Value, name: str) -> Value:
        return self.load_attr(module, name)
