"""Normalisation of half-precision inputs, with parameters of the same dtype or of float32, and what else may be mixed.

As in PyTorch 2.13: results and gradients have the dtype of what they belong to, and are as exact as it allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn as nn
import minitorch_compile.nn.functional as F

VALUES = np.random.default_rng(0).normal(size=(3, 4, 4))


def _running(like: Any) -> tuple[Any, Any]:
    return torch.linspace(0, 1, 4, dtype=like), torch.linspace(0.5, 2, 4, dtype=like)


NORMS: dict[str, Callable[..., Any]] = {
    "batch norm": lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
    "batch norm with statistics": lambda x, w, b: F.batch_norm(x, *_running(w.dtype), w, b, True),
    "batch norm by statistics": lambda x, w, b: F.batch_norm(x, *_running(w.dtype), w, b, False),
    "layer norm": lambda x, w, b: F.layer_norm(x, (4,), w, b),
    "group norm": lambda x, w, b: F.group_norm(x, 2, w, b),
    "instance norm": lambda x, w, b: F.instance_norm(x, None, None, w, b),
    "instance norm by statistics": lambda x, w, b: F.instance_norm(x, *_running(w.dtype), w, b, False),
}
TOLERANCE = {torch.bfloat16: 1e-2, torch.float16: 1e-3, torch.float32: 1e-2, torch.float64: 1e-9}


def results(norm: Callable[..., Any], element: torch.dtype, parameters: torch.dtype) -> list[Any]:
    """The result and all gradients; the values are those that a bfloat16 can hold."""
    x = torch.tensor(VALUES).bfloat16().to(element).requires_grad_()
    w, b = (torch.tensor(v, dtype=parameters, requires_grad=True) for v in ([0.5, 1, 1.5, 2], [-1.0, 0, 0.5, 1]))
    out = norm(x, w, b)
    out.backward(torch.linspace(-1, 1, 48).reshape(3, 4, 4).bfloat16().to(element))
    return [out.detach(), x.grad, w.grad, b.grad]


@pytest.mark.parametrize("parameters", ["the same", torch.float32], ids=str)
@pytest.mark.parametrize("element", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", NORMS)
def test_results_and_gradients(name: str, element: torch.dtype, parameters: Any) -> None:
    parameters = element if parameters == "the same" else parameters
    exact = results(NORMS[name], torch.float64, torch.float64)
    for wanted, came, dtype in zip(
        exact, results(NORMS[name], element, parameters), [element, element, parameters, parameters], strict=True
    ):
        assert came.dtype is dtype
        scale = max(1.0, wanted.abs().max().item())
        assert (came.double() - wanted).abs().max().item() <= TOLERANCE[element] * scale


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", ["batch norm with statistics", "layer norm", "group norm"])
def test_compiled_they_are_as_exact(name: str, backend: str) -> None:
    exact = results(NORMS[name], torch.float64, torch.float64)
    for wanted, came in zip(
        exact,
        results(torch.compile(NORMS[name], backend=backend), torch.bfloat16, torch.float32),
        strict=True,
    ):
        scale = max(1.0, wanted.abs().max().item())
        assert (came.double() - wanted).abs().max().item() <= TOLERANCE[torch.bfloat16] * scale


@pytest.mark.parametrize(
    ("element", "parameters"),
    [(torch.bfloat16, torch.float16), (torch.bfloat16, torch.float64), (torch.float32, torch.bfloat16)],
)
@pytest.mark.parametrize("name", NORMS)
def test_other_mixtures_are_refused(name: str, element: torch.dtype, parameters: torch.dtype) -> None:
    with pytest.raises(RuntimeError, match="mixed dtype"):
        results(NORMS[name], element, parameters)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_a_module_in_float32_takes_bfloat16(affine: bool, training: bool) -> None:
    module = nn.BatchNorm1d(4, affine=affine).train(training)
    x = torch.tensor(VALUES).bfloat16().requires_grad_()
    out = module(x)
    out.sum().backward()
    assert (out.dtype, x.grad.dtype, module.running_mean.dtype) == (torch.bfloat16, torch.bfloat16, torch.float32)
