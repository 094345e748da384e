"""`torch._dynamo.backends.common`: a compiler of functional graphs as a backend.

>>> import minitorch_compile as torch
>>> def show(graph_module, example_inputs):
...     print(graph_module.graph.compact())
...     return graph_module
>>> f = torch.compile(lambda x: x.sin() + 1, backend=aot_autograd(fw_compiler=show))
>>> f(torch.zeros(2))
x -> (add(sin(x), 1),)
tensor([1., 1.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile._functorch.aot_autograd import aot_module_simplified
from minitorch_compile.fx.graph_module import GraphModule

Backend = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]


def aot_autograd(**kwargs: Any) -> Backend:
    """A backend for torch.compile from `fw_compiler`, `bw_compiler`, `partition_fn`, `decompositions` and
    `inference_compiler`, as aot_function takes them."""
    if "fw_compiler" not in kwargs:
        raise TypeError("aot_autograd: fw_compiler, the compiler of forward graphs, is missing")

    def backend(gm: GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
        return aot_module_simplified(gm, example_inputs, **kwargs)

    return backend


__all__ = ["aot_autograd"]
