"""Numbers that are given as tensors. The values and the classes of errors are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F

T = torch.tensor


def x() -> Any:
    return torch.arange(4.0).view(2, 2)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: torch.add(x(), x(), alpha=T(2)), [[0, 3], [6, 9]]),
        (lambda: torch.sub(x(), x(), alpha=T(2.0)), [[0, -1], [-2, -3]]),
        (lambda: torch.addcmul(x(), x(), x(), value=T(2.0)), [[0, 3], [10, 21]]),
        (lambda: torch.addmm(x(), x(), x(), beta=T(2.0), alpha=T(3)), [[6, 11], [22, 39]]),
        (lambda: x().topk(T(1)).values, [[1], [3]]),
        (lambda: x().topk(T([1])).values, [[1], [3]]),
        (lambda: x().sum((T(0), T(1))), 6),
        (lambda: x().view(T(4)), [0, 1, 2, 3]),
        (lambda: x().as_strided((T(2),), (T(3),)), [0, 3]),
        (lambda: x().select(T(0), T(1)), [2, 3]),
        (lambda: x().roll(T(1), T(0)), [[2, 3], [0, 1]]),
        (lambda: x().split(T(1))[1], [[2, 3]]),
        (lambda: x().narrow(0, T(1), T(1)), [[2, 3]]),
        (lambda: x().movedim(T(0), T(1)), [[0, 2], [1, 3]]),
        (lambda: x().tril(T(-1)), [[0, 0], [2, 0]]),
        (lambda: x().round(decimals=T(0)), [[0, 1], [2, 3]]),
        (lambda: x().max(T(0), keepdim=True).values, [[2, 3]]),
        (lambda: x().masked_fill(x() > 1, T(9)), [[0, 1], [9, 9]]),
        (lambda: x().fill_(T(7)), [[7, 7], [7, 7]]),
        (lambda: torch.dist(x(), 0 * x(), T(1)), 6),
        (lambda: F.leaky_relu(-x(), T(0.5)), [[0, -0.5], [-1, -1.5]]),
        (lambda: F.leaky_relu(T(-1.0), T(0.5)), -0.5),
        (lambda: F.pad(x(), (T(1), 0), value=T(5.0)), [[5, 0, 1], [5, 2, 3]]),
        (lambda: F.max_pool2d(x()[None], (T(2), T(1))), [[[2, 3]]]),
        (lambda: torch.full((T(1), T(2)), T(3)), [[3, 3]]),
        (lambda: torch.full((1,), fill_value=T(3)), [3]),
        (lambda: torch.arange(start=T(1), end=T(7), step=T(2)), [1, 3, 5]),
        (lambda: torch.linspace(T(0.0), T(1.0), T(3)), [0, 0.5, 1]),
        (lambda: torch.polygamma(T(0), T([1.0])), [-0.5772156715393066]),
    ],
)
def test_a_tensor_stands_for_a_number(call: Callable[[], Any], expected: Any) -> None:
    torch.testing.assert_close(call().double(), torch.tensor(expected, dtype=torch.float64), check_dtype=False)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: torch.add(x(), x(), alpha=T([2.0])), TypeError),
        (lambda: torch.add(x(), x(), alpha=T(2.0, requires_grad=True)), TypeError),
        (lambda: torch.add(x(), x(), alpha=T(True)), RuntimeError),
        (lambda: torch.add(x(), x(), alpha=T(1j)), RuntimeError),
        (lambda: torch.add(x().long(), x().long(), alpha=1.0), RuntimeError),
        (lambda: torch.sub(x(), x(), alpha=True), RuntimeError),
        (lambda: x().topk(T(1.0)), TypeError),
        (lambda: x().topk(T(True)), RuntimeError),
        (lambda: x().view(T([2, 2])), TypeError),
        (lambda: x().view(T(2.0), 2), TypeError),
        (lambda: x().sum(0, keepdim=T(True)), TypeError),
        (lambda: x().narrow(0, T([1]), 1), RuntimeError),
        (lambda: x().norm(p=T(2.0, requires_grad=True)), TypeError),
        (lambda: torch.full((2,), T([3.0])), TypeError),
        (lambda: torch.full((2,), T(3.0, requires_grad=True)), TypeError),
        (lambda: torch.arange(T([3])), TypeError),
        (lambda: torch.linspace(T([0.0]), 1, 2), RuntimeError),
        (lambda: torch.linspace(0, 1, T(2.0)), TypeError),
        (lambda: F.dropout(x(), T(0.5, requires_grad=True)), TypeError),
    ],
)
def test_a_tensor_that_can_not_stand_for_a_number(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_the_number_is_read_at_each_call() -> None:
    index = T(0)
    assert x().select(0, index).tolist() == [0, 1]
    index.fill_(1)
    assert x().select(0, index).tolist() == [2, 3]


def test_a_number_among_normals_sizes() -> None:
    assert torch.normal(0.0, T(1.0), (2,)).shape == (2,)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_compiled_function_reads_the_number_at_each_call(backend: str) -> None:
    compiled = torch.compile(lambda x, a: torch.add(x, x, alpha=a), backend=backend)
    assert [compiled(T([1.0]), T(a)).item() for a in (2, 3)] == [3, 4]


def test_a_factory_writes_into_the_tensor_it_is_given():
    out = torch.zeros(4)
    assert torch.arange(torch.tensor(0), torch.tensor(4), out=out) is out
    assert out.tolist() == [0, 1, 2, 3]
    assert torch.arange(0, 3, out=torch.LongTensor(3)).tolist() == [0, 1, 2]


NUMPYS_OWN = {
    "softplus": lambda x, v: F.softplus(x, beta=v),
    "elu": lambda x, v: F.elu(x, v),
    "celu": lambda x, v: F.celu(x, v),
    "leaky_relu": lambda x, v: F.leaky_relu(x, v),
    "add": lambda x, v: torch.add(x, x, alpha=v),
    "full": lambda x, v: torch.full((2,), v),
    "arange": lambda x, v: torch.arange(v, 4),
    "rrelu": lambda x, v: F.rrelu(x, v, v),
}


@pytest.mark.parametrize("number", [np.float64(1.5), np.float32(1.5), np.float16(1.5)])
@pytest.mark.parametrize("name", NUMPYS_OWN)
def test_numpys_numbers_are_numbers_and_do_not_make_results_of_their_dtype(name, number):
    call, x = NUMPYS_OWN[name], torch.tensor([1.0, -2.0])
    result = call(x, number)
    assert result.dtype is torch.float32
    assert torch.equal(result, call(x, 1.5))
    assert torch.equal(torch.compile(call, fullgraph=True)(x, number), torch.compile(call)(x, 1.5))


def test_numpys_whole_numbers_and_truth_values():
    x = torch.ones(2, 3)
    assert x.sum(np.int64(1)).shape == (2,) and x.sum(1, np.bool_(True)).shape == (2, 1)
    assert torch.full((2,), np.bool_(True)).dtype is torch.float32  # PyTorch takes it for 1.0
    for wrong, message in [
        (lambda: x.sum(np.float64(1)), "must be int, not float64"),
        (lambda: x.sum(1, np.int64(1)), "must be bool, not int64"),
        (lambda: F.elu(x, np.ones(1)), "must be Number, not ndarray"),
    ]:
        with pytest.raises(TypeError, match=message):
            wrong()


@pytest.mark.parametrize("value", [torch.ones(2, dtype=torch.int32), torch.tensor([True, False])])
def test_the_type_tensor_is_the_default_dtype(value):
    assert value.type(torch.Tensor).dtype is torch.float32
