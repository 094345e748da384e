"""Which operations count negative indices from the end, and what the others raise: PyTorch 2.13's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F

Call = Callable[[Any, Any], Any]

REFUSING: dict[str, tuple[Call, type[Exception]]] = {
    "gather": (lambda x, i: x.gather(0, i[:, None]), RuntimeError),
    "gather of a vector by one index": (lambda x, i: x[:, 0].gather(0, i[0]), RuntimeError),
    "gather of one element": (lambda x, i: x[0, 0].gather(0, i), RuntimeError),
    "scatter": (lambda x, i: x.scatter(0, i[:, None], 1.0), RuntimeError),
    "scatter into one element": (lambda x, i: x[0, 0].scatter(0, i, x[:1, 0]), RuntimeError),
    "scatter_add": (lambda x, i: x.scatter_add(0, i[:, None], x), RuntimeError),
    "scatter_add to one element": (lambda x, i: x[0, 0].scatter_add(0, i, x[:1, 0]), RuntimeError),
    "scatter_reduce": (lambda x, i: x.scatter_reduce(0, i[:, None], x, "amax"), RuntimeError),
    "scatter_reduce without self": (
        lambda x, i: x.scatter_reduce(0, i[:, None], x, "prod", include_self=False),
        RuntimeError,
    ),
    "index_select": (lambda x, i: x.index_select(0, i), IndexError),
    "index_select of columns": (lambda x, i: x.index_select(1, i), RuntimeError),
    "index_select of other columns": (lambda x, i: x.t().contiguous().t().index_select(1, i), IndexError),
    "index_select of one element": (lambda x, i: x[0, 0].index_select(0, i), IndexError),
    "index_add": (lambda x, i: x.index_add(0, i, x[:1]), RuntimeError),
    "index_add to a vector": (lambda x, i: x[0].index_add(0, i, x[0, :1]), IndexError),
    "index_copy": (lambda x, i: x.index_copy(0, i, x[:1]), IndexError),
    "index_reduce": (lambda x, i: x.index_reduce(0, i, x[:1], "amax"), IndexError),
    "embedding": (lambda x, i: F.embedding(i, x), IndexError),
    "nll_loss": (lambda x, i: F.nll_loss(x[:1], i), IndexError),
}


def matrix() -> Any:
    return torch.arange(12.0).view(4, 3)


@pytest.mark.parametrize("index", [-1, -9, 13])
@pytest.mark.parametrize("name", REFUSING)
def test_an_index_from_the_end_or_beyond_it_is_refused(name: str, index: int) -> None:
    call, error = REFUSING[name]
    with pytest.raises(error):
        call(matrix(), torch.tensor([index]))


@pytest.mark.parametrize("backend", ["aot_eager_decomp_partition", "inductor"])
@pytest.mark.parametrize("name", ["gather", "scatter", "index_select", "index_add", "index_copy", "embedding"])
def test_a_compiled_function_refuses_it_too(name: str, backend: str) -> None:
    call, error = REFUSING[name]
    compiled = torch.compile(call, backend=backend)
    torch.testing.assert_close(compiled(matrix(), torch.tensor([2])), call(matrix(), torch.tensor([2])))
    for index in (-1, 13):
        with pytest.raises(error):
            compiled(matrix(), torch.tensor([index]))


def test_these_count_from_the_end() -> None:
    x, last = matrix(), torch.tensor([-1])
    assert x[last].tolist() == [[9, 10, 11]]
    assert x.take(last).tolist() == [11]
    assert x.put(last, torch.tensor([5.0]))[3, 2] == 5
    assert x.index_fill(0, last, 7.0)[3].tolist() == [7, 7, 7]
    assert x.index_put((last,), torch.tensor(7.0))[3].tolist() == [7, 7, 7]
    assert x.narrow(0, -1, 1).tolist() == [[9, 10, 11]]


def test_take_along_dim_goes_round_a_dimension() -> None:
    assert torch.take_along_dim(matrix(), torch.tensor([[-1, 0, 9]]), 0).tolist() == [[9, 1, 5]]
    with pytest.raises(RuntimeError):
        torch.take_along_dim(matrix(), torch.tensor([[-1, 0, 1]]))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x, i: x.index_fill(0, i.int(), 1.0), IndexError),
        (lambda x, i: x.index_copy(0, i.int(), x[:1]), RuntimeError),
        (lambda x, i: x.index_add(0, i.short(), x[:1]), RuntimeError),
        (lambda x, i: F.embedding(i.short(), x), RuntimeError),
        (lambda x, i: x.take(i.int()), RuntimeError),
    ],
)
def test_the_type_of_an_index(call: Call, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(matrix(), torch.tensor([0]))
