"""What can go wrong between a program and its GPU.

>>> error = CudaError("cuEventQuery", "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle")
>>> print(error)
CUDA error: invalid resource handle (cuEventQuery: CUDA_ERROR_INVALID_HANDLE)
>>> error.name
'CUDA_ERROR_INVALID_HANDLE'
"""

from __future__ import annotations


class CudaError(RuntimeError):
    """A call of CUDA's driver failed. `name` is the driver's own name of the error."""

    def __init__(self, call: str, name: str, explanation: str) -> None:
        super().__init__(call, name, explanation)
        self.call, self.name, self.explanation = call, name, explanation

    def __str__(self) -> str:
        return f"CUDA error: {self.explanation} ({self.call}: {self.name})"


class CudaOutOfMemoryError(CudaError):
    """The driver has no memory left. The allocator takes this as a sign to empty its cache."""

    def __init__(self, call: str, explanation: str = "out of memory") -> None:
        super().__init__(call, "CUDA_ERROR_OUT_OF_MEMORY", explanation)

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.call, self.explanation)


class CudaUnavailableError(RuntimeError):
    """There is no GPU that can be used; the text says what is missing."""


class CudaLibraryMissingError(RuntimeError):
    """A library of NVIDIA's, or the package that calls it, isn't installed; the text says which."""


class OutOfMemoryError(RuntimeError):
    """torch.cuda.OutOfMemoryError: no memory is left, though the allocator has given back all that it can."""
