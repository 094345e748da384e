"""Transforms of parts, correlation matrices, Wishart, generalized Pareto: PyTorch's recorded numbers."""

import pytest

import minitorch_compile as torch
from minitorch_compile import distributions as D
from minitorch_compile.distributions import constraints as C
from minitorch_compile.distributions.parameters import lazy_property, tril_matrix_to_vec, vec_to_tril_matrix

X = torch.tensor([0.3, -0.7, 1.1])
ROWS = torch.tensor([[0.3, 1.0], [2.0, 3.0]])
S = torch.tensor([[2.0, 0.3], [0.3, 1.0]])
V = torch.tensor([[1.0, 0.2], [0.2, 2.0]])


def near(value, recorded):
    assert torch.allclose(torch.as_tensor(value), torch.tensor(recorded), atol=2e-3, rtol=2e-3, equal_nan=True), value


# Each: the transform, its argument, and y and log |dy/dx| as PyTorch 2.13 computes them.
TRANSFORMS = {
    "correlation": (
        D.CorrCholeskyTransform(),
        X,
        [[1.0, 0.0, 0.0], [0.2913, 0.9566, 0.0], [-0.6044, 0.6378, 0.4775]],
        -1.7944,
    ),
    "pieces": (
        D.CatTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)], -1, [1, 2]),
        X,
        [1.3499, -0.4, 3.2],
        [0.3, 0.6931, 0.6931],
    ),
    "slices": (
        D.StackTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)]),
        ROWS,
        [[1.3499, 2.7183], [5.0, 7.0]],
        [[0.3, 1.0], [0.6931, 0.6931]],
    ),
    "cdf": (
        D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)),
        X,
        [0.6179, 0.242, 0.8643],
        [-0.9639, -1.1639, -1.5239],
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_has_pytorchs_values_and_is_inverted(name):
    transform, x, y, slope = TRANSFORMS[name]
    near(transform(x), y)
    near(transform.inv(transform(x)), x.tolist())
    near(transform.log_abs_det_jacobian(x, transform(x)), slope)


@pytest.mark.parametrize("name", ["correlation", "pieces"])
def test_the_logarithm_is_that_of_the_jacobians_determinant(name):
    transform, x, *_ = TRANSFORMS[name]
    free = (lambda x: tril_matrix_to_vec(transform(x), -1)) if name == "correlation" else transform
    jacobian = torch.autograd.functional.jacobian(free, x)
    near(transform.log_abs_det_jacobian(x, transform(x)).sum(), torch.linalg.slogdet(jacobian)[1].item())


def test_a_draw_is_a_factor_of_a_correlation_matrix():
    d = D.LKJCholesky(3, torch.tensor([1.0, 2.5]))
    draws = d.sample((50,))
    assert tuple(draws.shape) == (50, 2, 3, 3)
    assert C.corr_cholesky.check(draws).all()
    near(d.log_prob(TRANSFORMS["correlation"][0](X)), [-1.6407, -2.688])
    assert tuple(d.expand((4, 2)).sample().shape) == (4, 2, 3, 3)


def test_generalized_pareto():
    d = D.GeneralizedPareto(
        torch.tensor([0.0, 1, 0, 0]), torch.tensor([1.0, 2, 1, 1]), torch.tensor([0.25, 0, -0.5, 0.7])
    )
    v = torch.tensor([0.5, 2, 1, 3])
    near(d.log_prob(v), [-0.5889, -1.1931, -0.6931, -2.7477])
    near(d.cdf(v), [0.3757, 0.3935, 0.75, 0.8014])
    near(d.icdf(d.cdf(v)), v.tolist())
    near(d.mean, [1.3333, 3.0, 0.6667, 3.3333])
    near(d.entropy(), [1.25, 1.6931, 0.5, 1.7])
    assert d.variance[3].item() == float("inf")
    assert (d.rsample((20,)) >= d.loc).all()
    with pytest.raises(ValueError, match="support"):
        d.log_prob(torch.tensor([0.5, 2, 2.5, 3]))


