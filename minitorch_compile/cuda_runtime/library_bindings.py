"""NVIDIA's libraries from Python, by NVIDIA: nvmath-python has their functions as they are, cudnn-frontend has cuDNN's.

The packages are optional, and loaded when the first operation asks for them. What is missing is named.

>>> bindings("cublasLx")
Traceback (most recent call last):
minitorch_compile.cuda_runtime.errors.CudaLibraryMissingError: nvmath-python has no cublasLx
"""

from __future__ import annotations

import importlib
from types import ModuleType

from minitorch_compile.cuda_runtime.errors import CudaLibraryMissingError

# The module, and the package with it.
PACKAGES = {
    "cublasLt": ("nvmath.bindings.cublasLt", "nvmath-python>=1.0,<2"),
    "cufft": ("nvmath.bindings.cufft", "nvmath-python>=1.0,<2"),
    "cublas": ("nvmath.bindings.cublas", "nvmath-python>=1.0,<2"),
    "cusolverDn": ("nvmath.bindings.cusolverDn", "nvmath-python>=1.0,<2"),
    "cudnn": ("cudnn", "nvidia-cudnn-frontend>=1.32,<2"),
}


def bindings(library: str) -> ModuleType:
    """The module with a library's functions. CudaLibraryMissingError if its package isn't installed."""
    if library not in PACKAGES:
        raise CudaLibraryMissingError(f"nvmath-python has no {library}")
    module, package = PACKAGES[library]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        install = f"python -m pip install '{package}'"
        raise CudaLibraryMissingError(f"{library} is not there: {install} ({error})") from None
