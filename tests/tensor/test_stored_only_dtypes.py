"""Dtypes that numbers are kept in and not computed with; what they hold was recorded from PyTorch 2.13."""

from __future__ import annotations

import io

import pytest

import minitorch_compile as torch
from minitorch_compile.tensor.numerics.dtype import FLOAT8, UNSIGNED

VALUES = [1.0, 2.5, 3.0, 0.3]
HELD = {
    torch.uint16: [1.0, 2.0, 3.0, 0.0],
    torch.uint32: [1.0, 2.0, 3.0, 0.0],
    torch.uint64: [1.0, 2.0, 3.0, 0.0],
    torch.float8_e4m3fn: [1.0, 2.5, 3.0, 0.3125],
    torch.float8_e4m3fnuz: [1.0, 2.5, 3.0, 0.3125],
    torch.float8_e5m2: [1.0, 2.5, 3.0, 0.3125],
    torch.float8_e5m2fnuz: [1.0, 2.5, 3.0, 0.3125],
    torch.float8_e8m0fnu: [1.0, 2.0, 4.0, 0.25],
}


@pytest.mark.parametrize("element", HELD, ids=str)
def test_what_is_converted_is_rounded(element: torch.dtype) -> None:
    x = torch.tensor(VALUES).to(element)
    assert x.float().tolist() == x.double().tolist() == HELD[element]
    assert torch.compile(lambda v: v.to(element).float() * 2, backend="aot_eager")(torch.tensor(VALUES)).tolist() == [
        2 * value for value in HELD[element]
    ]


def test_what_is_too_large() -> None:
    huge = torch.tensor([float("nan"), float("inf"), -1e6])
    assert torch.equal(
        huge.to(torch.float8_e4m3fn).float().nan_to_num(7.0), torch.tensor([7.0, 448.0, -448.0])
    )  # it has no infinity
    assert huge.to(torch.float8_e5m2).float().tolist()[1:] == [float("inf"), -float("inf")]
    assert torch.tensor([1.5, 1000.0], dtype=torch.float8_e4m3fn).float().tolist() == [1.5, 448.0]


@pytest.mark.parametrize("element", sorted(HELD, key=str), ids=str)
def test_they_are_moved_and_compared(element: torch.dtype) -> None:
    x = torch.tensor(VALUES).to(element)
    assert torch.cat([x, x[1:]]).shape == (7,)
    assert x[torch.tensor([2, 0])].float().tolist() == [HELD[element][2], HELD[element][0]]
    assert x.reshape(2, 2).t().contiguous().float().tolist() == [
        [HELD[element][i] for i in row] for row in ((0, 2), (1, 3))
    ]
    assert (x == x.clone()).all().item()
    assert torch.zeros(4).copy_(x).tolist() == HELD[element]
    assert x.view(torch.uint8).shape == (4 * element.itemsize,)


@pytest.mark.parametrize("element", sorted(HELD, key=str), ids=str)
def test_arithmetic_is_refused(element: torch.dtype) -> None:
    x = torch.tensor(VALUES).to(element)
    for compute in (
        lambda: x + x,
        lambda: x + 1,
        lambda: -x,
        lambda: x < x,
        lambda: x.max(),
        *([] if element in SIGNED else [lambda: x.view(2, 2) @ x.view(2, 2), lambda: x.abs()]),
    ):
        with pytest.raises(NotImplementedError, match=f"not implemented for {element}"):
            compute()


BIG = [448.0, 57344.0, 240.0, 3.0, 2.0**-9, 0.3]
INF, NAN = float("inf"), float("nan")
SQUARES = {
    torch.float8_e4m3fn: [448.0, 448.0, 448.0, 9.0, 0.0, 0.09375],
    torch.float8_e5m2: [INF, INF, INF, 8.0, 0.0, 0.09375],
    torch.float8_e4m3fnuz: [NAN, NAN, NAN, 9.0, 0.0, 0.09375],
    torch.float8_e5m2fnuz: [NAN, NAN, NAN, 8.0, 0.0, 0.09375],
    torch.float8_e8m0fnu: [262144.0, 2.0**32, 65536.0, 16.0, 2.0**-18, 0.0625],
}
SIGNED = [element for element in SQUARES if element is not torch.float8_e8m0fnu]


@pytest.mark.parametrize("element", SQUARES, ids=str)
@pytest.mark.parametrize("backend", [None, "aot_eager_decomp_partition", "inductor"])
def test_products_of_two_tensors(element: torch.dtype, backend: str | None) -> None:
    def square(x: torch.Tensor) -> torch.Tensor:
        return x * x

    x = torch.tensor(BIG).to(element)
    found = (square if backend is None else torch.compile(square, backend=backend))(x)
    assert found.dtype is element
    torch.testing.assert_close(found.float(), torch.tensor(SQUARES[element]), rtol=0, atol=0, equal_nan=True)
    for number in (2, 2.0, x[0], x[:1]):
        with pytest.raises(NotImplementedError, match='"mul" not implemented'):
            x * number
    assert (x[0] * x).shape == (6,)


