"""torch.testing.assert_close says what PyTorch 2.13 says (recorded)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.testing import assert_allclose, assert_close

NAN = float("nan")

CLOSE: list[tuple[Any, Any, dict[str, Any]]] = [
    (torch.ones(2), torch.ones(2), {}),
    (torch.ones(2), torch.tensor([1.0, 1.000001]), {}),
    (torch.ones(2, dtype=torch.float16), torch.tensor([1.0, 1.0005], dtype=torch.float16), {}),
    (torch.tensor([NAN]), torch.tensor([NAN]), {"equal_nan": True}),
    (torch.ones(2), torch.ones(2).double(), {"check_dtype": False}),
    (torch.ones(2), torch.zeros(2), {"rtol": 0.0, "atol": 1.0}),
    ([torch.ones(1), (1, 2.0)], [torch.ones(1), (1, 2.0)], {}),
    ({"a": torch.ones(1)}, {"a": torch.ones(1)}, {}),
    (1.0, 1.0 + 1e-9, {}),
    (np.ones(2), np.ones(2), {}),
    (torch.tensor([True]), torch.tensor([True]), {}),
    (torch.zeros(0, 3), torch.zeros(0, 3), {}),
    (None, None, {}),
]


@pytest.mark.parametrize(("actual", "expected", "options"), CLOSE)
def test_close_values_pass(actual: Any, expected: Any, options: dict[str, Any]) -> None:
    assert_close(actual, expected, **options)


APART: list[tuple[Any, Any, dict[str, Any], str]] = [
    (
        torch.ones(2),
        torch.tensor([1.0, 1.1]),
        {},
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 0.10000002384185791 at index (1,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.09090910851955414 at index (1,) (up to 1.3e-06 allowed)",
    ),
    (
        torch.tensor([1, 2]),
        torch.tensor([1, 3]),
        {},
        "Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 1 at index (1,)\nGreatest relative difference: 0.3333333",
    ),
    (
        torch.tensor(1.0),
        torch.tensor(2.0),
        {},
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-05 allowed)\n"
        "Relative difference: 0.5 (up to 1.3e-06 allowed)",
    ),
    (
        torch.ones(2),
        torch.ones(3),
        {},
        "The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3]).",
    ),
    (torch.ones(2), torch.ones(2).double(), {}, "attribute 'dtype' do not match: torch.float32 != torch.float64."),
    (torch.ones(2, 3), torch.ones(3, 2).t(), {"check_stride": True}, "attribute 'stride()' do not match"),
    ([torch.ones(2)], [torch.zeros(2)], {}, "The failure occurred for item [0]"),
    ([1], [1, 2], {}, "The length of the sequences mismatch: 1 != 2"),
    ({"a": 1}, {"b": 1}, {}, "Missing keys in the actual mapping: ['b']\nAdditional keys in the actual mapping: ['a']"),
    (1.0, 1.1, {}, "Scalars are not close!\n\nExpected 1.1 but got 1.0."),
    (torch.tensor([NAN]), torch.tensor([NAN]), {}, "Greatest absolute difference: nan at index (0,)"),
    (torch.ones(2), torch.zeros(2), {"msg": "hey"}, "hey"),
    (torch.ones(2), torch.zeros(2), {"msg": lambda text: f"Look: {text}"}, "Look: Tensor-likes are not close!"),
]


@pytest.mark.parametrize(("actual", "expected", "options", "words"), APART)
def test_other_values_fail_with_pytorchs_words(actual: Any, expected: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_close(actual, expected, **options)
    assert words in str(raised.value)


def test_one_tolerance_alone_and_incomparable_values_are_refused() -> None:
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(torch.ones(1), torch.ones(1), rtol=0.1)
    for actual, expected in ((1.0, torch.ones(1)), ("a", "a")):
        with pytest.raises(TypeError, match="No comparison pair"):
            assert_close(actual, expected)


def test_assert_allclose_compares_across_dtypes() -> None:
    assert_allclose(torch.ones(2), torch.ones(2).double())
    with pytest.raises(AssertionError):
        assert_allclose(torch.ones(2), torch.zeros(2))
