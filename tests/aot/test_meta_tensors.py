"""Tensors on meta in a compiled graph: what reads or makes one runs as it is, and the rest is compiled."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch

PROGRAMS: dict[str, Any] = {
    "made": lambda x: (x + 1, torch.empty(3, 4, device="meta").sum(0)),
    "made alone": lambda x: torch.zeros(3, device="meta"),
    "of data": lambda x: (x - 3, x.to("meta") * 2),
    "back": lambda x: (x * 2, torch.ones_like(torch.empty(2, device="meta"), device="cpu") + x),
}


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_graph_makes_tensors_on_meta(name: str, backend: str) -> None:
    x = torch.arange(2.0)
    compare(torch.compile(PROGRAMS[name], backend=backend, fullgraph=True)(x), PROGRAMS[name](x))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_graph_is_given_a_tensor_on_meta(backend: str) -> None:
    program = lambda x, y: (x + 1, y * 2)
    given = torch.arange(2.0, requires_grad=True), torch.empty(3, device="meta")
    found = torch.compile(program, backend=backend, fullgraph=True)(*given)
    compare(found, program(*given))
    found[0].sum().backward()
    assert given[0].grad.tolist() == [1.0, 1.0]


def compare(found: Any, expected: Any) -> None:
    """Of tensors on meta there are sizes only."""
    for x, like in zip(*((y if isinstance(y, tuple) else (y,)) for y in (found, expected)), strict=True):
        assert (x.device, x.shape, x.dtype) == (like.device, like.shape, like.dtype)
        assert x.is_meta or torch.equal(x, like)
