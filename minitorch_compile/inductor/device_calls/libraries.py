"""NVIDIA's libraries for the GPUs of a runtime, each loaded when it is first wanted; what isn't there is said once.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()) as runtime:
...     Libraries(runtime).products is None      # a simulated GPU has no libraries, and doesn't miss them
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from minitorch_compile import backends
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime import library_bindings
from minitorch_compile.cuda_runtime.cublas_lt import CublasLt, Precision
from minitorch_compile.cuda_runtime.cudnn import MOST_TRIED, Cudnn, Switches, version_of
from minitorch_compile.cuda_runtime.cufft import CuFft
from minitorch_compile.cuda_runtime.cusolver import CuSolver
from minitorch_compile.cuda_runtime.errors import CudaLibraryMissingError
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.stream_workspaces import StreamWorkspaces
from minitorch_compile.tensor.functions.settings import settings
from minitorch_compile.user_warnings import warn_user

NONE: dict[str, Any] = {}


class Libraries:
    """`bindings`: where the functions of a library come from, by its name; KeyError for one that isn't missed."""

    def __init__(self, runtime: Runtime, bindings: Callable[[str], Any] | None = None) -> None:
        self.runtime = runtime
        driver = getattr(runtime.driver, "driver", runtime.driver)  # that of a sanitized one
        self.answers: dict[Any, bool] = {}  # what was asked of them before, by who asks at each call
        self.workspaces = StreamWorkspaces(runtime.allocators)
        runtime.workspaces.append(self.workspaces)
        simulated = isinstance(driver, FakeDriver)
        self.bindings = bindings or (NONE.__getitem__ if simulated else library_bindings.bindings)

    def found(self, name: str, instead: str) -> Any:
        """The functions of a library; None, and a warning that says what is done instead, if it isn't there."""
        try:
            return self.bindings(name)
        except KeyError:
            return None
        except CudaLibraryMissingError as error:
            warn_user(f"{error}. {instead}")
            return None

    @cached_property
    def has_tensor_cores(self) -> bool:
        """Whether all GPUs have those that our kernels use, of bfloat16, and copies to shared memory (`cp.async`)."""
        driver = self.runtime.driver
        return all(driver.properties(index).major >= 8 for index in range(len(self.runtime.devices)))

    @cached_property
    def products(self) -> CublasLt | None:
        """cuBLASLt."""
        found = self.found("cublasLt", "Until then a simple kernel multiplies matrices on cuda, several times slower")
        return None if found is None else CublasLt(self.runtime.driver, self.workspaces, found)

    @property
    def convolutions(self) -> Cudnn | None:
        """cuDNN, unless a program has switched it off."""
        return self._convolutions if backends.cudnn.enabled else None

    @cached_property
    def _convolutions(self) -> Cudnn | None:
        instead = "Until then convolutions on cuda are products of what is copied out of images, several times slower"
        found = self.found("cudnn", instead)
        if found is not None and version_of(found) is None:
            warn_user(f"cudnn: libcudnn.so.9 is not there: python -m pip install 'nvidia-cudnn-cu13>=9'. {instead}")
            return None
        return None if found is None else Cudnn(self.runtime.driver, self.workspaces, found)

    @cached_property
    def solver(self) -> CuSolver | None:
        """cuSOLVER, with cuBLAS beside it."""
        instead = "Until then systems of equations and factorizations on cuda are computed in main memory"
        solver = self.found("cusolverDn", instead)
        blas = None if solver is None else self.found("cublas", instead)
        return None if blas is None else CuSolver(self.runtime.driver, self.workspaces, solver, blas)

    @cached_property
    def transforms(self) -> CuFft | None:
        """cuFFT."""
        found = self.found("cufft", "Until then Fourier transforms of tensors on cuda are computed in main memory")
        return None if found is None else CuFft(self.runtime.driver, self.workspaces, found)


def convolution_switches() -> Switches:
    """What torch.backends.cudnn and use_deterministic_algorithms say of convolutions."""
    cudnn = backends.cudnn
    limit = MOST_TRIED if cudnn.benchmark_limit is None else cudnn.benchmark_limit
    deterministic = cudnn.deterministic or settings.deterministic
    return Switches(cudnn.conv.fp32_precision == "tf32", deterministic, bool(cudnn.benchmark), limit)


def float32_precision() -> Precision:
    """What torch.backends.cuda.matmul allows products of float32."""
    return TF32 if backends.cuda.matmul.allow_tf32 else WIDE


def float16_precision() -> Precision:
    """Likewise, of float16."""
    return REDUCED if backends.cuda.matmul.allow_fp16_reduced_precision_reduction else WIDE


def bfloat16_precision() -> Precision:
    """Likewise, of bfloat16."""
    return REDUCED if backends.cuda.matmul.allow_bf16_reduced_precision_reduction else WIDE


def convolution_precision() -> Precision:
    """What torch.backends.cudnn allows convolutions of float32, also where cuDNN isn't what computes them."""
    return TF32 if backends.cudnn.conv.fp32_precision == "tf32" else WIDE


def full_precision() -> Precision:
    """Of what no switch is about."""
    return WIDE


WIDE, TF32, REDUCED = Precision(reduced=False), Precision(tf32=True, reduced=False), Precision(reduced=True)
Precisions = Mapping[str, Callable[[], Precision]]
PRECISIONS: Precisions = {"float32": float32_precision, "float16": float16_precision, "bfloat16": bfloat16_precision}
PRECISIONS_OF_CONVOLUTIONS: Precisions = {**PRECISIONS, "float32": convolution_precision}
