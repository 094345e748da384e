"""Distributions whose parameters lie on a GPU: what they give lies there, and is the CPU's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import distributions as made

X, P = torch.tensor([1.5, 2.0, 0.5]), torch.tensor([0.25, 0.5, 0.25])

DISTRIBUTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "bernoulli": lambda x, p: made.Bernoulli(p),
    "beta": lambda x, p: made.Beta(x, p),
    "binomial": lambda x, p: made.Binomial(3, p),
    "categorical": lambda x, p: made.Categorical(p),
    "cauchy": lambda x, p: made.Cauchy(x, p),
    "chi2": lambda x, p: made.Chi2(x),
    "continuous bernoulli": lambda x, p: made.ContinuousBernoulli(p),
    "dirichlet": lambda x, p: made.Dirichlet(x),
    "exponential": lambda x, p: made.Exponential(x),
    "fisher": lambda x, p: made.FisherSnedecor(x + 4, x + 5),
    "gamma": lambda x, p: made.Gamma(x, p),
    "geometric": lambda x, p: made.Geometric(p),
    "gumbel": lambda x, p: made.Gumbel(x, 2.0),
    "half cauchy": lambda x, p: made.HalfCauchy(x),
    "half normal": lambda x, p: made.HalfNormal(x),
    "independent": lambda x, p: made.Independent(made.Normal(x, p), 1),
    "inverse gamma": lambda x, p: made.InverseGamma(x + 3, p),
    "kumaraswamy": lambda x, p: made.Kumaraswamy(x, p),
    "laplace": lambda x, p: made.Laplace(x, p),
    "lkj": lambda x, p: made.LKJCholesky(3, p[0]),
    "log normal": lambda x, p: made.LogNormal(x, p),
    "logistic normal": lambda x, p: made.LogisticNormal(x, p),
    "low rank": lambda x, p: made.LowRankMultivariateNormal(x, p[:, None], x),
    "mixture": lambda x, p: made.MixtureSameFamily(made.Categorical(p), made.Normal(x, p)),
    "multinomial": lambda x, p: made.Multinomial(3, p),
    "multivariate": lambda x, p: made.MultivariateNormal(x, torch.diag(p)),
    "negative binomial": lambda x, p: made.NegativeBinomial(x, p),
    "normal": lambda x, p: made.Normal(x, 0.5),
    "normal from numbers": lambda x, p: made.Normal(0, p),
    "one hot": lambda x, p: made.OneHotCategorical(p),
    "pareto": lambda x, p: made.Pareto(x, p),
    "poisson": lambda x, p: made.Poisson(x),
    "relaxed": lambda x, p: made.RelaxedBernoulli(0.5, p),
    "relaxed one hot": lambda x, p: made.RelaxedOneHotCategorical(p[0], p),
    "student": lambda x, p: made.StudentT(x + 2),
    "uniform": lambda x, p: made.Uniform(x, x + 1),
    "von mises": lambda x, p: made.VonMises(x, p),
    "weibull": lambda x, p: made.Weibull(x, p),
    "wishart": lambda x, p: made.Wishart(x[0] + 4, torch.diag(p)),
}


def figures(distribution: Any) -> dict[str, Any]:
    """A sample, its logarithmic density, and what is known without one, as far as the distribution has it."""
    torch.manual_seed(1)
    found = {"sample": distribution.sample((2,))}
    found["log_prob"] = distribution.log_prob(found["sample"])
    for name in ("mean", "variance", "entropy", "mode", "cdf", "enumerate_support"):
        try:
            there = getattr(distribution, name)
            found[name] = there(*[found["sample"]] * (name == "cdf")) if callable(there) else there
        except NotImplementedError:
            continue
    return found


@pytest.mark.filterwarnings("ignore:_linalg.* on cuda is computed in main memory")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_what_it_gives_is_the_cpus_and_lies_on_the_gpu(name: str) -> None:
    make = DISTRIBUTIONS[name]
    here, there = figures(make(X, P)), figures(make(X.cuda(), P.cuda()))
    assert here.keys() == there.keys()
    for figure, expected in here.items():
        found = there[figure]
        assert found.is_cuda and found.dtype is expected.dtype, figure
        assert torch.allclose(found.cpu(), expected, 1e-3, 1e-4, equal_nan=True), figure
