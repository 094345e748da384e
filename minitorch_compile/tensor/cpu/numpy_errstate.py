"""Runs NumPy kernels without their floating-point warnings: PyTorch gives inf and nan in silence.

`with np.errstate(all="ignore")` around each kernel would cost more than a small kernel itself. NumPy keeps that setting
in a context variable, so each thread here keeps one context in which it is switched off, and kernels run inside.

>>> import numpy as np
>>> quietly(np.divide, 1.0, np.zeros(2))
array([inf, inf])
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np


class _Silence(threading.local):
    """One context a thread, made on first use."""

    def __init__(self) -> None:
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


silence = _Silence()


def quietly(kernel: Callable[..., Any], *args: Any) -> Any:
    """`kernel(*args)`, silent about overflow, division by zero and invalid values. A kernel must not call another."""
    return silence.run(kernel, *args)
