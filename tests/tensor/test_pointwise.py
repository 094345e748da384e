"""Elementwise ops against NumPy in float64, over awkward sizes, layouts and dtypes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import special

import minitorch_compile as torch
from minitorch_compile.tensor import Tensor, fake_like, from_numpy, ops
from minitorch_compile.tensor.ops.pointwise import ALONE
from tests.tensor.awkward import arrays, layouts, special_floats

UNARY = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "exp": np.exp,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "square": np.square,
    "sigmoid": special.expit,
    "erf": special.erf,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * special.ndtr(x),
    "gelu_slope": lambda x: special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi),
    "silu": lambda x: x * special.expit(x),
    "clone": np.array,
}
POSITIVE = {
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "atan2": np.arctan2,
    "remainder": np.remainder,
    "fmod": np.fmod,
    "floor_divide": np.floor_divide,
    "pow": np.power,
}
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def check(result: Tensor, expected: np.ndarray, fake: Tensor) -> None:
    """Values near the float64 oracle's; and the meta rule promised just these sizes, strides and dtype."""
    assert tuple(result.shape) == expected.shape
    assert (fake.sizes, fake.strides, fake.dtype) == (result.sizes, result.strides, result.dtype)
    tolerance = 2e-6 if result.dtype is torch.float32 else 1e-12
    np.testing.assert_allclose(result.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*UNARY, *POSITIVE])
def test_unary_equals_numpy(name: str, dtype: type) -> None:
    op, oracle = ops.table[name], {**UNARY, **POSITIVE}[name]
    for array in arrays(dtype, positive=name in POSITIVE).values():
        expected = oracle(array.astype(np.float64))
        for _, x in layouts(array):
            check(op(x), np.asarray(expected), op(fake_like(x)))


@pytest.mark.parametrize("name", BINARY)
def test_binary_broadcasts_as_numpy(name: str) -> None:
    op, oracle = ops.table[name], BINARY[name]
    cases = arrays(np.float64, positive=True)
    for a in cases.values():
        for b in cases.values():
            try:
                expected = oracle(a, b)
            except ValueError:
                with pytest.raises(RuntimeError, match=r"must match the size|broadcast"):
                    op(fake_like(from_numpy(a)), fake_like(from_numpy(b)))
                continue
            for (_, x), (_, y) in zip(layouts(a), layouts(b), strict=False):
                check(op(x, y), np.asarray(expected), op(fake_like(x), fake_like(y)))


@pytest.mark.parametrize("name", COMPARE)
def test_comparison_is_bool_and_nan_is_unordered(name: str) -> None:
    values = special_floats()
    x, y = from_numpy(values[:, None]), from_numpy(values)
    result = ops.table[name](x, y)
    assert result.dtype is torch.bool
    np.testing.assert_array_equal(result.numpy(), COMPARE[name](values[:, None], values))


@pytest.mark.parametrize("name", [*UNARY, *POSITIVE])
def test_special_values_follow_numpy(name: str) -> None:
    values = special_floats()
    with np.errstate(all="ignore"):
        expected = {**UNARY, **POSITIVE}[name](values.astype(np.float64)).astype(np.float32)
    if name == "sign":
        expected[np.isnan(values)] = 0  # PyTorch's sign of NaN
    if name in ("gelu", "silu"):
        expected[values == -np.inf] = np.nan  # inf * 0, as in PyTorch
    np.testing.assert_allclose(ops.table[name](from_numpy(values)).numpy(), expected, rtol=2e-6, atol=1e-37)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (torch.ones(2, dtype=torch.int64), 1.5, torch.float32),
        (torch.ones(2, dtype=torch.bool), 1, torch.int64),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), torch.float64),
        (torch.ones(2), torch.tensor(1.0, dtype=torch.float64), torch.float32),
        (torch.ones(2, dtype=torch.int64), torch.ones(2), torch.float32),
        (torch.ones(2, dtype=torch.uint8), torch.ones(2, dtype=torch.int8), torch.int16),
        (torch.ones(2, dtype=torch.int32), 2, torch.int32),
        (torch.tensor(1, dtype=torch.int32), torch.ones(2, dtype=torch.uint8), torch.uint8),
        (torch.ones(2, dtype=torch.float16), 3.0, torch.float16),
    ],
)
def test_promotion_as_pytorch(left: Tensor, right: object, expected: torch.dtype) -> None:
    assert (left * right).dtype is expected
    assert (right * left).dtype is expected
    assert (fake_like(left) * (fake_like(right) if isinstance(right, Tensor) else right)).dtype is expected


def test_division_of_integers_is_true_division() -> None:
    result = torch.tensor([1, 2, 3]) / 2
    assert result.dtype is torch.float32
    assert result.tolist() == [0.5, 1.0, 1.5]


def test_integer_division_by_zero_raises() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.tensor([1]) // torch.tensor([0])


@pytest.mark.parametrize("divide", [torch.floor_divide, torch.remainder, torch.fmod])
def test_no_integer_divided_by_zero_is_none(divide: Any) -> None:
    nothing = torch.ones(0, 5, dtype=torch.int64)
    assert divide(nothing, torch.zeros(1, 5, dtype=torch.int64)).shape == divide(nothing, 0).shape == (0, 5)


