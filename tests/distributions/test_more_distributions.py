"""The rarer distributions, and transforms between shapes and from unconstrained numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import minitorch_compile as torch
from minitorch_compile import distributions as D


def t(*values):
    return torch.tensor(values, dtype=torch.float64)


GRID = np.linspace(0, 1, 20001)[1:-1]
ON_THE_UNIT_INTERVAL = {
    "continuous bernoulli": lambda: D.ContinuousBernoulli(t(0.3)[0]),
    "continuous bernoulli near one half": lambda: D.ContinuousBernoulli(t(0.4995)[0]),
    "kumaraswamy": lambda: D.Kumaraswamy(t(2)[0], t(3)[0]),
}


@pytest.mark.parametrize("name", ON_THE_UNIT_INTERVAL)
def test_moments_are_integrals_of_the_density(name):
    d = ON_THE_UNIT_INTERVAL[name]()
    density = d.log_prob(torch.tensor(GRID)).exp().numpy()
    mean = np.trapezoid(density * GRID, GRID)
    assert np.trapezoid(density, GRID) == pytest.approx(1, abs=2e-4)
    assert d.mean.item() == pytest.approx(mean, abs=2e-4)
    assert d.variance.item() == pytest.approx(np.trapezoid(density * (GRID - mean) ** 2, GRID), abs=2e-4)
    assert d.entropy().item() == pytest.approx(-np.trapezoid(density * np.log(density), GRID), abs=1e-3)
    torch.manual_seed(0)
    assert abs(d.sample((3000,)).mean().item() - mean) < 0.03


def test_von_mises_is_that_of_scipy():
    d, reference = D.VonMises(t(0.5, -1), t(2, 0.5)), stats.vonmises([2, 0.5], [0.5, -1])
    values = reference.rvs((5, 2), random_state=0)
    np.testing.assert_allclose(d.log_prob(torch.tensor(values)).numpy(), reference.logpdf(values))
    torch.manual_seed(0)
    sample = d.sample((3000,))[:, 0].numpy()
    assert stats.kstest(sample, lambda x: stats.vonmises(2, 0.5).cdf(x)).pvalue > 1e-3


def test_fisher_snedecor_is_that_of_scipy():
    d, reference = D.FisherSnedecor(t(3, 5), t(6, 9)), stats.f([3, 5], [6, 9])
    values = reference.rvs((5, 2), random_state=0)
    np.testing.assert_allclose(d.log_prob(torch.tensor(values)).numpy(), reference.logpdf(values))
    np.testing.assert_allclose(d.mean.numpy(), reference.mean())
    np.testing.assert_allclose(d.variance.numpy(), reference.var())
    assert d.rsample((4,)).shape == (4, 2)


def test_a_covariance_of_low_rank_is_one_like_any_other():
    factor, diagonal = t(1, 2, -1).reshape(3, 1), t(1, 0.5, 2)
    d = D.LowRankMultivariateNormal(t(0, 1, 2), factor, diagonal)
    dense = D.MultivariateNormal(t(0, 1, 2), d.covariance_matrix)
    values = torch.tensor(np.random.default_rng(0).normal(size=(4, 3)))
    np.testing.assert_allclose(d.log_prob(values).numpy(), dense.log_prob(values).numpy())
    assert d.entropy().item() == pytest.approx(dense.entropy().item())
    np.testing.assert_allclose(d.variance.numpy(), dense.variance.numpy())
    torch.manual_seed(0)
    np.testing.assert_allclose(np.cov(d.sample((4000,)).numpy().T), d.covariance_matrix.numpy(), atol=0.4)


def test_breaking_a_stick_gives_probabilities_and_can_be_undone():
    transform, x = D.StickBreakingTransform(), t(0.3, -1, 2).reshape(1, 3)
    y = transform(x)
    assert y.shape == (1, 4) and y.sum().item() == pytest.approx(1)
    np.testing.assert_allclose(transform.inv(y).numpy(), x.numpy())
    np.testing.assert_allclose(transform(torch.zeros(3)).numpy(), np.full(4, 0.25), rtol=1e-6)
    rows = [
        torch.autograd.grad(transform(leaf)[0, i], leaf)[0] for i in range(3) for leaf in [x.clone().requires_grad_()]
    ]
    determinant = torch.det(torch.cat(rows)).abs().log()
    assert transform.log_abs_det_jacobian(x, y).item() == pytest.approx(determinant.item())


def test_a_logistic_normal_has_one_more_probability():
    d = D.LogisticNormal(torch.zeros(2, 3), torch.ones(2, 3))
    assert (d.batch_shape, d.event_shape) == ((2,), (4,))
    sample = d.sample((5,))
    assert sample.shape == (5, 2, 4) and d.log_prob(sample).shape == (5, 2)


def test_transforms_may_change_the_shape_of_events():
    base = D.Independent(D.Normal(torch.zeros(2, 6), 1.0), 1)
    d = D.TransformedDistribution(base, [D.ReshapeTransform((6,), (2, 3))])
    assert (d.batch_shape, d.event_shape) == ((2,), (2, 3))
    value = torch.ones(2, 2, 3)
    assert torch.equal(d.log_prob(value), base.log_prob(value.reshape(2, 6)))


def test_transforms_may_make_the_batch_larger():
    d = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.AffineTransform(torch.zeros(3), 1.0)])
    assert d.batch_shape == (3,) and d.sample().shape == (3,)


CONSTRAINTS = {
    "real": D.constraints.real,
    "positive": D.constraints.positive,
    "less than": D.constraints.less_than(2.0),
    "interval": D.constraints.interval(-1.0, 2.0),
    "unit interval": D.constraints.unit_interval,
    "simplex": D.constraints.simplex,
    "positive vectors": D.constraints.independent(D.constraints.positive, 1),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_unconstrained_numbers_are_led_to_where_they_may_lie(name):
    constraint, x = CONSTRAINTS[name], t(0.3, -1, 2)
    for registry in (D.biject_to, D.transform_to):
        assert bool(constraint.check(registry(constraint)(x)).all())
    bijection = D.biject_to(constraint)
    np.testing.assert_allclose(bijection.inv(bijection(x)).numpy(), x.numpy(), atol=1e-9)


@pytest.mark.parametrize("name", ["lower_cholesky", "positive_definite"])
def test_matrices_are_led_there_too(name):
    constraint = getattr(D.constraints, name)
    matrix = torch.tensor(np.random.default_rng(0).normal(size=(2, 3, 3)))
    assert bool(constraint.check(D.transform_to(constraint)(matrix)).all())


def test_a_constraint_without_a_transform_is_refused():
    with pytest.raises(NotImplementedError, match="Boolean"):
        D.biject_to(D.constraints.boolean)


SAID_OF_THE_CLASS = {  # PyTorch 2.13's `support` of the class: whether it is discrete, how many dimensions a value has
    D.Uniform: (False, 0),
    D.Categorical: (True, 0),
    D.Multinomial: (True, 1),
    D.Pareto: (False, 0),
    D.TransformedDistribution: (False, None),
    D.Independent: (None, None),
}


@pytest.mark.parametrize("kind", SAID_OF_THE_CLASS)
def test_a_class_says_what_is_known_of_the_support_of_all(kind):
    constraint = kind.support
    assert isinstance(constraint, property) and D.constraints.is_dependent(constraint)
    for name, expected in zip(("is_discrete", "event_dim"), SAID_OF_THE_CLASS[kind], strict=True):
        if expected is None:
            with pytest.raises(NotImplementedError, match=f"{name} cannot be determined statically"):
                getattr(constraint, name)
        else:
            assert getattr(constraint, name) == expected


def test_more_can_be_said_of_a_dependent_constraint():
    some = D.constraints.dependent(is_discrete=True)
    assert some(event_dim=2).event_dim == 2 and some(event_dim=2).is_discrete


def test_a_mixture_checks_each_value_against_all_components():
    d = D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Uniform(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 2.0])))
    assert d.support.check(torch.tensor([0.5, 1.5])).tolist() == [True, False]
    assert repr(d.support).startswith("MixtureSameFamilyConstraint(Interval(")


def test_a_transform_may_be_a_module_as_well():
    class Learned(D.Transform, torch.nn.Module):
        bijective, domain, codomain = True, D.constraints.real, D.constraints.real

        def __init__(self):
            super().__init__(cache_size=1)
            self.layer = torch.nn.Linear(1, 1)

    assert [name for name, _ in Learned().named_parameters()] == ["layer.weight", "layer.bias"]


def test_divergences_of_other_libraries_distributions_can_be_declared():
    class Other:
        pass

    @D.register_kl(Other, Other)
    def _zero(p, q):
        return 0.0

    assert D.kl_divergence(Other(), Other()) == 0.0
    with pytest.raises(TypeError, match="Expected type_q to be a class of distributions"):
        D.register_kl(Other, 1)
