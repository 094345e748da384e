"""What a program writes to its arguments is computed there, if nobody reads the old elements later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import logs


def both_from_both(x: Any, y: Any) -> None:
    new_x, new_y = x * 2 + y, x - y * 3
    x.copy_(new_x)
    y.copy_(new_y)


def exchanged(x: Any, y: Any) -> None:
    old = x.clone()
    x.copy_(y)
    y.copy_(old)


def read_afterwards(x: Any, y: Any) -> Any:
    sums = y.sum(0)
    x.mul_(2)
    return x.t() * sums


def from_its_neighbours(x: Any, y: Any) -> None:
    x.copy_(x.t() + x[0] + y)


def by_rows(x: Any, y: Any) -> None:
    x.sub_(x.amax(1, keepdim=True))
    x.div_(y.abs().sum(1, keepdim=True) + 1)


def two(layout: str, device: str) -> list[Any]:
    whole = torch.arange(32.0, device=device) / 8 - 1
    x, y = whole[:16].clone().view(4, 4), whole[16:].clone().view(4, 4)
    return {
        "dense": lambda: [x, y],
        "transposed": lambda: [x.t(), y],
        "expanded": lambda: [x, whole[:4].expand(4, 4)],
        "the same": lambda: [x, x],
        "overlapping": lambda: [whole[:16].view(4, 4), whole[5:21].view(4, 4)],
    }[layout]()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("layout", ["dense", "transposed", "expanded", "the same", "overlapping"])
@pytest.mark.parametrize("program", [both_from_both, exchanged, read_afterwards, from_its_neighbours, by_rows])
def test_a_program_that_overwrites_its_arguments(program: Callable[..., Any], layout: str, device: str) -> None:
    if layout == "expanded" and program in (both_from_both, exchanged):
        pytest.skip("one element can't be overwritten by several")
    arguments, expected = two(layout, device), two(layout, device)
    torch.compiler.reset()
    result, plain = torch.compile(program)(*arguments), program(*expected)
    for x, wanted in zip([*arguments, result], [*expected, plain]):
        if wanted is not None:
            np.testing.assert_allclose(x.numpy(force=True), wanted.numpy(force=True), rtol=1e-6)
    assert [x._version for x in arguments] == [x._version for x in expected]


def test_an_optimizers_step_copies_nothing_and_is_compiled_once() -> None:
    weight = torch.nn.Parameter(torch.ones(3, 2))
    weight.grad = torch.full((3, 2), 2.0)
    step = torch.compile(torch.optim.AdamW([weight], lr=0.5, weight_decay=0.5).step)
    with logs.capture("output_code") as records:
        step()  # there are no states before
        step()
    assert len(records) == 1
    assert "inout2" in records[0].text and "write_back" not in records[0].text
    np.testing.assert_allclose(weight.numpy(force=True), -0.3125, atol=1e-6)


def test_a_write_that_a_view_has_to_know_of_is_told() -> None:
    base = torch.ones(2, 2, requires_grad=True) * 1
    row = base[0]
    torch.compile(lambda x: x.mul_(3))(row.detach().requires_grad_(False))
    assert base.detach().tolist() == [[3, 3], [1, 1]] and base._version == 1
    torch.compile(lambda x: x.mul_(2))(row)
    base.sum().backward()
    assert base.detach().tolist() == [[6, 6], [1, 1]] and row.grad_fn is not None


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_nothing_is_written_if_an_index_before_the_write_is_wrong(device: str) -> None:
    x, places = torch.arange(4.0, device=device), torch.tensor([0, 9], device=device)

    def program(x: Any, places: Any) -> Any:
        picked = x[places]
        x.add_(1)
        return picked

    with pytest.raises(IndexError):
        torch.compile(program)(x, places)
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("sizes", [(0,), (0, 3)])
def test_an_argument_without_elements_is_overwritten(sizes: tuple[int, ...]) -> None:
    x, y = torch.ones(sizes, device="cuda"), torch.ones(2, device="cuda")
    torch.compile(lambda x, y: (x.add_(1), y.add_(1)))(x, y)
    assert x.shape == sizes and x._version == 1 and y.tolist() == [2, 2]


def test_an_argument_with_gaps_whose_signs_are_not_as_in_memory_is_overwritten() -> None:
    numbers = torch.tensor([1 + 2j, 3 - 4j], device="cuda")
    parts = numbers.conj().imag  # -2 and 4, where memory has 2 and -4 beside what is real
    doubled = torch.compile(lambda x: x.mul_(2))(parts)
    assert doubled.tolist() == [-4, 8] and numbers.tolist() == [1 + 4j, 3 - 8j]
