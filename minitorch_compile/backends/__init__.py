"""torch.backends: switches of libraries that PyTorch calls. Those of a GPU's libraries have their effect there; others
belong to libraries that this package does not call, and are there so that programs can set them.

>>> from minitorch_compile import backends
>>> backends.mkldnn.is_available()
False
>>> backends.mps.is_available(), backends.cudnn.is_available()
(False, False)
"""

from minitorch_compile.backends import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    kleidiai,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
)

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "cusparselt",
    "kleidiai",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "quantized",
]

fp32_precision = "none"  # float32 is computed as such
