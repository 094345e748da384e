"""The entrance of floor 6: a graph of prims in, a function on tensors out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile.fx import GraphModule
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.targets import find_target
from minitorch_compile.kernel_options import Options


def compile_graph(
    module: GraphModule,
    example_inputs: Sequence[Any] = (),
    target: str = "cpu",
    options: Mapping[str, Any] | None = None,
) -> Callable[..., tuple[Any, ...]]:
    """Compiles a graph over prims for a target: "cpu", "loops", "cuda_sim" or "cuda".

    The placeholders' `meta["val"]` tell sizes, strides and dtypes; `example_inputs`, fake tensors, are used where a
    placeholder has none. `options` are those of `Options`. The result takes tensors and returns a tuple. ValueError for
    an unknown target or option.
    """
    chosen = find_target(target)
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node, value in zip(placeholders, example_inputs):
        node.meta.setdefault("val", value)
    return chosen.compile(lower(module), Options.of(options))
