"""Operations without a kernel run as they are; what lies between them is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import logs
from minitorch_compile.autograd.derivative_table import DERIVATIVES, derivative
from minitorch_compile.compiler.inspection import inspect
from minitorch_compile.prims import decomposition_table
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

BACKENDS = ["eager", "aot_eager", "aot_eager_decomp_partition", "loops", "inductor"]


@pytest.fixture
def ranked() -> Iterator[Callable[..., Any]]:
    """An op of two results that refuses to be decomposed: elements in order, and where they were. Column-major."""

    def ranked(input: Array, dim: int) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(input, dim, kind="stable")
        return np.take_along_axis(input, order, dim), order

    op = kernel_op("indexing")(ranked)

    @op.shape_rule
    def rule(input: TensorBase, dim: int) -> tuple[TensorBase, TensorBase]:
        strides = (1, input.sizes[0])
        return empty_fake(input.sizes, strides, input.dtype), empty_fake(input.sizes, strides, torch.int64)

    @derivative(op)
    def _(grad: Any, out: Any, x: Any, dim: int) -> Any:
        return ops.scatter_add(ops.zeros_like(grad[0]), dim, out[1], grad[0])

    decomposition_table.refuses(op, because="it is a test")
    yield op
    del ops.table[op.name], DERIVATIVES[op], decomposition_table._refusals[op]


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_and_gradients_do_not_depend_on_the_backend(ranked: Callable[..., Any], backend: str) -> None:
    def program(x: Any, w: Any) -> Any:
        y = (x @ w).exp()
        values, where = ranked(y.t(), 1)
        again, _ = ranked((values * 2 + where).sin(), 0)
        return again * values + y.log().t(), where + 1, values

    def run(function: Callable[..., Any]) -> list[Any]:
        torch.manual_seed(0)
        x, w = torch.randn(4, 5, requires_grad=True), torch.randn(5, 6, requires_grad=True)
        out, where, values = function(x, w)
        (out.sum() + values.mean()).backward()
        return [out, where, values, x.grad, w.grad]

    for expected, came in zip(run(program), run(torch.compile(program, backend=backend)), strict=True):
        np.testing.assert_allclose(came.detach().numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
        assert came.stride() == expected.stride() and came.dtype is expected.dtype


def test_what_surrounds_a_fallback_is_compiled_in_one_piece_each(ranked: Callable[..., Any]) -> None:
    seen = inspect(lambda x: ranked((x * 2).exp(), 0)[0].log() + x.cos().sin(), torch.ones(3, 2))
    assert seen.source.count("def run(") == 2
    assert seen.schedule.kernel_count >= 1


def test_two_fallbacks_in_a_row_need_nothing_compiled_between_them(ranked: Callable[..., Any]) -> None:
    seen = inspect(lambda x: ranked(ranked(x, 0)[0], 1)[0] + 1, torch.ones(3, 2))
    assert seen.source.count("def run(") == 1


def test_a_graph_of_fallbacks_only(ranked: Callable[..., Any]) -> None:
    values, where = torch.compile(lambda x: ranked(x, 0))(torch.tensor([[3.0], [1.0]]))
    assert values.tolist() == [[1.0], [3.0]] and where.tolist() == [[1], [0]]


def test_the_log_names_the_fallbacks(ranked: Callable[..., Any]) -> None:
    with logs.capture("fallbacks") as records:
        torch.compile(lambda x: ranked(x * 2, 0)[0])(torch.ones(2, 2))
    assert [record.text for record in records] == ["ranked = ops.ranked: no kernel, runs as it is"]


@pytest.mark.parametrize("backend", ["loops", "inductor"])
def test_half_precision_runs_as_it_is(backend: str) -> None:
    x = torch.linspace(-2, 2, 7)

    def program(x: Any) -> Any:
        return (x.exp().half() * 3).softmax(0).float() + x

    came = torch.compile(program, backend=backend)(x)
    np.testing.assert_allclose(came.numpy(), program(x).numpy(), rtol=2e-3)


@pytest.mark.parametrize("name", ["imag", "real"])
def test_parts_of_a_transposed_complex_tensor_after_a_write(name: str) -> None:
    """The compiled part expects them with gaps in between, as eager has them."""

    def program(z: Any) -> Any:
        part = getattr(torch, name)(z)
        part.squeeze().tanh_()
        return part + 1

    z = torch.complex(torch.arange(12.0).reshape(4, 3), torch.arange(12.0).flip(0).reshape(4, 3)).t()
    expected = program(z.clone())
    torch.testing.assert_close(torch.compile(program)(z.clone()), expected)


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_the_gradient_of_a_determinant_of_zero(rows: list[list[float]]) -> None:
    """The cofactors, as in eager: a graph can't branch to them where there is no inverse."""
    gradients = []
    for function in (torch.linalg.det, torch.compile(lambda x: torch.linalg.det(x))):
        x = torch.tensor(rows, requires_grad=True)
        function(x).backward()
        gradients.append(x.grad)
    torch.testing.assert_close(*gradients)


DIVISIONS: dict[str, Callable[..., Any]] = {
    "floor": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "truncated remainder": torch.fmod,
    "rounded": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "by a number": lambda x, y: x // 0,
    "in place": lambda x, y: x.clone().floor_divide_(y),
}


@pytest.mark.parametrize("name", DIVISIONS)
def test_integers_divided_by_zero(name: str) -> None:
    """Kernels don't raise, so such divisions run as they are."""
    compiled = torch.compile(DIVISIONS[name])
    x, y = torch.tensor([7, -7]), torch.tensor([2, 2])
    if name != "by a number":
        assert torch.equal(compiled(x, y), DIVISIONS[name](x, y))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        compiled(x, torch.tensor([2, 0]))
