"""What an op says when it is given an argument of a wrong type.

The classes of such errors are among the recorded calls (`errors.json`).
"""

from __future__ import annotations

import pytest

import minitorch_compile as torch

x = torch.ones(2, 3)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: torch.unbind(None), r"unbind\(\): argument 'input' \(position 1\) must be Tensor, not NoneType"),
        (
            lambda: torch.log_softmax(x, 0, "a"),
            r"log_softmax\(\): argument 'dtype' \(position 3\) must be dtype, not str",
        ),
        (lambda: torch.addmv(x, 0, 99), r"addmv\(\): argument 'mat' \(position 2\) must be Tensor, not int"),
        (lambda: torch.abs_(), r"abs_\(\) missing the arguments input"),
    ],
)
def test_an_argument_of_a_wrong_type_is_a_type_error_that_names_it(call, says):
    with pytest.raises(TypeError, match=says):
        call()


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: torch.softmax(x, 5), IndexError),
        (lambda: x.view(7), RuntimeError),
        (lambda: torch.mm(x, x), RuntimeError),
        (lambda: torch.gather(x, 0, torch.tensor([[9]])), (RuntimeError, IndexError)),
    ],
)
def test_other_mistakes_keep_their_class(call, error):
    with pytest.raises(error) as caught:
        call()
    assert not isinstance(caught.value, TypeError)
