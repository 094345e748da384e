"""Angles, logarithms, parts of floats, integers and mixtures: against NumPy in float64, over the awkward inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import minitorch_compile as torch
from minitorch_compile.tensor import fake_like, from_numpy, ops
from tests.tensor.awkward import arrays, layouts, special_floats

UNARY = {
    "tan": np.tan,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "exp2": np.exp2,
    "sinc": np.sinc,
    "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg,
    "frac": lambda x: x - np.trunc(x),
    "sgn": np.sign,
    "nan_to_num": np.nan_to_num,
}
ON_UNIT_INTERVAL = {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh, "logit": special.logit}
POSITIVE = {"log2": np.log2, "log10": np.log10, "acosh": lambda x: np.arccosh(np.where(x < 1, np.nan, x))}
BINARY = {
    "hypot": np.hypot,
    "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2,
    "copysign": np.copysign,
    "xlogy": special.xlogy,
    "special_xlog1py": special.xlog1py,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "float_power": np.float_power,
    "rsub": lambda x, y: y - x,
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
}
PREDICATES = {"isinf": np.isinf, "isfinite": np.isfinite, "isposinf": np.isposinf, "isneginf": np.isneginf}
PREDICATES |= {"isreal": np.isreal, "signbit": np.signbit}
INTEGER = {
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "gcd": np.gcd,
    "lcm": np.lcm,
}


@pytest.mark.parametrize("name", [*UNARY, *ON_UNIT_INTERVAL, *POSITIVE])
def test_functions_of_one_argument_equal_numpy(name: str) -> None:
    oracle = (UNARY | ON_UNIT_INTERVAL | POSITIVE)[name]
    for array in arrays(np.float32, positive=name in POSITIVE).values():
        if name in ON_UNIT_INTERVAL:
            array = np.asarray(0.5 + np.tanh(array) / 2.1, np.float32)
        with np.errstate(all="ignore"):
            expected = np.asarray(oracle(array.astype(np.float64)))
        for _, x in layouts(array):
            result, fake = ops.table[name](x), ops.table[name](fake_like(x))
            assert (fake.sizes, fake.strides, fake.dtype) == (result.sizes, result.strides, result.dtype)
            np.testing.assert_allclose(result.numpy(), expected, rtol=4e-6, atol=2e-6)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arguments_broadcast(name: str) -> None:
    x = np.random.default_rng(0).uniform(0.5, 3, (2, 1, 4))
    y = np.random.default_rng(1).uniform(0.5, 3, (3, 1))
    result = ops.table[name](from_numpy(x), from_numpy(y))
    np.testing.assert_allclose(result.numpy(), BINARY[name](x, y), rtol=1e-12)


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2", "hypot", "copysign", "xlogy", "fmax", "fmin"])
def test_special_values_of_two_arguments_follow_numpy(name: str) -> None:
    values = special_floats()
    with np.errstate(all="ignore"):
        expected = BINARY[name](values[:, None].astype(np.float64), values.astype(np.float64)).astype(np.float32)
    result = ops.table[name](from_numpy(values[:, None].copy()), from_numpy(values))
    np.testing.assert_allclose(result.numpy(), expected, rtol=2e-6, atol=1e-37)


@pytest.mark.parametrize("name", PREDICATES)
def test_predicates_are_bool(name: str) -> None:
    for array in (special_floats(), np.array([-1, 0, 2]), np.array([True, False])):
        result = ops.table[name](from_numpy(array))
        assert result.dtype is torch.bool
        expected = PREDICATES[name](array.astype(np.float64))
        np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("name", INTEGER)
def test_integer_functions_equal_numpy(name: str, dtype: type) -> None:
    x = np.array([[12, 0, 7], [1, 100, 3]], dtype)
    y = np.array([2, 3, 5], dtype)
    np.testing.assert_array_equal(ops.table[name](from_numpy(x), from_numpy(y)).numpy(), INTEGER[name](x, y))
    with pytest.raises(NotImplementedError, match="integer"):
        ops.table[name](torch.ones(2), torch.ones(2))


def test_shifts_are_operators_and_fill_with_the_sign() -> None:
    assert (torch.tensor([1, -8]) << 2).tolist() == [4, -32]
    assert (torch.tensor([1, -8]) >> 2).tolist() == [0, -2]
    assert (2 << torch.tensor([3])).tolist() == [16]
    x = torch.tensor([5])
    x <<= 1
    x %= 4
    x //= 2
    assert x.tolist() == [1]


def test_lerp_reaches_both_ends_exactly() -> None:
    x, end = torch.tensor([0.1, 1e8]), torch.tensor([0.3, 1.0])
    assert x.lerp(end, 0.0).tolist() == x.tolist()
    assert x.lerp(end, 1.0).tolist() == end.tolist()
    assert torch.lerp(torch.zeros(2, 1), torch.ones(3), torch.tensor([0.25, 0.5, 1.0])).shape == (2, 3)
    assert torch.zeros(2).lerp_(torch.ones(2), 0.5).tolist() == [0.5, 0.5]


def test_addcmul_and_addcdiv() -> None:
    x, a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0]), torch.tensor([2.0, 4.0])
    assert torch.addcmul(x, a, b, value=0.5).tolist() == [4.0, 8.0]
    assert torch.addcdiv(x, a, b, value=2).tolist() == [4.0, 3.5]
    with pytest.raises(RuntimeError, match="Integer division with addcdiv"):
        torch.addcdiv(torch.tensor([1]), torch.tensor([1]), torch.tensor([1]))


@pytest.mark.parametrize(
    ("mode", "integers", "floats"),
    [(None, [-3.5, 3.5], [-3.75, 3.75]), ("floor", [-4, 3], [-4.0, 3.0]), ("trunc", [-3, 3], [-3.0, 3.0])],
)
def test_div_rounds_as_asked(mode: str | None, integers: list[float], floats: list[float]) -> None:
    result = torch.div(torch.tensor([-7, 7]), 2, rounding_mode=mode)
    assert result.tolist() == integers
    assert result.dtype is (torch.float32 if mode is None else torch.int64)
    assert torch.div(torch.tensor([-7.5, 7.5]), 2, rounding_mode=mode).tolist() == floats


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_divided_with_rest_as_numpy_does(dtype: type) -> None:
    values = np.concatenate([special_floats(dtype), np.array([7.5, -7.5, 0.3, -0.1, 1e8, 5.0], dtype)])
    x, y = values[:, None].copy(), values
    with np.errstate(all="ignore"):
        quotient, rest = np.floor_divide(x, y), np.remainder(x, y)
    representable = np.abs(quotient) < 1e30  # beyond, the quotient itself is rounded
    ours = (from_numpy(x) // from_numpy(y)).numpy()
    np.testing.assert_array_equal(np.where(representable, ours, 0), np.where(representable, quotient, 0))
    np.testing.assert_array_equal((from_numpy(x) % from_numpy(y)).numpy(), rest)


def test_float_power_computes_in_double_precision() -> None:
    assert torch.float_power(torch.tensor([2]), 3).dtype is torch.float64
    assert torch.float_power(2, torch.tensor([0.5])).item() == 2**0.5
    assert torch.tensor([1j]).float_power(2).tolist() == pytest.approx([-1 + 0j])
    with pytest.raises(RuntimeError, match="requires dtype torch.float64"):
        torch.ones(1).float_power_(2)
    assert torch.tensor([3.0], dtype=torch.float64).float_power_(2).item() == 9.0


def test_small_powers_are_exact() -> None:
    x = np.array([-3.0, 0.5, 1e20, np.inf, np.nan], np.float32)
    with np.errstate(all="ignore"):
        for exponent in (2, 3, 4, -1, 0.5, 3.0):
            np.testing.assert_allclose((from_numpy(x) ** exponent).numpy(), x**exponent, rtol=2e-7)


def test_div_refuses_other_modes_and_integer_zero() -> None:
    with pytest.raises(RuntimeError, match="rounding_mode"):
        torch.div(torch.ones(2), 2, rounding_mode="up")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.div(torch.tensor([1]), 0, rounding_mode="floor")


def test_round_to_decimals() -> None:
    assert torch.round(torch.tensor([1.25, -0.346]), decimals=2).tolist() == pytest.approx([1.25, -0.35])
    assert torch.round(torch.tensor([1234.0]), decimals=-2).tolist() == [1200.0]


@pytest.mark.parametrize("name", ["abs", "floor", "ceil", "trunc", "round"])
def test_bools_are_no_numbers(name: str) -> None:
    with pytest.raises(NotImplementedError, match="bool"):
        ops.table[name](torch.tensor([True]))


def test_subtracting_a_bool_from_a_float_raises() -> None:
    for left, right in ((torch.ones(1), torch.tensor([True])), (torch.ones(1), True), (True, torch.ones(1))):
        with pytest.raises(RuntimeError, match="bool"):
            left - right


def test_integers_to_negative_powers_of_a_tensor_round_toward_zero() -> None:
    assert (torch.tensor([2, 1, -1, -1, 3]) ** torch.tensor([-1, -2, -1, -2, 2])).tolist() == [0, 1, -1, 1, 9]


def test_integers_refuse_a_fractional_alpha() -> None:
    for op in (torch.add, torch.sub):
        with pytest.raises(RuntimeError, match="alpha must not be a floating point number"):
            op(torch.tensor([1]), torch.tensor([1]), alpha=1.5)


def test_some_operands_must_be_tensors() -> None:
    x = torch.ones(2)
    for call in (
        lambda: torch.maximum(x, 1.0),
        lambda: torch.exp(1.0),
        lambda: x.logical_and(True),
        lambda: x.atan2_(2),
    ):
        with pytest.raises(TypeError, match="must be Tensor, not"):
            call()
    with pytest.raises(TypeError, match="only implemented on integer and Boolean"):
        ~x
    with pytest.raises(RuntimeError, match="bool tensor"):
        +torch.tensor([True])


def test_unsigned_integers_have_no_negative_powers() -> None:
    with pytest.raises(RuntimeError, match="negative integer powers"):
        torch.tensor([2], dtype=torch.uint8) ** -2


def test_lerp_converts_nothing() -> None:
    for end in (torch.ones(2, dtype=torch.float64), torch.tensor([1, 2])):
        with pytest.raises(RuntimeError, match="expected dtype"):
            torch.ones(2).lerp(end, 0.5)
    with pytest.raises(NotImplementedError, match="floating-point"):
        torch.lerp(torch.tensor([1]), torch.tensor([2]), 0.5)


def test_squares_of_bools_are_integers() -> None:
    assert torch.tensor([True, False]).square().dtype is torch.int64


def test_frexp_takes_a_float_apart() -> None:
    values = np.array([0.0, -0.0, 1.0, -6.0, 1e-40, 3e38, np.inf, np.nan], np.float32)
    mantissa, exponent = torch.frexp(from_numpy(values))
    finite = np.isfinite(values)
    np.testing.assert_array_equal(mantissa.numpy()[finite], np.frexp(values)[0][finite])
    np.testing.assert_array_equal(exponent.numpy()[finite], np.frexp(values)[1][finite])
    assert exponent.dtype is torch.int32


def test_nan_to_num_takes_replacements() -> None:
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 1.0])
    assert x.nan_to_num(1.0, 2.0, 3.0).tolist() == [1.0, 2.0, 3.0, 1.0]
    assert torch.tensor([1, 2]).nan_to_num().tolist() == [1, 2]
    assert x.to(torch.bfloat16).nan_to_num()[1].item() == torch.finfo(torch.bfloat16).max


def test_heaviside_takes_its_value_at_zero_and_one_dtype() -> None:
    assert torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([0.5])).tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(RuntimeError, match="different dtypes"):
        torch.heaviside(torch.tensor([1]), torch.tensor([0.5]))


def test_ldexp_and_nextafter() -> None:
    assert torch.ldexp(torch.tensor([1.5, -2.0]), torch.tensor([3, -1])).tolist() == [12.0, -1.0]
    one = torch.tensor([1.0])
    assert torch.nextafter(one, one + 1).item() == np.nextafter(np.float32(1), np.float32(2))


def test_second_names_are_the_same_operation() -> None:
    x, y = torch.tensor([4.0, -1.0]), torch.tensor([2.0, 3.0])
    pairs = [("absolute", "abs"), ("negative", "neg"), ("fix", "trunc"), ("arctan", "atan"), ("arcsinh", "asinh")]
    assert all(getattr(torch, a)(x).tolist() == getattr(x, b)().tolist() for a, b in pairs)
    pairs = [("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("true_divide", "div"), ("greater", "gt")]
    pairs += [("less_equal", "le"), ("not_equal", "ne"), ("arctan2", "atan2")]
    assert all(getattr(x, a)(y).tolist() == getattr(torch, b)(x, y).tolist() for a, b in pairs)
    assert x.clone().absolute_().tolist() == [4.0, 1.0]
    assert x.clip(min=0).tolist() == [4.0, 0.0]


@pytest.mark.parametrize("name", ["sinc", "logit", "nan_to_num", "clamp_min", "frac"])
def test_composite_ops_work_in_place_and_are_differentiated(name: str) -> None:
    arguments = (0.3,) if name == "clamp_min" else ()
    leaf = torch.tensor([0.25, 0.75], requires_grad=True)
    target = leaf * 1
    result = getattr(target, f"{name}_")(*arguments)
    assert result is target and target._version > 0
    plain = torch.tensor([0.25, 0.75], requires_grad=True)
    expected = getattr(plain, name)(*arguments)
    assert result.tolist() == expected.tolist()
    result.sum().backward()
    expected.sum().backward()
    assert leaf.grad.tolist() == plain.grad.tolist()


def test_comparison_in_place_stores_zeros_and_ones() -> None:
    x = torch.tensor([1.0, 3.0])
    assert x.gt_(2).tolist() == [0.0, 1.0]
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.tensor([1]).div_(2)


def test_gradients_at_the_edges_of_a_function() -> None:
    x = torch.tensor([0.0, 1.0, 0.5, 2.0], requires_grad=True)
    x.logit().sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [np.inf, np.inf, 4.0, np.nan])
    origin = torch.zeros(1, requires_grad=True)
    torch.atan2(origin, torch.zeros(1)).backward()
    assert origin.grad.item() == 0.0


def test_empty_tensors_are_written_in_place_whatever_their_strides() -> None:
    x = from_numpy(np.zeros((3, 0), np.float32))
    assert x.exp_() is x and x.add_(1).shape == (3, 0)


def test_numpy_arrays_are_operands() -> None:
    result = torch.ones(2, dtype=torch.float64) + np.array([1.0, 2.0])
    assert isinstance(result, torch.Tensor) and result.tolist() == [2.0, 3.0]


def test_size_one_dimensions_of_a_row_major_result_have_row_major_strides() -> None:
    x = torch.ones(4)[::2][:1]
    assert x.stride() == (2,)
    assert x.exp().exp().stride() == (1,) and (x + x).stride() == (1,) and x.round().stride() == (1,)
