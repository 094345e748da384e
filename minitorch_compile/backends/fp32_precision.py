"""What the fp32_precision of torch.backends and of its parts says: the nearest that isn't "none" counts.

    torch.backends.cuda.matmul, .cudnn.conv, .cudnn.rnn    <-    torch.backends.cudnn    <-    torch.backends

>>> from minitorch_compile import backends
>>> backends.fp32_precision = "ieee"
>>> backends.cudnn.conv.fp32_precision
'ieee'
>>> backends.cudnn.conv.fp32_precision = "tf32"
>>> backends.cudnn.conv.fp32_precision, backends.cudnn.rnn.fp32_precision
('tf32', 'ieee')
>>> backends.fp32_precision = backends.cudnn.conv.fp32_precision = "none"
"""

from __future__ import annotations

import sys

KNOWN = ("none", "ieee", "tf32")


def checked(precision: str) -> str:
    """RuntimeError, PyTorch's, for what a GPU has not."""
    if precision == "bf16":
        raise RuntimeError("backend 'cuda' does not support precision 'bf16'")
    if precision not in KNOWN:
        raise RuntimeError(f"Unknown precision: {precision}; expected one of {KNOWN}")
    return precision


def generic(own: str) -> str:
    """A part's own precision, or that of what it is a part of."""
    if own != "none":
        return own
    packages = "minitorch_compile.backends.cudnn", "minitorch_compile.backends"  # whose attributes programs set
    return next((said for name in packages if (said := sys.modules[name].fp32_precision) != "none"), "none")


class OperatorPrecision:
    """torch.backends.cudnn.conv and .rnn: TF32 unless somebody says otherwise."""

    def __init__(self) -> None:
        self._own = "none"

    @property
    def fp32_precision(self) -> str:
        """ "tf32": ten bits of each float32 factor may do; "ieee" and "none": not."""
        said = generic(self._own)
        return "tf32" if said == "none" and sys.modules["minitorch_compile.backends.cudnn"].allow_tf32 else said

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        self._own = checked(precision)
