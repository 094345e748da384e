"""Results of graphs in inference mode: whatever a backend makes of a graph, they are inference tensors.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.tensor import inference_mode, ones
>>> from minitorch_compile.tensor.tensor_base import wrap
>>> def doubling(module, inputs):
...     return lambda x: (wrap(x.array * 2),)                         # knows nothing about modes
>>> with inference_mode():
...     optimize(lambda x: x * 2, doubling)(ones(2)).is_inference()
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.memory.storage import INFERENCE
from minitorch_compile.tensor.tensor_base import TensorBase


def marking_inference(graph: Callable[..., Any]) -> Callable[..., Any]:
    """The graph, its results marked, except those that look at the memory of an argument."""

    def run(*args: Any) -> Any:
        results = graph(*args)
        given = {id(arg.storage.memory) for arg in args if isinstance(arg, TensorBase)}
        for result in results:
            if isinstance(result, TensorBase) and id(result.storage.memory) not in given:
                result.storage.version = INFERENCE
        return results

    return run
