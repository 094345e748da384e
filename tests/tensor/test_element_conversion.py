"""What happens to numbers and tensors that an element type can't hold: PyTorch 2.13's answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.tensor.numerics import element_conversion

T = torch.tensor


def setitem(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


def reals() -> Any:
    return torch.zeros(3)


INDEX, MASK = T([0, 1]), T([True, False, True])

STORES: dict[str, Callable[[Any, Any], Any]] = {
    "fill_": lambda x, value: x.fill_(value),
    "masked_fill_": lambda x, value: x.masked_fill_(MASK, value),
    "masked_fill": lambda x, value: x.masked_fill(MASK, value),
    "index_fill": lambda x, value: x.index_fill(0, INDEX, value),
    "scatter": lambda x, value: x.scatter(0, INDEX, value),
    "an element": lambda x, value: setitem(x, 0, value),
    "a slice": lambda x, value: setitem(x, slice(None), value),
    "indices": lambda x, value: setitem(x, INDEX, value),
    "a mask": lambda x, value: setitem(x, MASK, value),
    "full": lambda x, value: torch.full((3,), value, dtype=x.dtype),
    "full_like": torch.full_like,
    "new_full": lambda x, value: x.new_full((3,), value),
    "constant_": torch.nn.init.constant_,
}
UNFIT = [(torch.float32, 1 + 2j), (torch.float32, 1e40), (torch.uint8, 300), (torch.int64, float("inf"))]
FIT = [(torch.float32, 1 + 0j, 1), (torch.float32, float("inf"), float("inf")), (torch.uint8, -1, 255)]
FIT += [(torch.int64, 2.7, 2), (torch.bool, 2, True)]


@pytest.mark.parametrize(("element", "value"), UNFIT, ids=str)
@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_a_number_that_does_not_fit_is_refused(
    store: Callable[[Any, Any], Any], element: torch.dtype, value: Any
) -> None:
    x = reals().to(element)
    with pytest.raises(RuntimeError):
        store(x, value)
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("element", "value", "stored"), FIT, ids=str)
@pytest.mark.parametrize("name", [name for name in STORES if name != "constant_"])
def test_a_number_that_fits_is_stored(name: str, element: torch.dtype, value: Any, stored: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert STORES[name](reals().to(element), value)[0] == stored


CASTS: list[Callable[[Any], Any]] = [
    lambda c: reals().copy_(c),
    lambda c: c.to(torch.float32),
    lambda c: c.float(),
    lambda c: setitem(reals(), slice(None), c),
    lambda c: torch.sum(c, dtype=torch.float32),
]


@pytest.mark.parametrize("cast", CASTS)
def test_a_complex_tensor_loses_its_imaginary_part_with_a_warning(cast: Callable[[Any], Any]) -> None:
    element_conversion._warn_of_discarding.cache_clear()
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert cast(T([1 + 2j, 0, 0])).sum() == 1
    with warnings.catch_warnings():  # once
        warnings.simplefilter("error")
        cast(T([1 + 2j, 0, 0]))


@pytest.mark.parametrize("source", [T([1j, 2]), T([1, 2]), T([1.0, 2.0]).double(), T(2)], ids=str)
@pytest.mark.parametrize("key", [INDEX, (None, INDEX)], ids=["indices", "a new dimension"])
def test_tensors_of_other_dtypes_are_not_put_at_indices(key: Any, source: Any) -> None:
    with pytest.raises(RuntimeError, match="dtypes match"):
        setitem(reals(), key, source)


def test_tensors_of_other_dtypes_are_put_into_slices_and_one_number_under_a_mask() -> None:
    assert setitem(reals(), slice(1, None), T([1, 2])).tolist() == [0, 1, 2]
    assert setitem(reals(), MASK, T(2)).tolist() == [2, 0, 2]


def test_equal_distances_between_complex_numbers() -> None:
    assert torch.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    with pytest.raises(RuntimeError):
        torch.linspace(0, 1j, 3, dtype=torch.float32)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_function_refuses_the_number_too(backend: str) -> None:
    with pytest.raises(RuntimeError):
        torch.compile(lambda x: x.clone().fill_(1 + 2j), backend=backend)(reals())
