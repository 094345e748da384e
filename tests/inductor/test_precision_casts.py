"""config.emulate_precision_casts: kernels round float16 and bfloat16 behind each operation, to the bits of eager."""

import pytest

import minitorch_compile as torch
from minitorch_compile import config

UNARY = (
    *("exp", "tanh", "sin", "cos", "sigmoid", "log1p", "sqrt", "rsqrt", "erf", "expm1"),
    *("reciprocal", "abs", "neg", "square", "atan", "sinh", "relu", "floor"),
)
DTYPES = (torch.float16, torch.bfloat16)


def chain(x, y):
    """Five roundings behind each function, in one kernel."""
    return tuple((getattr(torch, name)(x) * y + x) / (y * y + 1) for name in UNARY)


def arguments(dtype):
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(257, generator=generator) * 2 + 0.1
    return x.to(dtype), torch.randn(257, generator=generator).to(dtype)


def elements_that_differ(dtype):
    x, y = arguments(dtype)
    pairs = zip(UNARY, torch.compile(chain)(x, y), chain(x, y))
    return {name: count for name, a, b in pairs if (count := int((a != b).sum()))}


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_chain_of_operations_gives_the_bits_that_eager_gives(dtype):
    with config.patch(emulate_precision_casts=True):
        assert elements_that_differ(dtype) == {}


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_of_a_chain_are_those_of_eager_bit_for_bit(dtype):
    def gradients(function):
        x, y = (a.requires_grad_() for a in arguments(dtype))
        function(x, y).sum().backward()
        return x.grad, y.grad

    with config.patch(emulate_precision_casts=True):
        compiled = gradients(torch.compile(lambda x, y: x * y * y + x))
    for a, b in zip(compiled, gradients(lambda x, y: x * y * y + x)):
        assert torch.equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_without_it_less_is_rounded(dtype):
    assert elements_that_differ(dtype)
