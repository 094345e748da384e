"""Two training steps of a model file, as numbers: the same under PyTorch and under this package.

A model file (tests/models) has `build()`, which makes the module, and `train_step(model, rng)`, which draws its inputs
from a NumPy generator, runs forward, backward and an optimizer, and returns (loss, outputs). Weights are drawn by
parameter name, so neither side's random numbers matter.
"""

import importlib.util
import math
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

MODELS = Path(__file__).resolve().parent.parent / "models"
RECORDED = Path(__file__).resolve().parent / "recorded.json"


def model_files() -> list[Path]:
    """Every model file, by name."""
    return sorted(file for file in MODELS.glob("*.py") if file.name != "conftest.py")


def load(file: Path) -> Any:
    """The module in a file; whoever calls this says what `import torch` is to find."""
    spec = importlib.util.spec_from_file_location(f"model_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def random_for(name: str) -> np.random.Generator:
    """A generator that only the name decides."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def fill(model: Any, torch: Any) -> None:
    """Draws every parameter by its name: matrices of about unit gain, scales around one, small biases."""
    for name, parameter in model.named_parameters():
        shape = tuple(parameter.shape)
        values = random_for(name).standard_normal(shape)
        if len(shape) >= 2:
            values /= math.sqrt(max(1, values[0].size))
        else:
            values = 0.1 * values + (1.0 if name.endswith("weight") else 0.0)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(np.asarray(values, dtype=np.float32)))


def flatten(value: Any) -> list[Any]:
    """The tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flatten(item)]
    return [] if value is None else [value]


def digest(name: str, tensor: Any) -> list[float]:
    """[norm, component along a random direction]: together they notice wrong values, signs and orders."""
    array = np.ascontiguousarray(tensor.detach().cpu().numpy()).reshape(-1)
    values = (array.view(array.real.dtype) if array.dtype.kind == "c" else array).astype(np.float64)
    direction = random_for(f"{name}{tuple(tensor.shape)}").standard_normal(values.size)
    norm = float(np.linalg.norm(direction)) or 1.0
    return [float(np.linalg.norm(values)), float(values @ direction) / norm]


def measure(file: Path, torch: Any, where: str = "cpu") -> dict[str, Any]:
    """The numbers of two training steps on the same inputs; the gradients are those of the first. `where`: the device
    that the model is moved to."""
    module = load(file)
    torch.manual_seed(0)
    model = module.build().to(where)
    fill(model, torch)
    loss, outputs = module.train_step(model, np.random.default_rng(0))
    gradients = {name: digest(name, p.grad) for name, p in model.named_parameters() if p.grad is not None}
    for parameter in model.parameters():
        parameter.grad = None
    second_loss, _ = module.train_step(model, np.random.default_rng(0))
    return {
        "loss": [float(loss.detach()), float(second_loss.detach())],
        "outputs": [[list(out.shape), *digest(f"output {i}", out)] for i, out in enumerate(flatten(outputs))],
        "gradients": gradients,
        "state_dict": zlib.crc32(" ".join(model.state_dict()).encode()),
    }
