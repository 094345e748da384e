"""Random tensors: their distributions, dtypes, layouts, generators and errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaincinv

import minitorch_compile as torch
from minitorch_compile.tensor import ops

COUNT = 4000


def agrees(sample, distribution, **parameters) -> bool:
    """Whether a sample passes for one of this SciPy distribution (Kolmogorov and Smirnov's test)."""
    return stats.kstest(sample.double().numpy(), distribution, args=tuple(parameters.values())).pvalue > 1e-3


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


FILLED = {
    "uniform_": (lambda x: x.uniform_(-1, 3), "uniform", {"loc": -1, "scale": 4}),
    "normal_": (lambda x: x.normal_(mean=2, std=3), "norm", {"loc": 2, "scale": 3}),
    "exponential_": (lambda x: x.exponential_(2.0), "expon", {"loc": 0, "scale": 0.5}),
    "cauchy_": (lambda x: x.cauchy_(1, 2), "cauchy", {"loc": 1, "scale": 2}),
    "log_normal_": (lambda x: x.log_normal_(0.5, 0.7), "lognorm", {"s": 0.7, "loc": 0, "scale": np.exp(0.5)}),
    "rand": (lambda x: torch.rand(COUNT, dtype=x.dtype), "uniform", {"loc": 0, "scale": 1}),
    "randn": (lambda x: torch.randn(COUNT, dtype=x.dtype), "norm", {"loc": 0, "scale": 1}),
    "normal": (lambda x: torch.normal(torch.full_like(x, 2.0), 3.0), "norm", {"loc": 2, "scale": 3}),
    "gamma": (lambda x: torch._standard_gamma(torch.full_like(x, 2.5)), "gamma", {"a": 2.5}),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", FILLED)
def test_continuous_samples_have_their_distribution(name, dtype):
    fill, distribution, parameters = FILLED[name]
    sample = fill(torch.empty(COUNT, dtype=dtype))
    assert sample.dtype is dtype and agrees(sample, distribution, **parameters)


COUNTED = {
    "poisson": (lambda: torch.poisson(torch.full((COUNT,), 3.5)), stats.poisson(3.5)),
    "large rates": (lambda: torch.poisson(torch.full((COUNT,), 1000.0)), stats.poisson(1000)),
    "binomial": (lambda: torch.binomial(torch.full((COUNT,), 10.0), torch.full((COUNT,), 0.3)), stats.binom(10, 0.3)),
    "geometric_": (lambda: torch.empty(COUNT).geometric_(0.3), stats.geom(0.3)),
    "bernoulli": (lambda: torch.bernoulli(torch.full((COUNT,), 0.3)), stats.bernoulli(0.3)),
    "bernoulli_ of integers": (lambda: torch.zeros(COUNT, dtype=torch.int64).bernoulli_(0.3), stats.bernoulli(0.3)),
    "randint": (lambda: torch.randint(-3, 5, (COUNT,)), stats.randint(-3, 5)),
    "multinomial": (
        lambda: torch.multinomial(torch.tensor([1.0, 0.0, 3.0]), COUNT, True),
        stats.rv_discrete(values=([0, 2], [0.25, 0.75])),
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_whole_numbers_have_their_distribution(name):
    draw, distribution = COUNTED[name]
    sample = draw().double().numpy()
    error = 5 * distribution.std() / np.sqrt(COUNT)
    assert abs(sample.mean() - distribution.mean()) < error
    assert abs(sample.var() - distribution.var()) < 12 * distribution.var() / np.sqrt(COUNT)


def test_weights_decide_who_comes_first_without_replacement():
    rows = torch.tensor([[1.0, 2.0, 7.0]]).expand(COUNT, 3)
    drawn = torch.multinomial(rows, 2).numpy()
    assert drawn.shape == (COUNT, 2) and (drawn[:, 0] != drawn[:, 1]).all()
    share = (drawn[:, 0][:, None] == np.arange(3)).mean(0)
    np.testing.assert_allclose(share, [0.1, 0.2, 0.7], atol=0.03)


def test_complex_numbers_have_random_parts():
    uniform, normal = torch.rand(COUNT, dtype=torch.cfloat), torch.randn(COUNT, dtype=torch.cdouble)
    for part in (uniform.real, uniform.imag):
        assert agrees(part, "uniform")
    for part in (normal.real, normal.imag, torch.empty(COUNT, dtype=torch.cdouble).normal_().real):
        assert agrees(part, "norm", loc=0, scale=np.sqrt(0.5))
    assert torch.randn_like(normal).dtype is torch.complex128


def test_half_precision_never_rounds_up_to_one():
    assert torch.rand(100_000, dtype=torch.float16).max().item() < 1


@pytest.mark.parametrize("low", [0, -(2**62), 2**60])
def test_integers_far_from_zero_stay_in_range(low):
    sample = torch.randint(low, low + 7, (200,))
    assert sample.min().item() == low and sample.max().item() == low + 6


@pytest.mark.parametrize(
    ("dtype", "most"), [(torch.uint8, 255), (torch.bool, 1), (torch.float32, 2**24), (torch.int64, 2**63 - 1)], ids=str
)
def test_random_fills_what_the_dtype_holds(dtype, most):
    sample = torch.zeros(500, dtype=dtype).random_()
    assert 0 <= sample.min().item() and most * 0.9 <= sample.max().item() <= most


def test_all_forms_of_randint():
    shapes = [
        torch.randint(5, (2, 3)),
        torch.randint(high=5, size=(2, 3)),
        torch.randint(5, size=(2, 3)),
        torch.randint(0, 5, (2, 3)),
        torch.randint_like(torch.zeros(2, 3), 5),
    ]
    assert all(x.shape == (2, 3) for x in shapes)
    assert shapes[0].dtype is torch.int64 and shapes[-1].dtype is torch.float32


def test_sizes_may_be_given_by_name():
    assert torch.rand(size=(2, 3)).shape == torch.randn(size=(2, 3)).shape == torch.rand(2, 3).shape == (2, 3)


def test_like_keeps_the_layout():
    x = torch.zeros(2, 3, 4).permute(2, 0, 1)
    assert torch.rand_like(x).stride() == torch.randn_like(x).stride() == x.stride()
    assert torch.rand_like(x, dtype=torch.float64).stride() == x.stride()


def test_a_generator_has_a_stream_of_its_own():
    g = torch.Generator().manual_seed(7)
    before = torch.random.default_generator.position()
    first = torch.rand(3, generator=g), torch.randperm(4, generator=g), torch.zeros(2).normal_(generator=g)
    assert torch.random.default_generator.position() == before
    g.manual_seed(7)
    again = torch.rand(3, generator=g), torch.randperm(4, generator=g), torch.zeros(2).normal_(generator=g)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_state_can_be_stored_and_put_back():
    state = torch.get_rng_state()
    a = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.equal(a, torch.rand(3))
    with torch.random.fork_rng():
        torch.manual_seed(9)
        torch.rand(10)
    b = torch.rand(3)
    torch.set_rng_state(state)
    torch.rand(3)
    assert torch.equal(b, torch.rand(3))


def test_seeds():
    assert torch.manual_seed(5).initial_seed() == torch.initial_seed() == 5
    assert torch.Generator().manual_seed(-5).initial_seed() == 2**64 - 5
    assert torch.seed() == torch.initial_seed()


def test_a_random_fill_of_a_view_writes_its_base():
    x = torch.zeros(4, 3)
    x[:, 1].uniform_(1, 2)
    assert (x[:, 1] >= 1).all() and (x[:, 0] == 0).all() and x._version == 1


def test_a_random_fill_cuts_the_gradient():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.normal_()
    y.sum().backward()
    assert (x.grad == 0).all()
    with pytest.raises(RuntimeError, match="leaf"):
        x.normal_()


def test_gamma_samples_follow_their_concentration():
    a = torch.tensor([0.3, 1.0, 4.0], dtype=torch.float64, requires_grad=True)
    u = torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64)
    ops.gamma_quantile(a, u).sum().backward()
    step, at = 1e-5, a.detach().numpy()
    expected = (gammaincinv(at + step, u.numpy()) - gammaincinv(at - step, u.numpy())) / (2 * step)
    np.testing.assert_allclose(a.grad.numpy(), expected, rtol=1e-5)


ERRORS = {
    "rand of integers": (NotImplementedError, lambda: torch.rand(3, dtype=torch.int64)),
    "empty range": (RuntimeError, lambda: torch.randint(5, 5, (2,))),
    "range beyond the dtype": (RuntimeError, lambda: torch.randint(0, 300, (2,), dtype=torch.uint8)),
    "fractional bound": (TypeError, lambda: torch.randint(2.5, (2,))),
    "negative size": (RuntimeError, lambda: torch.rand(-1)),
    "no probability": (RuntimeError, lambda: torch.bernoulli(torch.tensor([1.5]))),
    "bernoulli of integers": (NotImplementedError, lambda: torch.bernoulli(torch.tensor([1]))),
    "no weight": (RuntimeError, lambda: torch.multinomial(torch.zeros(2), 1)),
    "negative weight": (RuntimeError, lambda: torch.multinomial(torch.tensor([-1.0, 1.0]), 2)),
    "too many samples": (RuntimeError, lambda: torch.multinomial(torch.ones(2, 3), 5)),
    "no samples": (RuntimeError, lambda: torch.multinomial(torch.ones(2, 3), 0)),
    "three dimensions": (RuntimeError, lambda: torch.multinomial(torch.ones(2, 3, 4), 1)),
    "integer weights": (RuntimeError, lambda: torch.multinomial(torch.ones(3, dtype=torch.int64), 1)),
    "negative std": (RuntimeError, lambda: torch.zeros(3).normal_(0, -1)),
    "bounds the wrong way round": (RuntimeError, lambda: torch.zeros(3).uniform_(2, 1)),
    "normal integers": (NotImplementedError, lambda: torch.zeros(3, dtype=torch.int64).normal_()),
    "negative rate": (RuntimeError, lambda: torch.poisson(torch.tensor([-1.0]))),
    "not a generator": (TypeError, lambda: torch.rand(2, generator=3)),
    "not a seed": (RuntimeError, lambda: torch.Generator().manual_seed(1.5)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_pytorch(name):
    error, call = ERRORS[name]
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("name", ["uniform_", "normal_", "random_", "bernoulli_", "exponential_", "geometric_"])
@pytest.mark.parametrize(
    "make",
    [lambda leaf: leaf, lambda leaf: leaf[:2], lambda leaf: leaf.detach()[:1].expand(4)],
    ids=["a leaf", "a view of one", "an expanded tensor"],
)
def test_nothing_is_drawn_for_what_can_not_be_written_to(name, make):
    """As in PyTorch 2.13: whoever catches the error goes on with the same numbers."""
    x = make(torch.ones(4, requires_grad=True))
    torch.manual_seed(0)
    with pytest.raises(RuntimeError, match="requires grad|more than one element"):
        getattr(x, name)(*([0.5] if name == "geometric_" else []))
    after = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(after, torch.rand(1))


@pytest.mark.parametrize(
    ("dtype", "bounds", "said"),
    [
        (torch.int8, (129,), "to - 1 is out of bounds"),
        (torch.uint8, (-1, 5), "from is out of bounds"),
        (torch.float16, (0, 10**6), "to - 1 is out of bounds"),
        (torch.bool, (0, 3), "to - 1 is out of bounds"),
    ],
)
def test_random_refuses_bounds_that_the_dtype_does_not_hold(dtype, bounds, said):
    with pytest.raises(RuntimeError, match=said):
        torch.zeros(3, dtype=dtype).random_(*bounds)
    torch.zeros(3, dtype=torch.int8).random_(-128, 128)
