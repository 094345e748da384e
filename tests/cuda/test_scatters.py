"""Scatters on a GPU: sums whose order is open or settled, values of which the last one stays, indices that meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import logs
from minitorch_compile.cuda.runtime import Runtime

ROWS = [2, 0, 2, 1, 2, 0]


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def sources(runtime: Runtime) -> str:
    """The texts of all kernels so far."""
    return "\n".join(runtime.kernels.compiled)  # type: ignore[union-attr]


def both(operation: Any, *tensors: Any) -> tuple[Any, Any]:
    """An operation's result on the CPU, and on the GPU."""
    return operation(*tensors), operation(*(x.cuda() for x in tensors)).cpu()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin", "mean"])
def test_values_that_meet_are_combined(dtype: Any, reduce: str, gpus: Runtime) -> None:
    x, rows = torch.arange(12).view(3, 4).to(dtype), torch.tensor(ROWS)
    values = (torch.arange(24).view(6, 4) % 5 - (0 if dtype is torch.uint8 else 2)).to(dtype)
    index = rows[:, None].expand(6, 4)
    here, there = both(lambda x, i, v: x.scatter_reduce(0, i, v, reduce), x, index.contiguous(), values)
    assert torch.equal(here, there) and not gpus.kernels.reasons  # type: ignore[union-attr]


def test_of_values_that_are_stored_in_one_place_the_last_one_stays(gpus: Runtime) -> None:
    x, rows, values = torch.zeros(3, 2), torch.tensor(ROWS), torch.arange(12.0).view(6, 2)

    def put(x: Any, rows: Any, values: Any) -> Any:
        x = x.clone()
        x[rows] = values
        return x

    here, there = both(put, x, rows, values)
    assert there.tolist() == here.tolist() == [[10, 11], [6, 7], [8, 9]]
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


def test_a_row_of_an_embedding_gets_the_gradients_of_all_its_uses(gpus: Runtime) -> None:
    gradients = []
    for where in ("cpu", "cuda"):
        table = torch.linspace(-1, 1, 12).view(3, 4).to(where).requires_grad_()
        torch.nn.functional.embedding(torch.tensor(ROWS, device=where), table).square().sum().backward()
        gradients.append(table.grad.cpu())
    assert torch.allclose(*gradients) and "cuda.atomic.add" in sources(gpus)


def test_with_deterministic_algorithms_floats_are_added_in_turns(deterministic: None, gpus: Runtime) -> None:
    x, rows, values = torch.zeros(3, 4), torch.tensor(ROWS), torch.randn(6, 4)
    here, there = both(lambda x, i, v: x.index_add(0, i, v), x, rows, values)
    assert torch.allclose(here, there) and "cuda.atomic.add" not in sources(gpus)


def test_extremes_of_floats_keep_nan() -> None:
    values = torch.tensor([1.0, float("nan"), 3.0])
    here, there = both(
        lambda v: torch.zeros(2, device=v.device).scatter_reduce(0, torch.tensor([0, 1, 0]).to(v.device), v, "amax"),
        values,
    )
    assert there.isnan().tolist() == here.isnan().tolist() == [False, True] and there[0] == 3


@pytest.mark.parametrize("reduce", ["amax", "amin", "prod"])
def test_floats_are_swapped_in_all_at_once(reduce: str, gpus: Runtime) -> None:
    index, values = torch.arange(90) * 7 % 4, torch.linspace(-1.5, 1.5, 90)
    for x in (torch.tensor([0.5, -2.0, 1.0, float("nan")]), torch.ones(4, dtype=torch.float64)):
        here, there = both(lambda x, i, v: x.scatter_reduce(0, i, v, reduce), x, index, values.to(x.dtype))
        assert torch.allclose(here, there, rtol=1e-5, equal_nan=True)
    assert "cuda.atomic.cas" in sources(gpus) and "in_turns" not in sources(gpus)


def test_an_index_out_of_range_is_an_error_and_nothing_is_written() -> None:
    x = torch.zeros(3, device="cuda")
    with pytest.raises(IndexError, match="3 is out of bounds"):
        x[torch.tensor([0, 3], device="cuda")] = 1.0
    with pytest.raises((IndexError, RuntimeError), match="7 is out of bounds"):
        x.index_add(0, torch.tensor([7], device="cuda"), torch.ones(1, device="cuda"))
    assert x.tolist() == [0, 0, 0]


def test_the_gradient_of_a_loss_of_classes_is_no_scatter_where_it_is_compiled() -> None:
    torch.compiler.reset()
    classes, scores = torch.tensor([2, -100, 0, 4]), torch.linspace(-1, 1, 20).view(4, 5)

    def gradient(scores: Any, classes: Any) -> Any:
        scores = scores.detach().requires_grad_()
        torch.nn.functional.cross_entropy(scores, classes).backward()
        return scores.grad

    compiled = torch.compile(gradient)
    with logs.capture("ir_post_fusion") as records:
        found = compiled(scores.cuda(), classes.cuda())
    assert torch.allclose(found.cpu(), gradient(scores, classes))
    assert "scatter(" not in "".join(record.text for record in records)
    with pytest.raises(RuntimeError, match="5 is out of bounds"):
        compiled(scores.cuda(), torch.tensor([2, 1, 0, 5]).cuda())


def test_no_index_is_right_for_an_empty_dimension() -> None:
    x, index, row = (torch.zeros(2, 0), torch.tensor([[5, 9]]), torch.zeros(1, 2))
    for call in (
        lambda x, i, s: x.scatter_add(1, i, s),
        lambda x, i, s: x.scatter(1, i, s),
        lambda x, i, s: x.gather(1, i),
        lambda x, i, s: x[:, i[0]],
        lambda x, i, s: x.take(i),
        lambda x, i, s: x.put(i, s),
        lambda x, i, s: x.index_fill(1, i[0], 1.0),
    ):
        with pytest.raises((IndexError, RuntimeError)) as here:
            call(x, index, row)
        with pytest.raises(here.type, match="out of bounds"):
            call(x.cuda(), index.cuda(), row.cuda())
    assert x.cuda().scatter_add(1, index[:, :0].cuda(), row[:, :0].cuda()).shape == (2, 0)
