"""torch.onnx.symbolic_helper: what functions that say how an op is exported are decorated with.

>>> @parse_args("v", "f")
... def exported(g, boxes, threshold): ...
>>> exported.__name__
'exported'
"""

from collections.abc import Callable
from typing import Any


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """How an exporter would convert the arguments after the graph, one letter each; the function stays as it is."""
    return lambda function: function
