"""Which of NVIDIA's libraries PyTorch would rather call. Here there is one for each task, so there is nothing to
prefer: programs may say the one that is there, or leave it open.

>>> preferred_linalg_library("default").name, preferred_blas_library().name
('Default', 'Cublas')
>>> preferred_linalg_library("magma")
Traceback (most recent call last):
    ...
RuntimeError: Cannot set preferred backend to MAGMA if PyTorch has not been compiled with MAGMA.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import accelerators


class LinalgBackend(Enum):
    """Who factorizes matrices on a GPU."""

    Default = 0
    Cusolver = 1
    Magma = 2


class BlasBackend(Enum):
    """Who multiplies them."""

    Default = 0
    Cublas = 1
    Cublaslt = 2
    Ck = 3


LINALG = {"default": LinalgBackend.Default, "cusolver": LinalgBackend.Cusolver, "magma": LinalgBackend.Magma}
BLAS = {
    "default": BlasBackend.Default,
    "cublas": BlasBackend.Cublas,
    "hipblas": BlasBackend.Cublas,
    "cublaslt": BlasBackend.Cublaslt,
    "hipblaslt": BlasBackend.Cublaslt,
    "ck": BlasBackend.Ck,
}
# Libraries as messages write them, and whether they are called once there is a GPU.
LIBRARIES = {
    LinalgBackend.Cusolver: ("cuSOLVER", True),
    LinalgBackend.Magma: ("MAGMA", False),
    BlasBackend.Cublaslt: ("cuBLASLt", True),
    BlasBackend.Ck: ("CK", False),
}

_preferred: dict[type[Enum], Any] = {LinalgBackend: LinalgBackend.Default, BlasBackend: BlasBackend.Cublas}


def preferred_linalg_library(backend: str | LinalgBackend | None = None) -> LinalgBackend:
    """What was preferred last: "default" or "cusolver". RuntimeError for a library that isn't called here."""
    return _prefer(LinalgBackend, LINALG, backend)


def preferred_blas_library(backend: str | BlasBackend | None = None) -> BlasBackend:
    """What was preferred last: "default", "cublas" or "cublaslt". RuntimeError for a library that isn't called here."""
    return _prefer(BlasBackend, BLAS, backend)


def _prefer(kind: type[Enum], names: dict[str, Any], wanted: Any) -> Any:
    if wanted is None:
        return _preferred[kind]
    if not isinstance(wanted, (str, kind)):
        raise RuntimeError("Unknown input value type.")
    if isinstance(wanted, str) and wanted not in names:
        raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
    choice = names[wanted] if isinstance(wanted, str) else wanted
    name, is_called = LIBRARIES.get(choice, ("", True))
    if name and not (is_called and accelerators["cuda"].is_available()):
        raise RuntimeError(f"Cannot set preferred backend to {name} if PyTorch has not been compiled with {name}.")
    _preferred[kind] = choice
    return choice
