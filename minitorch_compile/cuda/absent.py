"""What is said where a GPU is asked for something: there is none, and how a program finds that out.

>>> refuse()
Traceback (most recent call last):
AssertionError: Torch not compiled with CUDA enabled: tensors live on the CPU here; ask torch.cuda.is_available() first
"""

from __future__ import annotations

from typing import NoReturn

ADVICE = "tensors live on the CPU here; ask torch.cuda.is_available() first"


def refuse() -> NoReturn:
    """AssertionError, PyTorch's for a build without CUDA."""
    raise AssertionError(f"Torch not compiled with CUDA enabled: {ADVICE}")
