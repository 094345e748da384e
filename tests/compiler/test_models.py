"""Small real models through every backend: outputs, losses and all gradients equal the eager ones."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from tests.compiler.models import CNN, GPT, MLP

BACKENDS = ("eager", "aot_eager", "aot_eager_decomp_partition", "loops", "inductor")


def tokens() -> torch.Tensor:
    return torch.randint(0, 11, (2, 6))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Any, ...]]]] = {
    "mlp": (MLP, lambda: (torch.randn(5, 8),)),
    "cnn": (CNN, lambda: (torch.randn(2, 1, 8, 8),)),
    "gpt": (GPT, lambda: (tokens(), tokens())),
}


def loss_of(result: Any) -> torch.Tensor:
    return result[1] if isinstance(result, tuple) else (result * result).mean()


def outputs_and_gradients(model: nn.Module, call: Callable[..., Any], inputs: tuple[Any, ...]) -> dict[str, np.ndarray]:
    result = call(*inputs)
    loss_of(result).backward()
    found = {"loss": loss_of(result).detach().numpy()}
    for i, out in enumerate(result if isinstance(result, tuple) else (result,)):
        found[f"output {i}"] = out.detach().numpy()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        found[name] = parameter.grad.numpy()
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_model_equals_eager(name: str, backend: str) -> None:
    torch.manual_seed(0)
    build, make_inputs = MODELS[name]
    model = build()
    twin = copy.deepcopy(model)
    compiled = torch.compile(twin, backend=backend, fullgraph=True)
    for _ in range(2):  # the second call runs what the first one compiled
        model.zero_grad()
        twin.zero_grad()
        inputs = make_inputs()
        expected = outputs_and_gradients(model, model, inputs)
        found = outputs_and_gradients(twin, compiled, inputs)
        for key, value in expected.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5, err_msg=f"{name} {backend} {key}")


def test_inference_without_grad_equals_eager() -> None:
    torch.manual_seed(0)
    model = MLP().eval()
    x = torch.randn(4, 8)
    with torch.no_grad():
        found = torch.compile(model)(x)
        np.testing.assert_allclose(found.numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)
    assert not found.requires_grad
