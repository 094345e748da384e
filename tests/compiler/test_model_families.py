"""Training steps of all models of tests/models, plain and compiled: results, gradients, state and random numbers agree.

Whatever the training step calls first, a module or a method of it, is compiled; backward pass and optimizer run as
written. So what is compared after two steps has gone through compiled forward and backward graphs twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minitorch_compile import as_torch
from tests.as_torch.measure import fill, flatten, load, model_files
from tests.dynamo.model_calls import METHODS

RTOL = 1e-3  # of a tensor's largest element; float32 sums in another order
NOISE = 2e-5  # of the largest element of all gradients: a bias in front of a normalization has gradient zero


@contextmanager
def calls_compiled(name: str, model: Any, torch: Any, backend: str) -> Iterator[None]:
    """Inside, the outermost calls of modules, and of the methods that this program uses, are compiled."""
    classes = {type(module) for module in model.modules()}
    methods = [(cls, method) for cls in classes for method in METHODS.get(name, []) if method in vars(cls)]
    originals = [(cls, method, vars(cls)[method]) for cls, method in [(torch.nn.Module, "__call__"), *methods]]
    depth = [0]
    for cls, method, original in originals:
        setattr(cls, method, _outermost(original, torch.compile(original, backend=backend), depth))
    try:
        yield
    finally:
        for cls, method, original in originals:
            setattr(cls, method, original)


def _outermost(plain: Callable[..., Any], compiled: Callable[..., Any], depth: list[int]) -> Callable[..., Any]:
    """`compiled`, and `plain` inside of such a call."""

    @functools.wraps(plain)
    def call(*args: Any, **kwargs: Any) -> Any:
        if depth[0]:
            return plain(*args, **kwargs)
        depth[0] += 1
        try:
            return compiled(*args, **kwargs)
        finally:
            depth[0] -= 1

    return call


def trained(file: Path, torch: Any, backend: str | None) -> dict[str, dict[str, np.ndarray]]:
    """What two training steps leave behind, by kind and name."""
    program = load(file)
    torch.manual_seed(0)
    model = program.build()
    fill(model, torch)
    torch.manual_seed(1)
    if backend is None:
        return _two_steps(program, model, torch)
    with calls_compiled(file.stem, model, torch, backend):
        return _two_steps(program, model, torch)


def _two_steps(program: Any, model: Any, torch: Any) -> dict[str, dict[str, np.ndarray]]:
    seen: dict[str, dict[str, np.ndarray]] = {"results": {}, "gradients": {}, "state": {}}
    for step in (1, 2):
        loss, outputs = program.train_step(model, np.random.default_rng(0))
        found = {"loss": loss} | {f"output {i}": x for i, x in enumerate(flatten(outputs))}
        seen["results"] |= {f"{name} of step {step}": np.array(x.detach().numpy()) for name, x in found.items()}
        for name, parameter in model.named_parameters():
            if parameter.grad is not None:
                seen["gradients"][f"{name} in step {step}"] = np.array(parameter.grad.numpy())
    seen["state"] = {name: np.array(x.detach().numpy()) for name, x in model.state_dict().items()}
    seen["state"]["the next random numbers"] = torch.rand(3).numpy()
    return seen


def differences(came: dict[str, np.ndarray], expected: dict[str, np.ndarray], noise: float) -> list[str]:
    """The names of arrays that differ, or that only one side has."""
    if came.keys() != expected.keys():
        return sorted(came.keys() ^ expected.keys())
    return [name for name in expected if not _close(came[name], expected[name], noise)]


def _close(came: np.ndarray, expected: np.ndarray, noise: float) -> bool:
    if came.shape != expected.shape or came.dtype != expected.dtype:
        return False
    scale = abs(expected).max(initial=0)
    return bool(np.allclose(came, expected, rtol=0, atol=RTOL * scale + noise, equal_nan=True))


def without_gradient(gradients: dict[str, np.ndarray], noise: float) -> set[str]:
    """Parameters with nothing but noise for a gradient, of which an optimizer that divides by its size makes a step."""
    largest: dict[str, float] = {}
    for key, gradient in gradients.items():
        name = key.rpartition(" in step ")[0]
        largest[name] = max(largest.get(name, 0.0), abs(gradient).max(initial=0))
    return {name for name, size in largest.items() if size <= noise}


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition"])
@pytest.mark.parametrize("file", model_files(), ids=lambda file: file.stem)
@pytest.mark.heavy
def test_training_compiled_is_training(file: Path, backend: str) -> None:
    with as_torch.installed():
        import torch

        with torch._dynamo.config.patch(recompile_limit=100):  # Module.__call__ is compiled for each module
            expected, came = trained(file, torch, None), trained(file, torch, backend)
    largest = max(abs(x).max(initial=0) for x in expected["gradients"].values())
    assert differences(came["results"], expected["results"], 1e-5) == []
    assert differences(came["gradients"], expected["gradients"], NOISE * largest) == []
    for name in without_gradient(expected["gradients"], 10 * NOISE * largest):
        del expected["state"][name], came["state"][name]
    assert differences(came["state"], expected["state"], 1e-4) == []