def test_subtracting_bools_raises() -> None:
    with pytest.raises(RuntimeError, match="bool"):
        torch.tensor([True]) - torch.tensor([False])


def test_integers_to_negative_powers_raise() -> None:
    with pytest.raises(RuntimeError, match="negative integer powers"):
        torch.tensor([2]) ** -1


def test_where_takes_only_a_bool_condition() -> None:
    assert torch.where(torch.tensor([True, False]), torch.tensor([1, 2]), 9).tolist() == [1, 9]
    with pytest.raises(RuntimeError, match="condition to be a boolean tensor"):
        torch.where(torch.tensor([1, 0]), torch.tensor([1, 2]), 9)


def test_clamp_with_one_bound_and_none() -> None:
    x = torch.tensor([-2.0, 0.5, 2.0])
    assert x.clamp(min=0).tolist() == [0.0, 0.5, 2.0]
    assert x.clamp(max=torch.tensor(1.0)).tolist() == [-2.0, 0.5, 1.0]
    with pytest.raises(RuntimeError, match="must not be None"):
        x.clamp()


@pytest.mark.parametrize("name", ["gelu"])
def test_unknown_mode_names_the_argument(name: str) -> None:
    with pytest.raises(RuntimeError, match="approximate must be"):
        ops.table[name](torch.ones(2), approximate="cubic")


def test_unknown_and_missing_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        torch.add(torch.ones(2), 1, foo=3)
    with pytest.raises(TypeError, match='missing 1 required positional arguments: "other"'):
        torch.add(torch.ones(2))
    with pytest.raises(TypeError, match="multiple values for argument 'input'"):
        torch.add(torch.ones(2), input=torch.ones(2))


@pytest.mark.parametrize("operand", [[5], (1, 2), "x", None])
def test_only_tensors_and_numbers_are_operands(operand: object) -> None:
    for x in (torch.ones(2), fake_like(torch.ones(2))):
        for call in (torch.add, torch.Tensor.add_, torch.mul):
            with pytest.raises(TypeError, match="expected a Tensor or a number, got"):
                call(x, operand)


REFUSED = {
    "a dtype": lambda x: ops.relu(x > 0),
    "a dtype of an operator": lambda x: x << x,
    "an option": lambda x: ops.div(x, x, rounding_mode="up"),
    "integers": lambda x: ops.addcdiv(x.long(), x.long(), x.long()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_kernel_refuses_is_refused_without_data(name):
    errors = []
    for x in (from_numpy(np.ones(2)), fake_like(from_numpy(np.ones(2)))):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            REFUSED[name](x)
        errors.append((caught.type, str(caught.value)))
    assert errors[0] == errors[1]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_number_over_a_tensor_is_its_reciprocal_times_the_number(compiled):
    """PyTorch's bits: 2.7 / 7 rounded once is 0x1.8af8b0p-2."""
    x = torch.tensor([3.0, 7.0, 0.1, 49.0])
    quotient = torch.compile(lambda x: 2.7 / x)(x) if compiled else 2.7 / x
    assert [value.hex()[:10] for value in quotient.tolist()] == ["0x1.ccccce", "0x1.8af8b2", "0x1.b00000", "0x1.c3655a"]


def test_what_a_number_over_a_tensor_leaves_on_the_tape():
    quotient = 2 / torch.tensor([3.0, 7.0], requires_grad=True)
    assert type(quotient.grad_fn).__name__ == "MulBackward0" and (3 / torch.tensor([2, 7])).dtype is torch.float32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.mul_(), "mul_() missing 1"),
        (lambda x: x.mul_("a"), "mul_(): expected a Tensor"),
        (lambda x: x.div_(1, 2, 3), "div_() takes from"),
        (lambda x: x.mul_(oth=3), "mul_() got an unexpected"),
        (lambda x: x.mul("a"), "mul(): expected"),
    ],
)
def test_an_error_names_the_form_that_was_called(call, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
        call(torch.ones(2))


@pytest.mark.parametrize("make", [torch.rand, torch.randn, torch.zeros])
def test_sizes_must_be_said(make):
    with pytest.raises(TypeError, match=r'missing 1 required positional arguments: "size"'):
        make()
    assert make(()).shape == make(size=()).shape == ()


@pytest.mark.parametrize("op", [op for op, _ in ALONE])
@pytest.mark.parametrize("element", [np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8])
def test_the_function_that_tensors_go_straight_to_is_the_formula(op, element):
    floats = [*special_floats(), 3.0, -7.0, 100.0]
    with np.errstate(all="ignore"):
        x = np.asarray(floats if np.dtype(element).kind == "f" else [3, 0, 100, 127], element)
        operands = (x, x[::-1].copy())[: len(op.tensor_parameters)]
        straight, formula = op.of_tensors(*operands), op.kernel(*operands)
    assert straight.dtype == formula.dtype
    np.testing.assert_array_equal(straight, formula)
