"""Programs to differentiate, as in derivative_cases.py: samples, linear algebra, Fourier transforms."""

from __future__ import annotations

from minitorch_compile.tensor import float64, ops, tensor
from tests.autograd.derivative_cases import Case, positive


def sampling_cases() -> list[Case]:
    u = tensor([[0.2, 0.5, 0.9], [0.01, 0.6, 0.4]], dtype=float64)
    return [("gamma_quantile", lambda a: ops.gamma_quantile(a, u), [positive(2, 3)])]


def cases() -> list[Case]:
    return sampling_cases()
