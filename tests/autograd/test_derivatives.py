"""Every derivative formula against finite differences, to the first and the second order, over awkward inputs."""

import pytest

from minitorch_compile.autograd import gradcheck, gradgradcheck
from minitorch_compile.autograd.derivative_table import DERIVATIVES, NOT_DIFFERENTIABLE
from minitorch_compile.tensor import ops, tensor
from tests.autograd import derivative_cases_images, derivative_cases_sampling_and_linalg
from tests.autograd.derivative_cases import all_cases

CASES = all_cases() + derivative_cases_images.cases() + derivative_cases_sampling_and_linalg.cases()
IDS = [f"{name}-{i}" for i, (name, *_) in enumerate(CASES)]

# Their backward pass says that it can't be differentiated again, as PyTorch's does.
ONCE = {"ctc_alignments", "gamma_quantile"}
# Their backward pass only raises, as PyTorch's does.
NEVER = {"_linalg_ldl", "_linalg_ldl_solve"}


def leaves(arrays):
    return [tensor(a, requires_grad=True) for a in arrays]


@pytest.mark.parametrize(("name", "program", "arrays"), CASES, ids=IDS)
def test_the_gradient_is_the_limit_of_the_difference_quotient(name, program, arrays):
    assert gradcheck(program, leaves(arrays))


@pytest.mark.parametrize(("name", "program", "arrays"), CASES, ids=IDS)
def test_the_gradient_of_the_gradient_is_right_too(name, program, arrays):
    if name in ONCE:
        with pytest.raises(NotImplementedError, match="differentiated again"):
            gradgradcheck(program, leaves(arrays))
    else:
        assert gradgradcheck(program, leaves(arrays))


def differentiable_candidates():
    """Ops that interpreters see and that take a tensor: in-place ops have the derivative of their functional twin."""
    return [op for op in ops.table.values() if op.recorded and op.kind != "inplace" and op.tensor_parameters]


@pytest.mark.parametrize("op", differentiable_candidates(), ids=repr)
def test_every_op_has_a_derivative_or_a_reason(op):
    assert (op in DERIVATIVES) != (op in NOT_DIFFERENTIABLE)


@pytest.mark.parametrize("op", [op for op in ops.table.values() if op in DERIVATIVES], ids=repr)
def test_every_derivative_is_checked_above(op):
    assert op.name in {name for name, *_ in CASES} | NEVER


def test_a_reason_is_a_sentence():
    assert all(len(reason) > 10 for reason in NOT_DIFFERENTIABLE.values())
