"""torch.backends.cuda: switches of the GPU's matrix products.

>>> matmul.allow_tf32 = True
>>> matmul.fp32_precision, settings.get_float32_matmul_precision()
('tf32', 'high')
>>> matmul.allow_tf32 = False
>>> matmul.fp32_precision, is_built()
('ieee', False)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from minitorch_compile.backends.fp32_precision import checked, generic
from minitorch_compile.backends.preferred_libraries import preferred_blas_library as preferred_blas_library
from minitorch_compile.backends.preferred_libraries import preferred_linalg_library as preferred_linalg_library
from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.tensor.functions import settings
from minitorch_compile.user_warnings import warn_user


class MatmulSwitches:
    """How a GPU may round in matrix products. `allow_..._reduced_precision_reduction`: the parts of a long sum may be
    added as numbers of two bytes."""

    def __init__(self) -> None:
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False  # PyTorch's name; sums of float16 are float32 here in any case

    @property
    def fp32_precision(self) -> str:
        """ "tf32": ten bits of each float32 factor may do; "ieee": not; "none": nobody said."""
        return generic(settings.settings.matmul_fp32_precision)

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        settings.settings.matmul_fp32_precision = checked(precision)

    @property
    def allow_tf32(self) -> bool:
        """Whether `fp32_precision` is "tf32". Setting it is set_float32_matmul_precision("high") or ("highest")."""
        return self.fp32_precision == "tf32"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        settings.set_float32_matmul_precision("high" if allowed else "highest")


matmul = MatmulSwitches()


def is_built() -> bool:
    """Whether tensors can be on a GPU: whether there is one, since nothing has to be built."""
    return accelerators["cuda"].is_available()


class AttentionSwitches:
    """Which of PyTorch's ways to compute attention may be used, by the names of SDPBackend."""

    enabled = frozenset(("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH", "CUDNN_ATTENTION"))
    reduces_in_two_bytes = False

    def switch(self, name: str, on: bool) -> None:
        self.enabled = self.enabled | {name} if on else self.enabled - {name}


attention_switches = AttentionSwitches()


def enable_flash_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used: cuDNN's is for CUDNN_ATTENTION and FLASH_ATTENTION."""
    attention_switches.switch("FLASH_ATTENTION", enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used: cuDNN's is for CUDNN_ATTENTION and FLASH_ATTENTION."""
    attention_switches.switch("EFFICIENT_ATTENTION", enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used: cuDNN's is for CUDNN_ATTENTION and FLASH_ATTENTION."""
    attention_switches.switch("MATH", enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Which of the GPU's attention kernels may be used: cuDNN's is for CUDNN_ATTENTION and FLASH_ATTENTION."""
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


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Whether attention that is computed with a score matrix may add numbers of two bytes as such. It never does."""
    attention_switches.reduces_in_two_bytes = enabled


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """What was said last."""
    return attention_switches.reduces_in_two_bytes


def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> AbstractContextManager[dict[str, Any]]:
    """The older name of `torch.nn.attention.sdpa_kernel`: inside, only what is named may be used. Warns of its age."""
    warn_user(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please"
        " see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
        FutureWarning,
    )
    wanted = {
        "FLASH_ATTENTION": enable_flash,
        "MATH": enable_math,
        "EFFICIENT_ATTENTION": enable_mem_efficient,
        "CUDNN_ATTENTION": enable_cudnn,
    }
    return _only(frozenset(name for name, allowed in wanted.items() if allowed))


@contextmanager
def _only(names: frozenset[str]) -> Iterator[dict[str, Any]]:
    before = attention_switches.enabled
    attention_switches.enabled = names
    try:
        yield {}
    finally:
        attention_switches.enabled = before


@dataclass(frozen=True)
class SDPAParams:
    """The arguments of an attention call, about which programs ask."""

    query: Any
    key: Any
    value: Any
    attn_mask: Any = None
    dropout: float = 0.0
    is_causal: bool = False
    enable_gqa: bool = False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether cuDNN's kernel, which makes no score matrix, computes attention of these."""
    query, key, value = params.query, params.key, params.value
    if query.device.type != "cuda" or params.attn_mask is not None or params.dropout:
        return False
    if any(x.device != query.device for x in (key, value)):
        return False
    shares_heads = params.enable_gqa or query.shape[:-2] == key.shape[:-2]
    how = params.is_causal, query.shape[-1] ** -0.5, None
    return shares_heads and accelerators["cuda"].attends((query, key, value), *how)


can_use_flash_attention = can_use_cudnn_attention


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether attention would be computed by the kernel of that name: never, there is none."""
    return False


def is_flash_attention_available() -> bool:
    """Whether a kernel of that name was built: none is, cuDNN's has its place (`can_use_flash_attention`)."""
    return False


def is_ck_sdpa_available() -> bool:
    """Whether AMD's kernels were built: none is."""
    return False
