"""The calls of modules that a model file (tests/models) makes in its training step, to be made again compiled.

A training step also runs backward passes and optimizers, so it is run plainly, and its outermost calls are noted: a
module (or, for models that are used through other methods or functions, these) and the arguments of the first call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.as_torch.measure import fill, flatten, load

# Models whose training step uses methods besides, or instead of, the modules themselves.
METHODS = {
    "annotated_transformer": ["encode", "decode"],
    "bilstm_crf": ["neg_log_likelihood"],
    "forward_forward": ["goodness"],
    "maml": ["argforward"],
    "ppo": ["get_value", "get_action_and_value"],
}


@dataclass
class Call:
    """A call as it was made: `method` is empty for the module itself."""

    module: Any
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self) -> Any:
        return (getattr(self.module, self.method) if self.method else self.module)(*self.args, **self.kwargs)

    @property
    def name(self) -> str:
        return type(self.module).__name__ + (f".{self.method}" if self.method else "")


def outer_calls(file: Path, torch: Any) -> list[Call]:
    """The first outermost call of each module and method that the training step uses."""
    program = load(file)
    torch.manual_seed(0)
    models = program.build()
    fill(models, torch)
    notes = Notes()
    with notes.taken(_methods_to_note(file.stem, models, torch)):
        program.train_step(models, np.random.default_rng(0))
    return list(notes.calls.values())


def _methods_to_note(name: str, models: Any, torch: Any) -> list[tuple[type, str]]:
    classes = {type(module) for module in models.modules()}
    of_models = [(cls, method) for cls in classes for method in METHODS.get(name, []) if method in vars(cls)]
    return [(torch.nn.Module, "__call__"), *of_models]


class Notes:
    """The calls noted so far, by module and method."""

    def __init__(self) -> None:
        self.calls: dict[tuple[int, str], Call] = {}
        self._depth = 0

    @contextmanager
    def taken(self, methods: list[tuple[type, str]]) -> Iterator[None]:
        """Inside, these methods are noted before they run."""
        originals = [(cls, name, vars(cls)[name]) for cls, name in methods]
        for cls, name, original in originals:
            setattr(cls, name, self._noting(original, "" if name == "__call__" else name))
        try:
            yield
        finally:
            for cls, name, original in originals:
                setattr(cls, name, original)

    def _noting(self, original: Callable[..., Any], method: str) -> Callable[..., Any]:
        @functools.wraps(original)
        def noted(module: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._depth and (id(module), method) not in self.calls:
                self.calls[id(module), method] = Call(module, method, _copied(args), _copied(kwargs))
            self._depth += 1
            try:
                return original(module, *args, **kwargs)
            finally:
                self._depth -= 1

        return noted


def _copied(value: Any) -> Any:
    """Arguments as they are now, without history."""
    if isinstance(value, (list, tuple)):
        items = [_copied(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.detach().clone().requires_grad_(value.requires_grad) if hasattr(value, "detach") else value


def loss_of(outputs: Any) -> Any:
    """A number made of every floating-point tensor among the outputs."""
    tensors = [tensor for tensor in flatten(outputs) if hasattr(tensor, "is_floating_point")]
    return sum((tensor.abs() ** 2).mean() for tensor in tensors if tensor.is_floating_point() or tensor.is_complex())
