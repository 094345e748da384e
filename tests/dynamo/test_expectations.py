"""Branches on data that only raise are expected not to be taken, and are taken all the same when they must be."""

import pytest

import minitorch_compile as torch
from tests.dynamo.compiled import assert_same, matrix


def positive(x):
    if (x < 0).any():
        raise ValueError(f"negative: {x}")
    return x.sqrt()


def test_an_assertion_about_data_does_not_break_the_graph():
    def f(x):
        if not (x >= 0).all():
            raise AssertionError("negative")  # what `assert` is; pytest turns that into something longer
        return x * 2

    assert_same(f)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_check_that_raises_is_part_of_the_graph_and_raises_as_the_plain_function(sign):
    assert_same(lambda x: positive(x + 1) * 2, lambda: (matrix() * sign,))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_was_changed_before_the_check_fails_is_changed_once(sign):
    def f(x, log):
        log.append(len(log))
        x.add_(1)
        noise = torch.rand(2, 3)
        if (x < -0.2).any():
            raise ValueError("too small")
        log.append("passed")
        return x + noise

    assert_same(f, lambda: (matrix() * 2 * sign, []))


def test_a_check_inside_no_grad_leaves_grad_mode_as_it_was():
    def f(x):
        with torch.no_grad():
            if x.sum() < 100:
                raise ValueError("small")
            return x * 2

    assert_same(f)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("manager", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_a_check_inside_a_block_that_breaks_later_leaves_the_modes_as_they_were(manager, sign):
    def f(x):
        with manager():
            if x.sum() < 0:
                raise ValueError("small")
            print(end="")
            y = x * 2
        return y, x * 3

    outside = torch.enable_grad if manager is torch.no_grad else torch.no_grad
    with outside():
        before = torch.is_grad_enabled()
        assert_same(f, lambda: ((matrix() * sign).detach().requires_grad_(),), graphs=None, breaks=1)
        assert torch.is_grad_enabled() == before
        assert not torch.is_inference_mode_enabled()


def test_the_user_may_handle_what_the_check_raises():
    def f(x):
        try:
            return positive(x - 1)
        except ValueError:
            return x

    assert_same(f)


def test_a_branch_that_computes_is_not_guessed():
    assert_same(lambda x: x * 2 if x.sum() > 0 else x / 2, graphs=2, breaks=1)


def test_a_condition_of_several_elements_is_not_expected():
    def f(x):
        if x > 0:
            raise ValueError("unreachable")
        return x

    assert_same(f, graphs=None, breaks=1)


def test_distributions_check_their_parameters_in_the_graph():
    def f(x, scale):
        return torch.distributions.Normal(x, scale).log_prob(x + 1).sum()

    assert_same(f, lambda: (matrix(), torch.tensor(2.0)))
    assert_same(f, lambda: (matrix(), torch.tensor(-2.0)))
