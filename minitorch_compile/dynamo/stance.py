"""The stance: what compiled functions do about compiling, for a stretch of the running program.

>>> import minitorch_compile as torch
>>> counter = torch._dynamo.testing.CompileCounter()
>>> double = torch.compile(lambda x: x * 2, backend=counter)
>>> with torch.compiler.set_stance("force_eager"):
...     double(torch.ones(1)), counter.frame_count
(tensor([2.]), 0)
>>> double(torch.ones(1)), counter.frame_count
(tensor([2.]), 1)
>>> with torch.compiler.set_stance("fail_on_recompile"):
...     double(torch.ones(2))                                                             # doctest: +ELLIPSIS
Traceback (most recent call last):
RuntimeError: Detected recompile when torch.compile stance is 'fail_on_recompile'. filename: ...
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from minitorch_compile.control import forbid_in_graph

STANCES = {
    "default": "compile as usual",
    "force_eager": "run every compiled function as plain Python",
    "eager_on_recompile": "use what is compiled; where that does not fit, run plain Python",
    "fail_on_recompile": "use what is compiled; where that does not fit, raise an error",
    "eager_then_compile": "run the first call of each function as plain Python, and compile the next",
    "aot_eager_then_compile": "the same, here; PyTorch runs the first call on graphs that no kernels are made for",
}


LATER = ("eager_then_compile", "aot_eager_then_compile")


class _State:
    """The stance that holds now, for all threads. `on_change` lets compiled functions forget their short cuts."""

    stance = "force_eager" if os.environ.get("TORCHDYNAMO_DISABLE") == "1" else "default"
    on_change: Callable[[], None] = staticmethod(lambda: None)


state = _State()


@forbid_in_graph
class set_stance:
    """Changes the stance: for good, for a `with` block, or for the calls of a decorated function. Not within a compiled
    function: AssertionError.

    stance: a key of STANCES. ValueError for another.
    skip_guard_eval_unsafe: PyTorch then leaves guards out; here they are asked all the same, which gives the same.
    force_backend: PyTorch then compiles with another backend. RuntimeError: say so in compile(backend=...).
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if force_backend is not None:
            raise RuntimeError("set_stance: force_backend is not offered; give the backend to compile(backend=...)")
        if stance not in STANCES:
            raise ValueError(f"set_stance: no stance {stance!r}. Choose one of: {', '.join(STANCES)}.")
        self.stance = stance
        self.before = state.stance
        _change(stance)

    def __enter__(self) -> None:
        _change(self.stance)

    def __exit__(self, *exception: object) -> None:
        _change(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _change(self.before)  # only the calls are meant

        @forbid_in_graph
        @functools.wraps(function)
        def with_stance(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return function(*args, **kwargs)

        return with_stance


def _change(stance: str) -> None:
    if stance != state.stance:
        state.stance = stance
        state.on_change()


def compiles(code: CodeType, is_first_call: bool, failures: Callable[[], Sequence[object]]) -> bool:
    """Whether a function that has no version for its arguments may be compiled. RuntimeError if that is an error: it
    names the `failures`, the guard of each version that does not hold."""
    if state.stance in LATER:
        return not is_first_call
    if state.stance == "fail_on_recompile":
        reasons = "".join(f"\n    - {failed}" for failed in reversed(failures()))
        raise RuntimeError(
            f"Detected recompile when torch.compile stance is 'fail_on_recompile'. filename: '{code.co_filename}',"
            f" function name: '{code.co_name}', line number: {code.co_firstlineno}"
            + (f"\n    triggered by the following guard failure(s):{reasons}" if reasons else "")
        )
    return state.stance == "default"
