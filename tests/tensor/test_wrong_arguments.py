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
            r"log_softmax\(\): argument 'dtype' must be torch.dtype, not str",
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
        (lambda: torch.nn.functional.softmin(x > 0, 0, dtype=torch.float64), RuntimeError),
        (lambda: torch.gather(x, 0, torch.tensor([[9]])), (RuntimeError, IndexError)),
        (lambda: torch.nn.functional.mse_loss(x, 1.5), AttributeError),
        (lambda: torch.nn.functional.softmax("a", 0), AttributeError),
        (lambda: torch.nn.functional.mse_loss(x, x, reduction=1.5), ValueError),
    ],
)
def test_other_mistakes_keep_their_class(call, error):
    with pytest.raises(error) as caught:
        call()
    assert not isinstance(caught.value, TypeError)


def test_what_pytorch_only_asks_for_its_truth_may_be_anything():
    written = x.clone()
    assert torch.nn.functional.hardswish(written, 1) is written


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.topk(x, True),
        lambda: torch.flip(x, 0),
        lambda: torch.topk(x, 1.0),
        lambda: torch.argmax(x, 0, 1.5),
        lambda: torch.argmax(x, 0, keepdim="a"),
        lambda: torch.nn.functional.dropout(x, 0.5, training="yes"),
        lambda: torch.zeros(2, dtype=[]),
        lambda: torch.log_softmax(2j, 0),
        lambda: torch.gather(x, 0, object()),
        lambda: torch.argmin(torch.float32, 0),
        lambda: torch.broadcast_tensors([1, 2], x),
    ],
)
def test_other_type_errors(call):
    with pytest.raises(TypeError):
        call()


def test_numbers_after_sizes_are_sizes():
    assert x.new_zeros(2, 2, 1, dtype=torch.int64).shape == (2, 2, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: torch.zeros(2, 2).copy_(other=m),
        lambda m: torch.cat(torch.hsplit(m, sections=2), 1),
        lambda m: torch.cat(m.vsplit(indices=[1])),
        lambda m: torch.cholesky_solve(m, input2=torch.eye(2)),
        lambda m: torch.linalg.matrix_exp(input=torch.zeros(2, 2)) @ m,
        lambda m: torch.linalg.matrix_power(A=m, n=1),
        lambda m: m * (torch.linalg.vector_norm(input=torch.eye(1)) == torch.linalg.vector_norm(x=torch.eye(1))),
        lambda m: torch.linalg.lstsq(input=torch.eye(2), b=m).solution,
        lambda m: m + m.clone().uniform_(**{"from": 0.0, "to": 0.0}),
    ],
)
def test_parameters_have_the_names_that_they_have_when_pytorch_is_called(call):
    """Its documentation has other names for some: `src`, `L`, `A`."""
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.allclose(call(m), m)


def test_one_spelling_of_an_argument_is_enough():
    with pytest.raises(TypeError, match="hsplit.*expected one of 'indices_or_sections', 'indices' and 'sections'"):
        torch.hsplit(x, sections=3, indices=[1])
