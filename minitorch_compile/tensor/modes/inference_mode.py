"""inference_mode: no_grad for good. What is computed inside can never take part in differentiation.

>>> from minitorch_compile.tensor import ones
>>> w = ones(2, requires_grad=True)
>>> with inference_mode():
...     y = w * 3
>>> y.requires_grad, is_inference(y), is_inference(y.clone())
(False, True, False)
>>> y * w
Traceback (most recent call last):
RuntimeError: Inference tensors cannot be saved for backward. ...

PyTorch saves the bookkeeping of views and versions in this mode. Here nothing is saved; the mode exists for its rules:
an inference tensor has no version counter, so neither may autograd keep it for the backward pass nor may it be written
to outside the mode. The mark is a version below zero in the storage, which views share. `torch.tensor` and `from_numpy`
give ordinary tensors in this mode too.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from minitorch_compile.tensor.dispatch.dispatch import contexts
from minitorch_compile.tensor.grad_mode import GradMode, state
from minitorch_compile.tensor.tensor_base import TensorBase


class inference_mode(GradMode):
    """Inside, nothing is recorded, and results are inference tensors. `inference_mode(False)` ends it for a block:
    `mode`.

    `@inference_mode` and `@inference_mode()` both decorate.

    >>> with torch.inference_mode():
    ...     torch.ones(1).is_inference()
    True
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        instance = super().__new__(cls)
        instance.__init__()  # type: ignore[misc]
        return instance(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.inference = mode
        self.mode = not mode
        self._outside: list[bool] = []

    def __enter__(self) -> None:
        self._outside.append(state.inference)
        contexts.append(self)
        super().__enter__()
        state.inference = self.inference

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        contexts.remove(self)
        state.inference = self._outside.pop()

    def clone(self) -> inference_mode:
        return inference_mode(self.inference)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside inference_mode."""
    return state.inference


def is_inference(input: TensorBase) -> bool:
    """Whether the tensor was computed in inference_mode."""
    return input.storage.is_inference
