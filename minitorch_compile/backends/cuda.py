"""torch.backends.cuda: switches of the GPU's matrix products; there is no GPU, so they have no effect.

>>> matmul.allow_tf32 = True
>>> is_built()
False
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class MatmulSwitches:
    """How a GPU may round in matrix products."""

    allow_tf32: bool = False
    allow_fp16_reduced_precision_reduction: bool = True
    allow_bf16_reduced_precision_reduction: bool = True


matmul = MatmulSwitches()


def is_built() -> bool:
    """Whether tensors can be on a GPU."""
    return False


def enable_flash_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used; none are."""


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used; none are."""


def enable_math_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used; none are."""
