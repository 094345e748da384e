"""Complex numbers of two halves: what they hold, what is computed in them, and what isn't, as recorded from PyTorch
2.13."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch

half, chalf, cfloat = torch.float16, torch.complex32, torch.complex64
INF, NAN = float("inf"), float("nan")
BACKENDS = [None, "eager", "aot_eager_decomp_partition", "loops", "inductor"]


def numbers() -> Any:
    return torch.tensor([1 + 2j, -0.5 + 0.25j]).to(chalf)


def test_the_dtype() -> None:
    assert torch.chalf is chalf and repr(chalf) == "torch.complex32" and chalf.itemsize == 4
    assert (chalf.is_complex, chalf.is_floating_point, chalf.is_signed) == (True, False, True)
    assert (chalf.to_real(), chalf.to_complex(), half.to_complex()) == (half, chalf, chalf)
    assert torch.bfloat16.to_complex() is cfloat and cfloat.to_real() is torch.float32
    assert numbers().type() == "torch.ComplexHalfTensor"
    assert repr(torch.finfo(chalf)) == repr(torch.finfo(half))


def test_what_is_converted_is_rounded() -> None:
    x = torch.tensor([1.5 + 2j, -0.3 - 1e6j, complex(NAN, INF), 0j]).to(chalf)
    assert repr(x) == ("tensor([ 1.5000+2.j, -0.3000-infj,     nan+infj,  0.0000+0.j],\n       dtype=torch.complex32)")
    assert x[:2].tolist() == [1.5 + 2j, complex(-0.300048828125, -INF)]
    assert x.bool().tolist() == [True, True, True, False] and x[:2].int().tolist() == [1, 0]
    assert torch.tensor([1, 2]).chalf().tolist() == [1, 2] and numbers().half().tolist() == [1.0, -0.5]
    assert torch.zeros(2, dtype=cfloat).copy_(numbers()).tolist() == [1 + 2j, -0.5 + 0.25j]


def test_tensors_are_made_of_it() -> None:
    for made in (
        torch.tensor([1 + 2j], dtype=chalf),
        torch.full((1,), 1 + 2j, dtype=chalf),
        torch.scalar_tensor(1 + 2j, dtype=chalf).reshape(1),
        torch.complex(torch.ones(1).half(), 2 * torch.ones(1).half()),
        torch.view_as_complex(torch.tensor([[1.0, 2.0]]).half()),
        numbers().new_full((1,), 1 + 2j),
        torch.view_as_real(numbers()).clone().view(chalf)[:1, 0],
    ):
        assert (made.dtype, made.tolist()) == (chalf, [1 + 2j])
    assert torch.randn(2, dtype=chalf).dtype is torch.rand_like(numbers()).dtype is chalf


def test_its_parts_are_views() -> None:
    x = numbers()
    x.imag.fill_(3)
    assert x.tolist() == [1 + 3j, -0.5 + 3j] and x.real.dtype is torch.view_as_real(x).dtype is half
    assert x.conj().is_conj() and x.conj().imag.tolist() == [-3.0, -3.0]
    assert x.view(torch.int16).tolist() == [15360, 16896, -18432, 16896]
    with pytest.raises(RuntimeError, match="only supported for half, float and double tensors"):
        torch.view_as_complex(torch.ones(2, 2).bfloat16())


COMPUTED: list[tuple[Callable[[Any], Any], Any, torch.dtype]] = [
    (lambda x: x + x, [2 + 4j, -1 + 0.5j], chalf),
    (lambda x: x * x, [-3 + 4j, 0.1875 - 0.25j], chalf),
    (lambda x: x - 1j, [1 + 1j, -0.5 - 0.75j], chalf),
    (lambda x: x * 2.5, [2.5 + 5j, -1.25 + 0.625j], chalf),
    (lambda x: -x, [-1 - 2j, 0.5 - 0.25j], chalf),
    (lambda x: x.addcmul(x, x, value=2), [-5 + 10j, -0.125 - 0.25j], chalf),
    (lambda x: x.sgn(), [0.447265625 + 0.89453125j, -0.89453125 + 0.447265625j], chalf),
    (lambda x: x.abs(), [2.236328125, 0.55908203125], half),
    (lambda x: x.norm(), 2.3046875, half),
    (lambda x: x.var(), 2.65625, half),
    (lambda x: x.std(), 1.6298828125, half),
    (lambda x: x.sum(dtype=cfloat), 0.5 + 2.25j, cfloat),
    (lambda x: x.cumsum(0, dtype=cfloat), [1 + 2j, 0.5 + 2.25j], cfloat),
    (lambda x: x == x.clone(), [True, True], torch.bool),
    (lambda x: x + torch.ones(2), [2 + 2j, 0.5 + 0.25j], cfloat),
    (lambda x: x.real * 1j, [1j, -0.5j], chalf),
    (lambda x: x + torch.ones(2).int(), [2 + 2j, 0.5 + 0.25j], chalf),
    (lambda x: torch.nn.functional.conv1d(x.view(1, 1, 2), x.view(1, 1, 2)).view(1), [-2.8125 + 3.75j], chalf),
]


@pytest.mark.parametrize(("compute", "values", "element"), COMPUTED, ids=range(len(COMPUTED)))
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_computed(
    compute: Callable[[Any], Any], values: Any, element: torch.dtype, backend: str | None
) -> None:
    found = (compute if backend is None else torch.compile(compute, backend=backend))(numbers())
    assert (found.dtype, found.tolist()) == (element, values)


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x / x,
        lambda x: x**2,
        lambda x: x.exp(),
        lambda x: x.sum(),
        lambda x: x.mean(),
        lambda x: x.prod(),
        lambda x: x.cumsum(0),
        lambda x: x.unique(),
        lambda x: x < x,
        lambda x: x.logical_not(),
        lambda x: x.angle(),
        lambda x: x.view(1, 2) @ x.view(2, 1),
        lambda x: torch.fft.fft(x),
        lambda x: torch.linalg.inv(x.expand(2, 2)),
        lambda x: torch.linalg.svd(x.expand(2, 2)),
    ],
)
def test_the_rest_is_refused(compute: Callable[[Any], Any]) -> None:
    with pytest.raises(NotImplementedError, match="not implemented for torch.complex32"):
        compute(numbers())


def test_promotion() -> None:
    partners = {half: chalf, torch.float32: cfloat, torch.float64: torch.complex128, torch.bfloat16: cfloat}
    partners |= {torch.int64: chalf, torch.bool: chalf, cfloat: cfloat}
    assert {other: torch.promote_types(chalf, other) for other in partners} == partners
    assert torch.result_type(torch.ones(1).half(), 1j) is chalf
    assert torch.result_type(torch.ones(1).bfloat16(), 1j) is cfloat
    for element in (chalf, cfloat, torch.complex128):
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            torch.promote_types(element, torch.uint16)
        with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
            torch.promote_types(element, torch.float8_e5m2)


def test_it_is_saved_and_loaded() -> None:
    file = io.BytesIO()
    torch.save({"x": numbers(), "y": numbers().conj()}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["x"].dtype is chalf and loaded["x"].tolist() == [1 + 2j, -0.5 + 0.25j]
    assert loaded["y"].tolist() == [1 - 2j, -0.5 - 0.25j]


def test_numpy_has_no_such_dtype() -> None:
    with pytest.raises(TypeError, match="Got unsupported ScalarType ComplexHalf"):
        numbers().numpy()


@pytest.mark.parametrize("backend", [None, "aot_eager", "inductor"])
def test_gradients_go_through_it(backend: str | None) -> None:
    def loss(a: Any) -> Any:
        z = torch.view_as_complex(torch.stack([a, 2 * a], -1).half())
        return z.real.float().sum() + z.imag.float().sum() + a.to(chalf).to(cfloat).abs().sum()

    a = torch.tensor([1.0, 2.0], requires_grad=True)
    (loss if backend is None else torch.compile(loss, backend=backend))(a).backward()
    assert a.grad.tolist() == [4.0, 4.0]


def test_a_complex_number_that_is_real_is_a_number() -> None:
    assert (float(torch.tensor(0j)), int(torch.tensor(2 + 0j)), bool(torch.tensor(1j))) == (0.0, 2, True)
    with pytest.raises(RuntimeError, match="value cannot be converted to type double without overflow"):
        float(torch.tensor(1 + 1j))
    with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t without overflow"):
        int(torch.tensor(2 + 1j))
