"""Outputs from which nobody can go back: a derivative is missing, or says that it has no value.

Plainly, that raises only when somebody goes back from them. So the joint graph has the gradients of all the others, and
these are entered with the error that a backward pass from them will raise.

>>> import minitorch_compile as torch
>>> @torch.compile(backend="aot_eager")
... def f(x):
...     return x * 2, torch.nextafter(x, x)
>>> double, neighbour = f(torch.tensor(3.0, requires_grad=True))
>>> double.backward()
>>> neighbour.backward()
Traceback (most recent call last):
RuntimeError: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile.aot.tracing import Tracer
from minitorch_compile.fx.node import Node

GradientsOf = Callable[[Sequence[Any]], list[Any]]  # the gradient of each input, given the outputs to go back from


def possible_gradients(
    tracer: Tracer, gradients_of: GradientsOf, outputs: Mapping[int, Any], refused: dict[int, RuntimeError]
) -> tuple[list[Any], list[Node]]:
    """The gradients from all outputs that aren't refused; the outputs whose way back raises are entered there.

    Also gives the tangents of attempts that failed.
    """
    known = {node for node in tracer.graph.nodes if node.op == "placeholder"}
    try:
        return gradients_of([x for i, x in outputs.items() if i not in refused]), []
    except RuntimeError:
        for i, x in outputs.items():
            try:
                gradients_of([] if i in refused else [x])
            except RuntimeError as error:
                refused[i] = error.with_traceback(None)
    discarded = [node for node in tracer.graph.nodes if node.op == "placeholder" and node not in known]
    return gradients_of([x for i, x in outputs.items() if i not in refused]), discarded
