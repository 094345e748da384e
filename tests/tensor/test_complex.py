"""Complex tensors against NumPy; what they refuse; how they promote and print."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.autograd import gradcheck, gradgradcheck
from minitorch_compile.tensor import ops

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3))
W = RNG.normal(size=3) + 1j * RNG.normal(size=3)
X = RNG.normal(size=(2, 3))

SAME_NAMES = "negative reciprocal square sqrt exp expm1 log log1p log2 log10 tanh sin cos tan sinh cosh"
UNARY = {name: getattr(np, name) for name in SAME_NAMES.split()} | {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "abs": np.abs, "angle": np.angle, "conj": np.conj, "real": np.real, "imag": np.imag,
    "isfinite": np.isfinite, "sum": np.sum, "mean": np.mean, "prod": np.prod, "rsqrt": lambda z: 1 / np.sqrt(z),
    "sgn": lambda z: z / np.abs(z), "adjoint": lambda z: z.conj().T,
    "view_as_real": lambda z: np.stack([z.real, z.imag], -1),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_functions_are_those_of_numpy(name, dtype):
    result = getattr(torch, name)(torch.tensor(Z, dtype=dtype))
    expected = UNARY[name](Z)
    np.testing.assert_allclose(
        result.resolve_conj().numpy(), expected, rtol=2e-5 if dtype is torch.complex64 else 1e-12
    )
    assert result.dtype.is_complex == np.iscomplexobj(expected)
    assert result.dtype.itemsize in (1, dtype.itemsize, dtype.itemsize // 2)


@pytest.mark.parametrize("operator", ["add", "sub", "mul", "div", "pow"])
@pytest.mark.parametrize("other", [W, X, 2, 1.5, 1j, 2 + 1j], ids=["complex", "real", "2", "1.5", "1j", "2+1j"])
def test_operators_are_those_of_numpy(operator, other):
    compute = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power}[operator]
    right = torch.tensor(other) if isinstance(other, np.ndarray) else other
    result = getattr(torch, operator)(torch.tensor(Z), right)
    np.testing.assert_allclose(result.numpy(), compute(Z, other), rtol=1e-12)


def test_matrix_products():
    z = torch.tensor(Z)
    np.testing.assert_allclose((z @ torch.tensor(W)).numpy(), Z @ W)
    np.testing.assert_allclose((z @ z.mH).numpy(), Z @ Z.conj().T)


@pytest.mark.parametrize(
    ("dtype", "with_complex64", "with_1j"),
    [
        (torch.float32, torch.complex64, torch.complex64),
        (torch.float64, torch.complex128, torch.complex128),
        (torch.int64, torch.complex64, torch.complex64),
        (torch.bool, torch.complex64, torch.complex64),
        (torch.complex128, torch.complex128, torch.complex128),
    ],
    ids=str,
)
def test_promotion_keeps_the_precision_of_the_parts(dtype, with_complex64, with_1j):
    x = torch.ones(2, dtype=dtype)
    assert torch.promote_types(dtype, torch.complex64) is with_complex64
    assert (x + torch.ones(2, dtype=torch.complex64)).dtype is with_complex64
    assert (x * 1j).dtype is with_1j
    assert (torch.ones(2) + torch.tensor(1j, dtype=torch.complex128)).dtype is torch.complex64  # a 0-d tensor


def test_made_of_parts_and_taken_apart():
    re, im = torch.tensor(X), torch.tensor(X[0])
    z = torch.complex(re, im)
    np.testing.assert_array_equal(z.numpy(), X + 1j * X[0])
    assert torch.equal(torch.view_as_complex(torch.view_as_real(z)), z)
    np.testing.assert_allclose(torch.polar(z.abs(), z.angle()).numpy(), z.numpy())
    assert torch.real(re) is re and re.conj() is re


def test_the_parts_share_memory_with_the_whole():
    z = torch.tensor(Z)
    z.real.zero_()
    z.t().imag[0] = torch.tensor([1.0, 2.0])
    torch.view_as_real(z)[1, 2] = 7
    expected = 1j * Z.imag
    expected[:, 0] = [1j, 2j]
    expected[1, 2] = 7 + 7j
    np.testing.assert_array_equal(z.numpy(), expected)
    assert z._version == z.real._version == 3
    assert (z.real.stride(), z.t().imag.stride(), torch.view_as_real(z).stride()) == ((6, 2), (2, 6), (6, 2, 1))


def test_compiled_code_writes_through_the_parts_too():
    def f(z):
        z = z * 1
        z.real.mul_(2)
        torch.view_as_real(z)[..., 1].add_(1)
        pairs = torch.view_as_real(z) + 0
        torch.view_as_complex(pairs).mul_(1j)
        return z, pairs

    for ours, compiled in zip(f(torch.tensor(Z)), torch.compile(f)(torch.tensor(Z)), strict=True):
        np.testing.assert_allclose(compiled.numpy(), ours.numpy())
    np.testing.assert_allclose(f(torch.tensor(Z))[0].numpy(), 2 * Z.real + 1j * (Z.imag + 1))


def test_pairs_of_numbers_can_be_written_through_the_complex_view():
    pairs = torch.tensor(np.stack([Z.real, Z.imag], -1))
    torch.view_as_complex(pairs).mul_(1j)
    np.testing.assert_array_equal(pairs.numpy(), np.stack([-Z.imag, Z.real], -1))


def test_a_value_saved_for_backward_notices_a_write_into_its_parts():
    z = torch.tensor(Z, requires_grad=True)
    y = z * 1
    out = (y * y).abs().sum()
    with torch.no_grad():
        y.real.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_python_numbers():
    z = torch.tensor([1 + 2j, -1j])
    assert z.tolist() == [1 + 2j, -1j] and z[0].item() == 1 + 2j and complex(z[0]) == 1 + 2j
    assert torch.tensor(1j).dtype is torch.complex64 and torch.zeros(2, dtype=torch.cdouble).dtype is torch.complex128


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1 + 2j, 3 - 4.5j], "tensor([1.+2.0000j, 3.-4.5000j])"),
        (1j, "tensor(0.+1.j)"),
        ([[1 + 0j]], "tensor([[1.+0.j]])"),
        ([complex(0, float("nan")), complex(float("inf"), 1)], "tensor([0.+nanj, inf+1.j])"),
        ([-0.5j, 10 + 0j], "tensor([-0.-0.5000j, 10.+0.0000j])"),
    ],
)
def test_printing_is_that_of_pytorch(values, text):
    assert repr(torch.tensor(values)) == text


REFUSED = {
    "order": lambda z: z < 1,
    "largest": lambda z: z.amax(),
    "floor": torch.floor,
    "place of the largest": torch.argmax,
    "sort": torch.sort,
    "softmax": lambda z: z.softmax(0),
    "median": torch.median,
    "topk": lambda z: z.topk(1),
    "cummax": lambda z: z.cummax(0),
    "mode": torch.mode,
    "isposinf": torch.isposinf,
    "deg2rad": torch.deg2rad,
    "logcumsumexp": lambda z: z.logcumsumexp(0),
    "relu": torch.relu,
    "in place into a real tensor": lambda z: torch.ones(2, 3).mul_(z),
    "imag of a real tensor": lambda z: torch.imag(z.abs()),
    "view_as_complex of numbers apart": lambda z: torch.view_as_complex(torch.ones(2, 3).t()),
    "view_as_complex of the wrong size": lambda z: torch.view_as_complex(torch.ones(3)),
    "complex of two dtypes": lambda z: torch.complex(torch.ones(2), torch.ones(2, dtype=torch.float64)),
    "backward from a complex number": lambda z: (z.requires_grad_() * 1).sum().backward(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_a_runtime_error(name):
    with pytest.raises(RuntimeError):
        REFUSED[name](torch.tensor(Z))


# ---------------------------------------------------------------------------------------------------- gradients

FUNCTIONS = """
    reciprocal square sqrt rsqrt exp expm1 log log1p tanh sin cos tan sinh cosh asinh acosh atan sigmoid
    abs angle conj real imag sgn sum mean prod nan_to_num