@pytest.mark.parametrize(
    ("given", "mean", "log_prob", "entropy"),
    [
        (
            "covariance_matrix",
            [[[7.0, 1.05], [1.05, 3.5]], [[12.0, 1.8], [1.8, 6.0]]],
            [-5.0574, -7.9185],
            [6.9348, 8.1614],
        ),
        (
            "precision_matrix",
            [[[1.8325, -0.5497], [-0.5497, 3.6649]], [[3.1414, -0.9424], [-0.9424, 6.2827]]],
            [-3.575, -4.8184],
            [4.9935, 6.2201],
        ),
    ],
)
def test_wishart(given, mean, log_prob, entropy):
    d = D.Wishart(torch.tensor([3.5, 6.0]), **{given: S})
    near(d.mean, mean)
    near(d.log_prob(V), log_prob)
    near(d.entropy(), entropy)
    assert tuple(d.expand((4, 2)).rsample((3,)).shape) == (3, 4, 2, 2, 2)


def test_the_mean_of_wishart_draws():
    torch.manual_seed(0)
    d = D.Wishart(5.0, scale_tril=torch.linalg.cholesky(S))
    draws = d.rsample((4000,))
    assert torch.allclose(draws.mean(0), d.mean, atol=0.5)
    assert torch.allclose(draws.var(0), d.variance, rtol=0.2)


def test_the_entropy_of_an_exponential_family_follows_from_its_normalizer():
    class Gaussian(D.ExponentialFamily):
        _mean_carrier_measure = 0

        @property
        def _natural_params(self):
            return torch.tensor(2.0), torch.tensor(-1.0)

        def _log_normalizer(self, a, b):
            return -0.25 * a**2 / b + 0.5 * torch.log(-3.14159265 / b)

    near(Gaussian(validate_args=False).entropy(), D.Normal(1.0, 0.5**0.5).entropy().item())


def test_constraints():
    assert C.square.check(torch.ones(4, 3, 3)).all() and not C.square.check(torch.ones(2, 3))
    assert C.symmetric.check(S) and not C.symmetric.check(torch.tensor([[1.0, 2], [0, 1]]))
    assert C.positive_semidefinite.check(torch.ones(2, 2)) and not C.positive_semidefinite.check(1 - torch.eye(2))
    assert C.cat([C.positive, C.real], 0, [1, 2]).check(X).tolist() == [True, True, True]
    assert C.stack([C.positive, C.real]).check(-ROWS).tolist() == [[False, False], [True, True]]


def test_a_constraint_has_its_transform():
    assert C.corr_cholesky.check(D.biject_to(C.corr_cholesky)(X))
    pieces = D.biject_to(C.cat([C.positive, C.real], 0, [1, 2]))(X)
    near(pieces, [1.3499, -0.7, 1.1])
    near(D.transform_to(C.stack([C.positive, C.real]))(ROWS), [[1.3499, 2.7183], [2.0, 3.0]])


def test_triangles_as_vectors():
    assert vec_to_tril_matrix(X).tolist() == [[0.30000001192092896, 0.0], [-0.699999988079071, 1.100000023841858]]
    near(tril_matrix_to_vec(vec_to_tril_matrix(X, -1), -1), X.tolist())
    assert tril_matrix_to_vec(torch.arange(9.0).reshape(3, 3), -2).tolist() == [6.0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: D.LKJCholesky(1), ValueError),
        (lambda: D.Wishart(1.0, covariance_matrix=S), ValueError),
        (lambda: D.Wishart(3.0), AssertionError),
        (lambda: D.CatTransform([1]), AssertionError),
        (lambda: TRANSFORMS["pieces"][0](torch.ones(5)), AssertionError),
        (lambda: TRANSFORMS["slices"][0](torch.ones(5)), AssertionError),
        (lambda: vec_to_tril_matrix(torch.ones(4)), RuntimeError),
        (lambda: tril_matrix_to_vec(S, 5), ValueError),
        (lambda: D.CorrCholeskyTransform().forward_shape((4,)), ValueError),
        (lambda: D.CorrCholeskyTransform().inverse_shape((2, 3)), ValueError),
    ],
)
def test_errors_are_pytorchs(call, error):
    with pytest.raises(error):
        call()


def test_a_lazy_property_is_computed_once():
    class Counting:
        calls = 0

        @lazy_property
        def value(self):
            self.calls += 1
            return self.calls

    counting = Counting()
    assert (counting.value, counting.value) == (1, 1)
