"""Memory formats: what keeps channels last, what asks for it, compiled and not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.memory_format import strides_in, suggested_format


def image(*sizes: int) -> Tensor:
    return torch.arange(int(np.prod(sizes))).view(*sizes).float()


@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (1, 3, 2, 2), (2, 1, 4, 4), (0, 3, 2, 2), (2, 3, 1, 1)])
def test_a_channels_last_copy_has_the_same_values_and_suggests_its_format(sizes: tuple[int, ...]) -> None:
    x = image(*sizes)
    y = x.clone(memory_format=torch.channels_last)
    np.testing.assert_array_equal(x.numpy(), y.numpy())
    assert y.stride() == strides_in(torch.channels_last, sizes)
    assert y.is_contiguous(memory_format=torch.channels_last)
    if 0 not in sizes:
        assert suggested_format(y.sizes, y.strides) is torch.channels_last


KEEPING: dict[str, Callable[[Any], Any]] = {
    "number": lambda x: x * 2 + 1,
    "per channel": lambda x: x + torch.ones(3, 1, 1),
    "activation": lambda x: x.relu().sigmoid(),
    "dtype": lambda x: x.to(torch.float64),
    "cat": lambda x: torch.cat([x, x], 1),
    "like": lambda x: torch.zeros_like(x) + x,
}


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("backend", [None, "aot_eager", "inductor"])
def test_what_keeps_channels_last_does_so_compiled_too(name: str, backend: str | None) -> None:
    function = KEEPING[name]
    x = image(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    result = function(x) if backend is None else torch.compile(function, backend=backend, fullgraph=True)(x)
    assert result.is_contiguous(memory_format=torch.channels_last)
    np.testing.assert_allclose(result.numpy(), function(x.contiguous()).numpy(), rtol=1e-6)


def test_a_gradient_flows_through_a_change_of_format() -> None:
    x = image(1, 2, 2, 2).requires_grad_()
    (x.contiguous(memory_format=torch.channels_last) * image(1, 2, 2, 2)).sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), image(1, 2, 2, 2).numpy())


def test_the_wrong_number_of_dimensions_is_refused() -> None:
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(2, 3).contiguous(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="preserve"):
        torch.ones(2, 3).t().contiguous(memory_format=torch.preserve_format)
