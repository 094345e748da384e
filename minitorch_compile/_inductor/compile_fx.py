"""`torch._inductor.compile_fx`: the backend "inductor" as a function of a graph, for backends that go on from there.

>>> import minitorch_compile as torch
>>> def my_backend(graph_module, example_inputs):
...     print(len(graph_module.graph.nodes), "nodes")
...     return compile_fx(graph_module, example_inputs)
>>> torch.compile(lambda x: x.sin() + 1, backend=my_backend)(torch.zeros(2))
4 nodes
tensor([1., 1.])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch_compile.compiler.modes import options_of
from minitorch_compile.compiler.pipeline import Inductor
from minitorch_compile.fx.graph_module import GraphModule


def compile_fx(
    model_: GraphModule, example_inputs_: Sequence[Any], config_patches: Mapping[str, Any] | None = None
) -> Any:
    """A function that runs a captured graph with compiled kernels. `config_patches`: options, as of compile()."""
    return Inductor("cpu", options_of(None, config_patches))(model_, list(example_inputs_))
