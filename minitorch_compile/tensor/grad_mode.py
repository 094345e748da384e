"""Whether operations are recorded for differentiation right now: a per-thread switch with context managers around it.

>>> with no_grad():
...     is_grad_enabled()
False
>>> is_grad_enabled()
True
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any


class _GradState(threading.local):
    enabled: bool = True
    recording: bool = False  # while the tape runs an operation that it records: below it, grad mode is off
    inference: bool = False  # what inference_mode.py switches


state = _GradState()


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require grad are recorded in this thread."""
    return state.enabled


class GradMode:
    """A context manager, and a decorator, that sets the switch and puts the old value back. May be entered
    repeatedly."""

    mode: bool

    def __init__(self) -> None:
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(state.enabled)
        state.enabled = self.mode

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.enabled = self._previous.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function):
            return self._generator_in_grad_mode(function)

        @functools.wraps(function)
        def in_grad_mode(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return in_grad_mode

    def _generator_in_grad_mode(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A generator function whose body runs in this mode, while the code between its values runs in its own."""

        @functools.wraps(function)
        def in_grad_mode(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            resume = functools.partial(generator.send, None)
            try:
                while True:
                    with self.clone():
                        value = resume()
                    try:
                        resume = functools.partial(generator.send, (yield value))
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:  # noqa: BLE001 - it is thrown on, into the generator
                        resume = functools.partial(generator.throw, error)
            except StopIteration as end:
                return end.value

        return in_grad_mode

    def clone(self) -> GradMode:
        return type(self)()


class no_grad(GradMode):
    """Inside, nothing is recorded and results don't require grad. It is used in `with torch.no_grad():`;
    `@torch.no_grad` and `@torch.no_grad()` both decorate a function.

    >>> w = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     (2 * w).requires_grad
    False
    """

    mode = False

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        instance = super().__new__(cls)
        if orig_func is None:
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(orig_func)

    def __init__(self, orig_func: Callable[..., Any] | None = None) -> None:
        super().__init__()


no_grad.__signature__ = inspect.Signature()  # type: ignore[attr-defined]  # that @no_grad decorates, too, is not said


class enable_grad(no_grad):
    """Inside, operations are recorded again, even within no_grad. As a decorator, `orig_func` is what it decorates.

    >>> w = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     (2 * w).requires_grad
    True
    """

    mode = True
    __signature__ = inspect.Signature(
        [inspect.Parameter("orig_func", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
    )


class set_grad_enabled(GradMode):
    """Sets whether operations are recorded to `mode`, at once, as PyTorch does; used in a with-statement it is put back
    at the end.

    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._before = state.enabled
        state.enabled = self.mode

    def __enter__(self) -> None:
        self._previous.append(self._before)
        state.enabled = self.mode

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        state.enabled = self._before  # it is about the function, not about what follows
        return super().__call__(function)

    def clone(self) -> set_grad_enabled:
        fresh = set_grad_enabled(self.mode)
        state.enabled = fresh._before
        return fresh
