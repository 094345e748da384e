"""Sizes added and repeated, plainly and compiled: what PyTorch 2.13's torch.Size gives."""

import pytest

import minitorch_compile as torch


class Right:
    """Answers for whatever stands on its left."""

    def __radd__(self, other):
        return f"after a {type(other).__name__}"

    def __rmul__(self, other):
        return f"times a {type(other).__name__}"


SIZES = [
    (lambda s: s + (1,), [2, 3, 1]),
    (lambda s: (1,) + s, [1, 2, 3]),
    (lambda s: s + s, [2, 3, 2, 3]),
    (lambda s: s * 2, [2, 3, 2, 3]),
    (lambda s: 2 * s, [2, 3, 2, 3]),
    (lambda s: s * True, [2, 3]),
]
REFUSED = [lambda s: s + [1], lambda s: [1] + s, lambda s: s + 3, lambda s: s * 1.5, lambda s: s + iter([1])]


def both(function):
    """Plainly, and in a graph with something to compute beside it."""
    return function, torch.compile(lambda x: (x + 1, function(x.shape))[1], backend="eager")


@pytest.mark.parametrize(("function", "expected"), SIZES)
def test_a_sum_or_multiple_of_sizes_is_a_size(function, expected):
    x = torch.zeros(2, 3)
    plain, compiled = both(function)
    assert repr(plain(x.shape)) == repr(compiled(x)) == f"torch.Size({expected})"


@pytest.mark.parametrize("function", REFUSED)
def test_only_tuples_are_added_and_only_integers_multiply(function):
    plain, compiled = both(function)
    with pytest.raises(TypeError):
        plain(torch.zeros(2, 3).shape)
    with pytest.raises(TypeError):
        compiled(torch.zeros(2, 3))


def test_the_right_operand_may_answer():
    for function, answer in ((lambda s: s + Right(), "after a Size"), (lambda s: s * Right(), "times a Size")):
        plain, compiled = both(function)
        assert plain(torch.zeros(2).shape) == compiled(torch.zeros(2)) == answer
