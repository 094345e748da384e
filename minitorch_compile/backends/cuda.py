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


class AttentionSwitches:
    """Which of PyTorch's ways to compute attention may be used, by the names of SDPBackend."""

    enabled = frozenset(("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH", "CUDNN_ATTENTION"))

    def switch(self, name: str, on: bool) -> None:
        self.enabled = self.enabled | {name} if on else self.enabled - {name}


attention_switches = AttentionSwitches()


def enable_flash_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used; none are."""
    attention_switches.switch("FLASH_ATTENTION", enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used; none are."""
    attention_switches.switch("EFFICIENT_ATTENTION", enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used; none are."""
    attention_switches.switch("MATH", enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used; none are."""
    attention_switches.switch("CUDNN_ATTENTION", enabled)


def flash_sdp_enabled() -> bool:
    """What was said last."""
    return "FLASH_ATTENTION" in attention_switches.enabled


def mem_efficient_sdp_enabled() -> bool:
    """What was said last."""
    return "EFFICIENT_ATTENTION" in attention_switches.enabled


def math_sdp_enabled() -> bool:
    """What was said last."""
    return "MATH" in attention_switches.enabled


def cudnn_sdp_enabled() -> bool:
    """What was said last."""
    return "CUDNN_ATTENTION" in attention_switches.enabled
