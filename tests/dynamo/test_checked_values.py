"""Wrong data that a plain program refuses, a compiled one refuses too, in the same words; right data it computes."""

import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F

BACKENDS = ["eager", "aot_eager", "loops", "inductor"]
t = torch.tensor

# function, right arguments, wrong arguments, what PyTorch 2.13 says about them
CASES = {
    "one_hot above": (
        lambda i: F.one_hot(i, 3),
        (t([0, 2]),),
        (t([0, 5]),),
        (RuntimeError, "Class values must be smaller than num_classes."),
    ),
    "one_hot below": (
        lambda i: F.one_hot(i, 3),
        (t([0, 2]),),
        (t([0, -1]),),
        (RuntimeError, "Class values must be non-negative."),
    ),
    "one_hot for nobody": (
        lambda i: (F.one_hot(i, 3), i + 1)[1],
        (t([0, 2]),),
        (t([0, 5]),),
        (RuntimeError, "Class values must be smaller than num_classes."),
    ),
    "gaussian_nll_loss": (
        lambda x, var: F.gaussian_nll_loss(x, 2 * x, var),
        (torch.ones(2), t([1.0, 0.0])),
        (torch.ones(2), t([1.0, -1.0])),
        (ValueError, "var has negative entry/entries"),
    ),
    "binary_cross_entropy": (
        lambda x: F.binary_cross_entropy(x, torch.ones(2)),
        (t([0.5, 1.0]),),
        (t([0.5, 2.0]),),
        (RuntimeError, "all elements of input should be between 0 and 1"),
    ),
    "embedding_bag": (
        lambda i, offsets, weight: F.embedding_bag(i, weight, offsets),
        (t([0, 1]), t([0, 1]), torch.ones(3, 2)),
        (t([0, 1]), t([1, 1]), torch.ones(3, 2)),
        (RuntimeError, r"offsets\[0\] has to be 0"),
    ),
    "_assert_async": (
        lambda x: (torch._assert_async((x > 0).all(), "must be positive"), x + 1)[1],
        (torch.ones(2),),
        (-torch.ones(2),),
        (RuntimeError, "must be positive"),
    ),
    "_assert": (
        lambda x: (torch._assert((x > 0).all(), "must be positive"), x + 1)[1],
        (torch.ones(2),),
        (-torch.ones(2),),
        (AssertionError, "must be positive"),
    ),
    "poisson": (torch.poisson, (t([1.0, 0.0]),), (t([1.0, -1.0]),), (RuntimeError, "invalid Poisson rate")),
    "bernoulli": (torch.bernoulli, (t([0.5, 1.0]),), (t([0.5, 2.0]),), (RuntimeError, "0 <= p_in <= 1")),
    "normal": (
        lambda std: torch.normal(torch.zeros(2), std),
        (t([1.0, 0.0]),),
        (t([-1.0, 1.0]),),
        (RuntimeError, "normal expects std >= 0.0"),
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES)
def test_wrong_data_raises_in_one_graph(case, backend):
    function, right, wrong, (kind, message) = CASES[case]
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    torch.manual_seed(0)
    expected = function(*right)
    torch.manual_seed(0)
    assert torch.allclose(compiled(*right), expected)
    with pytest.raises(kind, match=message):
        compiled(*wrong)
    with pytest.raises(kind, match=message):
        function(*wrong)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_gradients_pass_a_check(backend):
    def loss(x, var):
        return F.gaussian_nll_loss(x.sigmoid(), 2 * x, var) + F.binary_cross_entropy(x.sigmoid(), var)

    def gradients(function):
        leaves = t([0.5, -1.0], requires_grad=True), t([0.25, 0.0], requires_grad=True)
        function(*leaves).backward()
        return [leaf.grad for leaf in leaves]

    for got, expected in zip(gradients(torch.compile(loss, backend=backend)), gradients(loss), strict=True):
        assert torch.allclose(got, expected)


def test_an_assertion_leaves_no_trace_where_it_holds():
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value, but got zero"):
        torch._assert_async(t(0))
    assert torch._assert_async(t(1)) is None
