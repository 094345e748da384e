"""The body of a generated function behind its guards: what is read there must have been checked before.

Writing the body may look into values that nobody looked into while tracing, such as an argument that is only returned
in a list. Then there are new guards, and the body is written again, behind all of them.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda x, items: (x + 1, items), ones(2), [3]))
(out_0,) = graph(x)
return (out_0, items)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.guards.guard_code import write_checks
from minitorch_compile.dynamo.rewriting.codegen import Codegen

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph


def write_body(output: OutputGraph, write: Callable[[Codegen], None]) -> Codegen:
    """What `write` writes, behind the guards that it needs."""
    while True:
        codegen = Codegen(output)
        _guard_classes(output)
        count = len(output.guards)
        write_checks(output.guards, codegen.reader)
        write(codegen)
        _guard_classes(output)
        if len(output.guards) == count:
            return codegen


def _guard_classes(output: OutputGraph) -> None:
    """What the classes had, and lacked, that were asked."""
    output.guards.add(*output.lookups.guards(output.names, output.guards, output.made_classes))


def guard_sizes(codegen: Codegen) -> None:
    """What was assumed about sizes, by the trace and by the backend: checked after all other guards."""
    sizes = codegen.output.sizes
    codegen.output.guards.add(*sizes.guards())
    for text in sizes.checks(codegen.read):
        codegen.reader.check_text(text)
    codegen.reader.flush()
