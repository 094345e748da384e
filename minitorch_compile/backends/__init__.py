"""torch.backends: switches of libraries that PyTorch calls and this package does not, so that programs can set them.

>>> from minitorch_compile import backends
>>> backends.cudnn.benchmark = True      # there is no cuDNN to be faster
>>> backends.mps.is_available(), backends.cudnn.is_available()
(False, False)
"""

from minitorch_compile.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]

fp32_precision = "none"  # float32 is computed as such
