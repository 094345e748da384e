"""torch.nn.attention: which kernel may be used, causal masks, and attention with scores of one's own.

On a CPU there is one way to compute attention, whatever is chosen; on a GPU, cuDNN's kernel and ours obey the choice:

>>> from minitorch_compile.backends import cuda
>>> with sdpa_kernel(SDPBackend.MATH):
...     cuda.flash_sdp_enabled(), cuda.math_sdp_enabled()
(False, True)
>>> cuda.flash_sdp_enabled()
True
"""

from minitorch_compile.nn.attention import bias, flex_attention
from minitorch_compile.nn.attention.backend_choice import SDPBackend, sdpa_kernel

SDPBackend.__module__ = __name__

__all__ = ["SDPBackend", "bias", "flex_attention", "sdpa_kernel"]
