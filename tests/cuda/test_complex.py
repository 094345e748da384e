"""Complex numbers on a GPU: kernels beside the CPU, at branch cuts, with infinities, and seen with other signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime

CUTS = torch.tensor([complex(a, b) for a in (0.0, -0.0, 1.0, -1.5, 0.3) for b in (0.0, -0.0, 1.0, -2.5, 0.01)])
FAR = torch.tensor([complex(a, b) for a in (np.inf, -np.inf, np.nan, 1.0) for b in (np.inf, -np.inf, np.nan, 0.0, 1.0)])
LAYOUTS = [
    CUTS,
    (torch.arange(12) - 5.5).view(3, 4) * (0.5 - 0.25j),
    ((torch.arange(12) - 5.5).view(4, 3).to(torch.complex128) * (0.5 - 0.25j)).t(),
    torch.zeros(0, dtype=torch.complex64),
    torch.tensor(1 + 2j),
]
UNARY = [
    *("abs", "angle", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh"),
    *("cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "neg", "reciprocal", "square", "sigmoid"),
    *("sgn", "conj", "real", "imag", "isnan", "isfinite", "resolve_conj", "view_as_real", "sum", "prod", "mean", "var"),
]
PROGRAMS: dict[str, Any] = {
    "arithmetic": lambda z: (z + 1, z - 2j, z * z, z / (z + 1), 2.0 / z, z == z),
    "powers": lambda z: (z**2, z**2.5, z ** (1 + 2j), 2.0**z, z**z),
    "signs": lambda z: (z.conj() * z, z.conj().imag + 1, z.conj().sin(), z.conj().imag.neg()),
    "parts": lambda z: (
        torch.view_as_complex(torch.view_as_real(z)),
        torch.complex(z.imag, z.real),
        z.abs().to(z.dtype),
    ),
    "chosen": lambda z: (torch.where(z.real > 0, z, z * 2), torch.nonzero(z), z.flip(-1), torch.cat([z, z])),
    "along rows": lambda z: (z.sum(0), z.prod(-1), z.cumsum(0), z.cumprod(0)),
    "matrices": lambda z: (z @ z.mH, z.t() @ z, torch.einsum("ij,kj->ik", z, z), torch.vdot(z[0], z[1])),
    "indices": lambda z: (z[[0, 1, 0]], z.index_add(0, torch.tensor([1, 1, 0], device=z.device)[: z.shape[0]], z)),
    "writes": lambda z: (z.clone().mul_(2j).add_(1), written(z.clone())),
    "new": lambda z: (torch.full((2,), 1 + 2j, device=z.device), torch.eye(2, dtype=z.dtype, device=z.device)),
    "random": lambda z: seeded(lambda: (torch.randn(3, dtype=z.dtype, device=z.device),)),
    "images": lambda z: (torch.nn.functional.conv1d(z[None], z[None, :, :2]),),
    "gradient": lambda z: (gradient(z),),
}
OF_MATRICES = ("along rows", "matrices", "indices", "writes", "images", "gradient")


def written(z: Any) -> Any:
    z[0] = 3j
    z.real.zero_()
    return z


def seeded(draw: Any) -> Any:
    torch.manual_seed(5)
    return draw()


def gradient(z: Any) -> Any:
    z = z.detach().clone().requires_grad_()
    ((z * z.conj()).real.sum() + (z.exp() / (z + 3)).abs().sum() + (z @ z.mH).imag.square().sum()).backward()
    return z.grad


def compare(call: Any, z: Any) -> None:
    for here, there in zip(*(call(x) if isinstance(call(x), tuple) else (call(x),) for x in (z, z.cuda()))):
        assert here.dtype is there.dtype and here.stride() == there.stride() and there.is_cuda
        expected, found = here.resolve_conj().resolve_neg(), there.cpu().resolve_conj().resolve_neg()
        assert np.allclose(expected.numpy(), found.numpy(), rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.filterwarnings("ignore:var")
@pytest.mark.parametrize("name", UNARY)
def test_functions(name: str, gpus: Runtime) -> None:
    for z in LAYOUTS:
        compare(getattr(torch, name), z)
    assert gpus.kernels is None or not gpus.kernels.reasons  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["abs", "exp", "sqrt", "sin", "cos", "tanh", "log"])
def test_infinities_and_nan(name: str) -> None:
    compare(getattr(torch, name), FAR)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, gpus: Runtime) -> None:
    for z in LAYOUTS[1:3] if name in OF_MATRICES else LAYOUTS[:3]:
        compare(PROGRAMS[name], z)
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


def test_they_are_printed_and_read() -> None:
    z = torch.tensor([1 + 2j, -0.5j], device="cuda")
    assert repr(z) == repr(z.cpu())[:-1] + ", device='cuda:0')"
    assert z.tolist() == [1 + 2j, -0.5j] and z[0].item() == 1 + 2j


def test_a_compiled_graph_computes_with_them(gpus: Runtime) -> None:
    z = LAYOUTS[1]
    function = lambda z: (z * 2 + z.conj()).abs().sum(0)
    assert torch.allclose(torch.compile(function)(z.cuda()).cpu(), function(z))
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


def test_what_goes_round_complex_numbers_is_computed_on_the_gpu_as_well() -> None:
    z = torch.complex(torch.tensor([1.0, 0.0, 1.0, 0.0]), torch.tensor([2.0, 1.0, 2.0, -1.0]))
    for compute in (
        lambda z: torch.nn.functional.pad(z, (1, 1), value=0.25),
        lambda z: torch.lerp(z, 2 * z, 0.25),
        torch.unique,
    ):
        assert torch.equal(compute(z.cuda()).cpu(), compute(z))


def test_what_puts_complex_numbers_in_order_refuses_them_there_too() -> None:
    with pytest.raises(NotImplementedError, match='"mode" not implemented for torch.complex64'):
        torch.mode(torch.tensor([1 + 2j, 1j, 1 + 2j]).cuda(), 0)