@pytest.mark.parametrize("element", SIGNED, ids=str)
def test_matrix_products_and_magnitudes(element: torch.dtype) -> None:
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]]).to(element)
    assert (x @ x).float().tolist() == [[0.0, -8.0], [2.0, 8.0]] and (x @ x).dtype is element
    assert x.abs().float().tolist() == [[1.0, 2.0], [0.5, 3.0]] and x.all(0).tolist() == [True, True]
    assert torch.zeros(2, dtype=element).any().item() is False


def test_only_one_of_them_has_infinities() -> None:
    assert torch.tensor([INF, 1.0, NAN]).to(torch.float8_e5m2).isinf().tolist() == [True, False, False]
    assert torch.tensor([INF, 1.0, NAN]).to(torch.float8_e5m2).isfinite().tolist() == [False, True, False]
    with pytest.raises(NotImplementedError, match='"isinf" not implemented'):
        torch.ones(1).to(torch.float8_e4m3fn).isinf()


@pytest.mark.parametrize("backend", ["eager", "aot_eager_decomp_partition", "loops", "inductor"])
def test_powers_of_two_have_neither_zero_nor_sign(backend: str) -> None:
    element = torch.float8_e8m0fnu
    least = 2.0**-127
    convert = torch.compile(lambda x: x.to(element).float(), backend=backend)
    assert convert(torch.tensor([0.0, -0.0, -2.0, 2.0**-149])).tolist() == [least, least, 2.0, least]
    assert torch.compile(lambda: torch.zeros(1, dtype=element), backend=backend)().item() == least
    assert torch.full((1,), -2.0, dtype=element).item() == 2.0 and torch.ones(1).to(element).fill_(0).item() == least
    assert not element.is_signed


def test_compiled_conversions_stop_at_the_largest_number_too() -> None:
    convert = torch.compile(lambda x: (x * 1000).to(torch.float8_e4m3fn).float())
    assert convert(torch.tensor([1.0, -2.0, 0.1])).tolist() == [448.0, -448.0, 96.0]


def test_they_have_no_complex_dtype() -> None:
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Float8_e5m2"):
        torch.float8_e5m2.to_complex()


def test_whole_numbers_beyond_64_bits_become_floats() -> None:
    assert torch.tensor([2**127, 1], dtype=torch.float64).tolist() == [2.0**127, 1.0]
    assert torch.tensor([2**70], dtype=torch.float16).isinf().item() and torch.tensor([2**70], dtype=torch.bool).item()
    for options in ({}, {"dtype": torch.int64}):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            torch.tensor([2**127], **options)


def test_they_do_not_mix() -> None:
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
        torch.promote_types(torch.float8_e5m2, torch.float32)
    with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
        torch.promote_types(torch.uint16, torch.uint8)
    assert torch.promote_types(torch.uint16, torch.float32) is torch.float32
    assert torch.promote_types(torch.float8_e5m2, torch.float8_e5m2) is torch.float8_e5m2


@pytest.mark.parametrize("element", sorted(HELD, key=str), ids=str)
def test_they_are_saved_and_loaded(element: torch.dtype) -> None:
    file = io.BytesIO()
    torch.save({"x": torch.tensor(VALUES).to(element)}, file)
    file.seek(0)
    loaded = torch.load(file)["x"]
    assert (loaded.dtype, loaded.float().tolist()) == (element, HELD[element])


def test_gradients_go_through_a_conversion() -> None:
    x = torch.tensor([1.0, 2.5], requires_grad=True)
    x.to(torch.float8_e5m2).float().sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_names_and_limits() -> None:
    assert torch.zeros(1, dtype=torch.uint16).type() == "torch.UInt16Tensor"
    assert torch.zeros(1, dtype=torch.float8_e4m3fn).type() == "torch.Float8_e4m3fnTensor"
    assert repr(torch.finfo(torch.float8_e4m3fn)) == (
        "finfo(resolution=1, min=-448, max=448, eps=0.125, smallest_normal=0.015625, tiny=0.015625,"
        " dtype=float8_e4m3fn)"
    )
    assert [torch.iinfo(element).max for element in UNSIGNED] == [2**16 - 1, 2**32 - 1, 2**64 - 1]
    for element in FLOAT8:
        with pytest.raises(TypeError, match="Got unsupported ScalarType Float8_e"):
            torch.zeros(1, dtype=element).numpy()
