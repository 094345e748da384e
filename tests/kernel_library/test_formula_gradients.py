"""A node's gradients by its formula: what one of its tensors owes to another of them is not this node's."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile.kernel_library.formula_gradients import gradients_by_formula


@pytest.mark.parametrize("recorded", [False, True])
def test_a_tensor_that_is_computed_from_another(recorded: bool) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    seen: list[torch.Tensor] = []
    x.register_hook(seen.append)
    weight, plain, upper = x * x, torch.ones(3), torch.tensor([1.0, -1.0, 2.0])
    with torch.set_grad_enabled(recorded):
        found = gradients_by_formula(lambda x, w, none, c: x * w + c, (x, weight, None, plain), upper)
    by_x, by_weight, *rest = found
    assert torch.equal(by_x, upper * weight)
    assert torch.equal(by_weight, upper * x)
    assert rest == [None, None]
    assert not seen
    assert by_x.requires_grad == recorded
    if recorded:
        (second,) = torch.autograd.grad(by_x.sum(), x)
        assert torch.equal(second, upper * 2 * x)


def test_a_tensor_that_the_formula_does_not_use() -> None:
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    found = gradients_by_formula(lambda x, y: x * 3, (x, y), torch.ones(2))
    assert found[0].tolist() == [3, 3]
    assert found[1] is None
