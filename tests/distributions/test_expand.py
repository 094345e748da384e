"""Larger batches of distributions, also of classes that programs derive from ours."""

from copy import copy

import pytest

import minitorch_compile as torch
from minitorch_compile import distributions as D

ONE = torch.ones(1)
MADE = {
    "Normal": D.Normal(ONE, 1.0),
    "Gumbel": D.Gumbel(ONE, ONE),
    "Weibull": D.Weibull(ONE, ONE),
    "Pareto": D.Pareto(ONE, ONE),
    "Kumaraswamy": D.Kumaraswamy(ONE, ONE),
    "GeneralizedPareto": D.GeneralizedPareto(ONE, ONE, ONE),
    "Independent": D.Independent(D.Normal(torch.ones(1, 2), 1.0), 1),
    "MixtureSameFamily": D.MixtureSameFamily(D.Categorical(torch.ones(1, 2)), D.Normal(torch.ones(1, 2), 1.0)),
    "Multinomial": D.Multinomial(4, torch.ones(1, 3)),
    "OneHotCategorical": D.OneHotCategorical(torch.ones(1, 3)),
    "RelaxedOneHotCategorical": D.RelaxedOneHotCategorical(torch.tensor(0.5), torch.ones(1, 3)),
    "LKJCholesky": D.LKJCholesky(3, ONE),
    "Wishart": D.Wishart(4 * ONE, precision_matrix=torch.eye(2)),
}


@pytest.mark.parametrize("name", MADE)
def test_a_subclass_fills_what_its_expand_has_begun(name):
    made = MADE[name]

    class Named(type(made)):
        def __init__(self):
            self.__dict__.update(made.__dict__)
            self.name = "old"

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Named, _instance)
            new.name = "new"
            return super().expand(batch_shape, _instance=new)

    wide = Named().expand(torch.Size((3,)))
    assert type(wide) is Named and wide.name == "new" and wide.batch_shape == (3,)
    assert wide.sample((2,)).shape == (2, 3, *made.event_shape)
    with pytest.raises(NotImplementedError, match=r"must also define a custom .expand\(\) method"):
        Named()._get_checked_instance(type(made))


@pytest.mark.parametrize("name", ["Weibull", "Independent", "Wishart"])
def test_a_larger_batch_is_checked_as_the_smaller_one_was(name):
    made = copy(MADE[name])
    for checked in (True, False):
        made._validate_args = checked
        assert made.expand((3,))._validate_args is checked


def test_the_parameters_of_a_larger_batch_have_its_size():
    wide = MADE["Wishart"].expand((3,))
    sizes = {name: tuple(getattr(wide, name).shape) for name in D.Wishart.arg_constraints}
    assert sizes.pop("df") == (3,) and set(sizes.values()) == {(3, 2, 2)}


def test_angles_of_hardly_any_concentration_are_drawn():
    angles = D.VonMises(torch.zeros(50), torch.tensor([0.0001, 1e-12] * 25)).sample()
    assert (angles.abs() <= 3.1416).all() and angles.std() > 1
