"""Distributions against SciPy's: densities, moments, entropies, samples; shapes, gradients and errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import minitorch_compile as torch
from minitorch_compile import distributions as D


def t(*values):
    return torch.tensor(values, dtype=torch.float64)


# name: (ours, SciPy's)
CONTINUOUS = {
    "normal": (lambda: D.Normal(t(0.5, -1), t(2, 0.5)), stats.norm([0.5, -1], [2, 0.5])),
    "laplace": (lambda: D.Laplace(t(0.5, -1), t(2, 0.5)), stats.laplace([0.5, -1], [2, 0.5])),
    "gumbel": (lambda: D.Gumbel(t(0.5, -1), t(2, 0.5)), stats.gumbel_r([0.5, -1], [2, 0.5])),
    "cauchy": (lambda: D.Cauchy(t(0.5, -1), t(2, 0.5)), stats.cauchy([0.5, -1], [2, 0.5])),
    "uniform": (lambda: D.Uniform(t(0, -1), t(2, 0.5)), stats.uniform([0, -1], [2, 1.5])),
    "half normal": (lambda: D.HalfNormal(t(2, 0.5)), stats.halfnorm(0, [2, 0.5])),
    "half cauchy": (lambda: D.HalfCauchy(t(2, 0.5)), stats.halfcauchy(0, [2, 0.5])),
    "log normal": (lambda: D.LogNormal(t(0.5, -1), t(0.5, 1)), stats.lognorm([0.5, 1], 0, np.exp([0.5, -1]))),
    "exponential": (lambda: D.Exponential(t(2, 0.5)), stats.expon(0, [0.5, 2])),
    "gamma": (lambda: D.Gamma(t(2, 0.5), t(1, 3)), stats.gamma([2, 0.5], 0, [1, 1 / 3])),
    "chi2": (lambda: D.Chi2(t(2, 5)), stats.chi2([2, 5])),
    "inverse gamma": (lambda: D.InverseGamma(t(3, 5), t(1, 3)), stats.invgamma([3, 5], 0, [1, 3])),
    "beta": (lambda: D.Beta(t(2, 0.5), t(1, 3)), stats.beta([2, 0.5], [1, 3])),
    "student": (lambda: D.StudentT(t(3, 5), t(0.5, -1), t(2, 0.5)), stats.t([3, 5], [0.5, -1], [2, 0.5])),
    "pareto": (lambda: D.Pareto(t(1, 2), t(3, 5)), stats.pareto([3, 5], 0, [1, 2])),
    "weibull": (lambda: D.Weibull(t(1, 2), t(3, 0.8)), stats.weibull_min([3, 0.8], 0, [1, 2])),
}
DISCRETE = {
    "bernoulli": (lambda: D.Bernoulli(t(0.2, 0.7)), stats.bernoulli([0.2, 0.7])),
    "bernoulli by logits": (lambda: D.Bernoulli(logits=t(0, 2)), stats.bernoulli(1 / (1 + np.exp([0, -2])))),
    "geometric": (lambda: D.Geometric(t(0.2, 0.7)), stats.geom([0.2, 0.7], -1)),
    "poisson": (lambda: D.Poisson(t(0.2, 7)), stats.poisson([0.2, 7])),
    "binomial": (lambda: D.Binomial(5, t(0.2, 0.7)), stats.binom(5, [0.2, 0.7])),
    "negative binomial": (lambda: D.NegativeBinomial(5, t(0.2, 0.7)), stats.nbinom(5, [0.8, 0.3])),
}
ALL = CONTINUOUS | DISCRETE
COUNT = 3000


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("name", ALL)
def test_densities_are_those_of_scipy(name):
    ours, scipys = ALL[name]
    d, values = ours(), scipys.rvs((7, 2), random_state=0).astype(float)
    density = scipys.logpdf if name in CONTINUOUS else scipys.logpmf
    np.testing.assert_allclose(d.log_prob(torch.tensor(values)).numpy(), density(values), rtol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_moments_are_those_of_scipy(name):
    ours, scipys = ALL[name]
    d = ours()
    assert d.batch_shape == (2,) and d.event_shape == ()
    if "cauchy" in name:
        assert not np.isfinite(d.mean.numpy()).any() and not np.isfinite(d.variance.numpy()).any()
        return
    np.testing.assert_allclose(d.mean.numpy(), scipys.mean(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(d.stddev.numpy(), scipys.std(), rtol=1e-9)


WITH_ENTROPY = sorted(set(ALL) - {"poisson", "negative binomial"})


@pytest.mark.parametrize("name", WITH_ENTROPY)
def test_entropies_are_those_of_scipy(name):
    ours, scipys = ALL[name]
    expected = [float(value) for value in np.atleast_1d(scipys.entropy())]
    np.testing.assert_allclose(ours().entropy().numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", sorted(set(CONTINUOUS) - {"inverse gamma", "beta", "student"}))
def test_cumulative_probabilities_are_those_of_scipy(name):
    ours, scipys = CONTINUOUS[name]
    values = scipys.rvs((7, 2), random_state=0)
    np.testing.assert_allclose(ours().cdf(torch.tensor(values)).numpy(), scipys.cdf(values), rtol=1e-8)
    if name not in ("gamma", "chi2"):
        quantiles = ours().icdf(torch.tensor([[0.2, 0.9]], dtype=torch.float64))
        np.testing.assert_allclose(quantiles.numpy(), scipys.ppf([[0.2, 0.9]]), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_are_distributed_as_they_say(name):
    ours, scipys = CONTINUOUS[name]
    sample = ours().sample((COUNT,))
    assert sample.shape == (COUNT, 2) and not sample.requires_grad
    for i in range(2):
        one = sample[:, i].numpy()
        assert stats.kstest(one, lambda x, i=i: scipys.cdf(np.stack([x, x], -1))[:, i]).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_samples_have_their_mean(name):
    ours, scipys = DISCRETE[name]
    error = 5 * scipys.std() / np.sqrt(COUNT)
    assert (np.abs(ours().sample((COUNT,)).mean(0).numpy() - scipys.mean()) < error).all()


# --------------------------------------------------------------------------------------------------------- of vectors


def test_categorical():
    weights = t(1, 2, 5)
    d = D.Categorical(torch.stack([weights, weights.flip(0)]))
    np.testing.assert_allclose(d.log_prob(torch.tensor([2, 1])).exp().numpy(), [5 / 8, 2 / 8])
    np.testing.assert_allclose(d.entropy().numpy(), [stats.entropy([1, 2, 5])] * 2)
    assert d.sample((4,)).shape == (4, 2) and d.sample().dtype is torch.int64
    share = (d.sample((COUNT,))[:, 0] == 2).double().mean().item()
    assert abs(share - 5 / 8) < 0.05
    assert torch.equal(d.enumerate_support(False), torch.tensor([[0], [1], [2]]))
    by_logits = D.Categorical(logits=weights.log() + 7)
    np.testing.assert_allclose(by_logits.probs.numpy(), [1 / 8, 2 / 8, 5 / 8])
    sure = D.Categorical(t(0, 1))
    assert sure.entropy().item() == pytest.approx(0, abs=1e-12)


def test_one_hot_and_straight_through():
    probs = t(0.2, 0.3, 0.5).requires_grad_()
    d = D.OneHotCategoricalStraightThrough(probs)
    sample = d.rsample((5,))
    np.testing.assert_allclose(sample.sum(-1).detach().numpy(), np.ones(5))
    (sample * t(1, 2, 3)).sum().backward()
    assert probs.grad is not None and bool((probs.grad != 0).any())
    assert d.log_prob(t(0, 0, 1)).exp().item() == pytest.approx(0.5)


def test_multinomial():
    d, reference = D.Multinomial(6, t(1, 2, 5)), stats.multinomial(6, np.array([1, 2, 5]) / 8)
    values = reference.rvs(4, random_state=0)
    np.testing.assert_allclose(d.log_prob(torch.tensor(values).double()).numpy(), reference.logpmf(values))
    assert d.entropy().item() == pytest.approx(float(reference.entropy()))
    assert torch.equal(d.sample((9,)).sum(-1), t(*[6] * 9))


def test_dirichlet():
    d, reference = D.Dirichlet(t(1, 2, 5)), stats.dirichlet([1, 2, 5])
    values = reference.rvs(4, random_state=0)
    np.testing.assert_allclose(d.log_prob(torch.tensor(values)).numpy(), reference.logpdf(values.T))
    np.testing.assert_allclose(d.mean.numpy(), reference.mean())
    np.testing.assert_allclose(d.variance.numpy(), reference.var())
    assert d.entropy().item() == pytest.approx(float(reference.entropy()))
    np.testing.assert_allclose(d.sample((COUNT,)).mean(0).numpy(), reference.mean(), atol=0.02)


COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize("given", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_multivariate_normal(given):
    matrix = {
        "covariance_matrix": COVARIANCE,
        "precision_matrix": np.linalg.inv(COVARIANCE),
        "scale_tril": np.linalg.cholesky(COVARIANCE),
    }[given]
    d = D.MultivariateNormal(t(1, -1), **{given: torch.tensor(matrix)})
    reference = stats.multivariate_normal([1, -1], COVARIANCE)
    values = reference.rvs(5, random_state=0)
    np.testing.assert_allclose(d.log_prob(torch.tensor(values)).numpy(), reference.logpdf(values))
    np.testing.assert_allclose(d.covariance_matrix.numpy(), COVARIANCE)
    assert d.entropy().item() == pytest.approx(float(reference.entropy()))
    np.testing.assert_allclose(np.cov(d.sample((COUNT,)).numpy().T), COVARIANCE, atol=0.2)


def test_a_mixture_adds_densities():
    d = D.MixtureSameFamily(D.Categorical(t(1, 3)), D.Normal(t(-1, 2), t(1, 0.5)))
    values = np.linspace(-3, 4, 9)
    expected = 0.25 * stats.norm(-1, 1).pdf(values) + 0.75 * stats.norm(2, 0.5).pdf(values)
    np.testing.assert_allclose(d.log_prob(torch.tensor(values)).exp().numpy(), expected)
    sample = d.sample((COUNT,)).numpy()
    assert abs(sample.mean() - d.mean.item()) < 0.15 and abs(sample.var() - d.variance.item()) < 0.3


def test_independent_dimensions_are_summed():
    base = D.Normal(torch.zeros(3, 2), torch.ones(3, 2))
    d = D.Independent(base, 1)
    assert (d.batch_shape, d.event_shape) == ((3,), (2,))
    assert torch.equal(d.log_prob(torch.zeros(3, 2)), base.log_prob(torch.zeros(3, 2)).sum(-1))
    assert d.entropy().shape == (3,) and d.expand((4, 3)).sample().shape == (4, 3, 2)


def test_relaxed_samples_approach_corners_as_it_gets_colder():
    cold = D.RelaxedOneHotCategorical(t(0.05)[0], probs=t(1, 2, 5)).rsample((200,))
    assert (cold.max(-1).values > 0.9).double().mean().item() > 0.8
    blurred = D.RelaxedBernoulli(t(0.5)[0], probs=t(0.2, 0.8))
    sample = blurred.sample((COUNT,))
    assert blurred.log_prob(sample).shape == (COUNT, 2) and bool(((sample > 0) & (sample < 1)).all())


# ---------------------------------------------------------------------------------------------------------- transforms

TRANSFORMS = {
    "exp": D.ExpTransform(),
    "affine": D.AffineTransform(1.0, -2.0),
    "sigmoid": D.SigmoidTransform(),
    "tanh": D.TanhTransform(),
    "softplus": D.SoftplusTransform(),
    "power": D.ComposeTransform([D.ExpTransform(), D.PowerTransform(3.0)]),
    "inverse": D.ExpTransform().inv.inv,
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_can_be_undone_and_knows_its_slope(name):
    transform, x = TRANSFORMS[name], t(-1.2, 0.3, 2.0).requires_grad_()
    y = transform(x)
    np.testing.assert_allclose(transform.inv(y).detach().numpy(), x.detach().numpy(), rtol=1e-9)
    (slope,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    stretched = transform.log_abs_det_jacobian(x, y).detach().numpy()
    np.testing.assert_allclose(stretched, np.log(np.abs(slope.numpy())), rtol=1e-8)


def test_a_squashed_normal_integrates_to_one():
    d = D.TransformedDistribution(D.Normal(t(0.3)[0], t(0.7)[0]), [D.TanhTransform(), D.AffineTransform(1.0, 2.0)])
    grid = np.linspace(-1, 3, 20003)[1:-1]
    density = d.log_prob(torch.tensor(grid)).exp().numpy()
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-4)


def test_a_cached_transform_gives_back_the_very_tensor():
    transform, x = D.TanhTransform(cache_size=1), t(20.0)  # tanh(20) is 1: the inverse of that is infinite
    assert transform.inv(transform(x)) is x


# ----------------------------------------------------------------------------------------------- gradients, divergences


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in ("uniform",)])
def test_samples_move_with_their_parameters(name):
    """The mean of the gradients of samples is the gradient of the mean: here of the first parameter."""
    d = CONTINUOUS[name][0]()
    key = next(iter(d.arg_constraints))
    parameter = getattr(d, key).detach().requires_grad_()
    arguments = {k: getattr(d, k) for k in d.arg_constraints} | {key: parameter}
    sample = type(d)(**arguments).rsample((5,))
    (gradient,) = torch.autograd.grad(sample.sum(), parameter)
    assert np.isfinite(gradient.numpy()).all() and bool((gradient != 0).any())


KL_CONTINUOUS = {
    "normal": (D.Normal(t(0.5)[0], t(1.0)[0]), D.Normal(t(-0.5)[0], t(2.0)[0]), np.linspace(-12, 12, 40001)),
    "laplace": (D.Laplace(t(0.5)[0], t(1.0)[0]), D.Laplace(t(-0.5)[0], t(2.0)[0]), np.linspace(-30, 30, 60001)),
    "gumbel": (D.Gumbel(t(0.5)[0], t(1.0)[0]), D.Gumbel(t(-0.5)[0], t(2.0)[0]), np.linspace(-6, 40, 60001)),
    "exponential": (D.Exponential(t(2.0)[0]), D.Exponential(t(0.5)[0]), np.linspace(0, 30, 60001)),
    "gamma": (D.Gamma(t(2.0)[0], t(1.5)[0]), D.Gamma(t(3.0)[0], t(0.5)[0]), np.linspace(1e-9, 40, 60001)),
    "beta": (D.Beta(t(2.0)[0], t(3.0)[0]), D.Beta(t(4.0)[0], t(2.0)[0]), np.linspace(1e-9, 1 - 1e-9, 60001)),
    "uniform and normal": (
        D.Uniform(t(0.0)[0], t(1.0)[0]),
        D.Normal(t(0.5)[0], t(2.0)[0]),
        np.linspace(0, 0.99999, 9001),
    ),
}
KL_DISCRETE = {
    "bernoulli": (D.Bernoulli(t(0.3)[0]), D.Bernoulli(t(0.6)[0]), 2),
    "binomial": (D.Binomial(5, t(0.3)[0]), D.Binomial(5, t(0.6)[0]), 6),
    "categorical": (D.Categorical(t(1, 2, 3)), D.Categorical(t(3, 2, 1)), 3),
    "geometric": (D.Geometric(t(0.3)[0]), D.Geometric(t(0.6)[0]), 80),
    "poisson": (D.Poisson(t(3.0)[0]), D.Poisson(t(5.0)[0]), 60),
}


@pytest.mark.parametrize("name", KL_CONTINUOUS)
def test_divergences_are_integrals(name):
    p, q, grid = KL_CONTINUOUS[name]
    x = torch.tensor(grid)
    log_p, log_q = p.log_prob(x).numpy(), q.log_prob(x).numpy()
    expected = np.trapezoid(np.exp(log_p) * (log_p - log_q), grid)
    assert D.kl_divergence(p, q).item() == pytest.approx(expected, rel=1e-3)
    assert D.kl_divergence(p, p).item() == pytest.approx(0, abs=1e-9) if type(p) is type(q) else True


@pytest.mark.parametrize("name", KL_DISCRETE)
def test_divergences_are_sums(name):
    p, q, count = KL_DISCRETE[name]
    x = torch.arange(count).double()
    log_p, log_q = p.log_prob(x).numpy(), q.log_prob(x).numpy()
    assert D.kl_divergence(p, q).item() == pytest.approx((np.exp(log_p) * (log_p - log_q)).sum(), rel=1e-6)


def test_the_divergence_of_two_multivariate_normals():
    p = D.MultivariateNormal(t(1, -1), torch.tensor(COVARIANCE))
    q = D.MultivariateNormal(t(0, 0.5), torch.tensor(np.eye(2) * 2))
    offset, inverse = np.array([-1, 1.5]), np.eye(2) / 2
    expected = 0.5 * (
        np.trace(inverse @ COVARIANCE) + offset @ inverse @ offset - 2 + np.log(4 / np.linalg.det(COVARIANCE))
    )
    assert D.kl_divergence(p, q).item() == pytest.approx(expected)


def test_a_variational_loss_has_the_gradient_of_its_closed_form():
    mu, log_variance = t(0.3, -0.2).requires_grad_(), t(0.1, -0.4).requires_grad_()
    posterior = D.Normal(mu, (0.5 * log_variance).exp())
    loss = D.kl_divergence(posterior, D.Normal(torch.zeros_like(mu), torch.ones_like(mu))).sum()
    closed = -0.5 * (1 + log_variance - mu**2 - log_variance.exp()).sum()
    assert loss.item() == pytest.approx(closed.item())
    for ours, expected in zip(
        torch.autograd.grad(loss, [mu, log_variance]), torch.autograd.grad(closed, [mu, log_variance]), strict=True
    ):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-9)


# --------------------------------------------------------------------------------------------------- texts and refusals


def test_texts_are_those_of_pytorch():
    n = D.Normal(torch.zeros(2), torch.ones(2))
    assert repr(n) == "Normal(loc: torch.Size([2]), scale: torch.Size([2]))"
    assert repr(D.Categorical(logits=torch.zeros(3))) == "Categorical(logits: torch.Size([3]))"
    assert repr(D.Uniform(0.0, 1.0)) == "Uniform(low: 0.0, high: 1.0)"
    assert repr(D.constraints.positive) == "GreaterThan(lower_bound=0.0)"


REFUSED = {
    "scale": (ValueError, lambda: D.Normal(0.0, -1.0), "parameter scale"),
    "nan": (ValueError, lambda: D.Normal(0.0, 1.0).log_prob(torch.tensor(float("nan"))), "within the support"),
    "half a success": (ValueError, lambda: D.Bernoulli(0.3).log_prob(torch.tensor(0.5)), "Boolean"),
    "both": (ValueError, lambda: D.Bernoulli(0.3, 0.3), "but not both"),
    "neither": (ValueError, lambda: D.Categorical(), "but not both"),
    "number of weights": (ValueError, lambda: D.Categorical(torch.tensor(1.0)), "one-dimensional"),
    "shape": (ValueError, lambda: D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3)), "not broadcastable"),
    "empty interval": (ValueError, lambda: D.Uniform(1.0, 0.0), "low >= high"),
    "no closed form": (NotImplementedError, lambda: D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(1.0)), "KL"),
    "not differentiable": (NotImplementedError, lambda: D.Bernoulli(0.5).rsample(), "sample()"),
    "no matrix": (ValueError, lambda: D.MultivariateNormal(torch.zeros(2)), "Exactly one"),
    "too many dimensions": (ValueError, lambda: D.Independent(D.Normal(0.0, 1.0), 1), "reinterpreted"),
    "not a number": (ValueError, lambda: D.Normal("a", 1.0), "numbers or Tensors"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_say_what_is_wrong(name):
    error, call, message = REFUSED[name]
    with pytest.raises(error, match=message.replace("(", r"\(").replace(")", r"\)")):
        call()


def test_validation_can_be_left_out():
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1


MADE_OF_ANOTHER = [
    D.HalfNormal(t(1.0, 2.0)),
    D.HalfCauchy(t(1.0, 2.0)),
    D.InverseGamma(t(3.0, 4.0), t(2.0, 1.0)),
    D.Gumbel(t(0.0, 1.0), t(1.0, 2.0)),
]


@pytest.mark.parametrize("made", MADE_OF_ANOTHER)
def test_what_is_made_of_another_distribution_says_of_which(made):
    assert isinstance(made, D.TransformedDistribution) and made.base_dist.batch_shape == (2,)
    plain, value = D.TransformedDistribution(made.base_dist, made.transforms), t(0.7, 1.3)
    if not isinstance(made, (D.HalfNormal, D.HalfCauchy)):  # of |x| the density is a sum over two x
        np.testing.assert_allclose(made.log_prob(value).numpy(), plain.log_prob(value).numpy(), rtol=1e-9)
        np.testing.assert_allclose(made.cdf(value).numpy(), plain.cdf(value).numpy(), rtol=1e-9)
    wide = made.expand((3, 2))
    assert wide.sample((4,)).shape == (4, 3, 2) and wide.mean.shape == (3, 2)
    np.testing.assert_allclose(wide.log_prob(value).numpy(), np.broadcast_to(made.log_prob(value).numpy(), (3, 2)))


def test_the_divergence_of_half_normals_is_an_integral():
    p, q, x = D.HalfNormal(t(1.0)[0]), D.HalfNormal(t(2.0)[0]), torch.tensor(np.linspace(0, 20, 20001))
    density = p.log_prob(x).exp().numpy()
    expected = np.trapezoid(density * (p.log_prob(x) - q.log_prob(x)).numpy(), x.numpy())
    assert D.kl_divergence(p, q).item() == pytest.approx(expected, rel=1e-4)
