"""The layers, a file for each family. What `nn` has of them can be had from here too, as in PyTorch.

>>> from minitorch_compile import nn
>>> nn.modules.Linear is nn.Linear, nn.modules.utils._pair(3)
(True, (3, 3))
"""

import importlib
from typing import Any

# Files that PyTorch keeps in this folder.
ELSEWHERE = {"module": "minitorch_compile.nn.module", "utils": "minitorch_compile.nn.tuples"}


def __getattr__(name: str) -> Any:
    """A layer by its name in `nn`: there is one list of them, and it is there."""
    from minitorch_compile import nn

    if name in ELSEWHERE:
        return importlib.import_module(ELSEWHERE[name])
    layer = getattr(nn, name, None)
    if name in nn.__all__ or (isinstance(layer, type) and issubclass(layer, nn.Module)):
        return layer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