"""
DIFFERENTIABLE = {name: getattr(torch, name) for name in FUNCTIONS.split()} | {
    "silu": torch.nn.functional.silu,
    "the product of the real parts": lambda z: z.prod(0, dtype=torch.float64),
    "times a number": lambda z: z * (2 + 1j) - 3j / z,
    "power": lambda z: z ** (1.5 - 1j),
    "of a number": lambda z: (2 + 1j) ** z,
    "matrix product": lambda z: z @ z.mH @ z,
    "solve": lambda z: torch.linalg.solve(z[:, :2], z[:, 2]),
    "det": lambda z: torch.det(z[:, :2]),
    "slogdet": lambda z: list(torch.linalg.slogdet(z[:, :2])),
    "logdet": lambda z: torch.logdet(z[:, :2]),
    "norm": lambda z: torch.linalg.vector_norm(z, 3),
    "singular values": lambda z: torch.linalg.svdvals(z),
    "pinv": lambda z: torch.linalg.pinv(z),
    "qr": lambda z: [f.abs() for f in torch.linalg.qr(z)],
    "cholesky": lambda z: torch.linalg.cholesky(z @ z.mH),
    "eigh": lambda z: [f.abs() for f in torch.linalg.eigh(z @ z.mH)],
    "indexing": lambda z: torch.cat([z[:, 1:], z[:, ::2].conj()], 1),
    "where": lambda z: torch.where(z.abs() > 1, z * z, z.abs()),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_those_of_the_parts(name):
    """A complex function is a function of twice as many real numbers: finite differences need to know nothing else."""

    def of_parts(parts):
        results = DIFFERENTIABLE[name](torch.view_as_complex(parts))
        results = results if isinstance(results, list) else [results]
        return [torch.view_as_real(r.resolve_conj()) if r.is_complex() else r for r in results]

    parts = torch.tensor(np.stack([Z.real, Z.imag], -1), requires_grad=True)
    assert gradcheck(of_parts, parts)
    assert gradgradcheck(of_parts, parts)


def test_logdet_keeps_the_angle():
    z = torch.tensor(Z)[:, :2]
    torch.testing.assert_close(torch.logdet(z), torch.det(z).log())


def test_the_gradient_is_the_direction_of_ascent():
    z = torch.tensor(3 + 4j, dtype=torch.complex128, requires_grad=True)
    z.abs().backward()
    assert z.grad.item() == pytest.approx(0.6 + 0.8j)


def test_a_real_tensor_gets_a_real_gradient():
    x = torch.tensor(X, requires_grad=True)
    z = torch.tensor(Z)
    (x * z + torch.cat([x[:1], z[1:]])).abs().sum().backward()
    assert x.grad.dtype is torch.float64


def test_derivatives_reach_through_the_complex_kernels():
    u, v = torch.tensor(X, requires_grad=True), torch.tensor(X + 1, requires_grad=True)
    assert gradcheck(lambda u, v: ops.view_as_real(ops.complex(u, v)), (u, v))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, m, z: torch.addmv(x, m, x, alpha=z),
        lambda x, m, z: torch.addmv(x, m, x, beta=z),
        lambda x, m, z: torch.addmm(m, m, m, alpha=z),
        lambda x, m, z: torch.addmm(m, m, m, beta=z),
        lambda x, m, z: torch.addr(m, x, x, alpha=z),
        lambda x, m, z: torch.addr(m, x, x, beta=z),
        lambda x, m, z: torch.baddbmm(m[None], m[None], m[None], alpha=z),
        lambda x, m, z: torch.addbmm(m, m[None], m[None], beta=z),
        lambda x, m, z: torch.addcmul(x, x, x, value=z),
        lambda x, m, z: torch.addcdiv(x, x, x, value=z),
        lambda x, m, z: torch.lerp(x, x, z),
        lambda x, m, z: torch.index_add(x, 0, torch.tensor([0]), x[:1], alpha=z),
    ],
)
def test_real_tensors_have_no_complex_factors(call):
    with pytest.raises(RuntimeError, match="cannot be converted"):
        call(torch.ones(2), torch.ones(2, 2), 1 + 2j)
    z = torch.ones(2, dtype=torch.complex64), torch.ones(2, 2, dtype=torch.complex64)
    assert call(*z, 1 + 2j).dtype is torch.complex64


def test_factors_of_integers():
    x, m = torch.ones(2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.int64)
    assert torch.equal(torch.addmv(x, m, x, alpha=1.5), torch.tensor([3, 3]))
    with pytest.raises(RuntimeError, match="argument alpha must not be a floating point number"):
        torch.addr(m, x, x, alpha=1.5)
