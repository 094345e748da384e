"""What the steps of `mini/breaks.py` are judged with: frames, guards that know some values, a trace made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def guards_of(mini: Any, **values: Any) -> tuple[Any, dict[str, Any]]:
    """The guards of a trace that has read these local variables, and what it uses for each."""
    guards = mini.guards.Guards()

    def make_input(source: Any, tensor: Any) -> Any:
        return mini.tensor.fake(tensor.sizes, tensor.dtype)

    return guards, {n: guards.read(mini.guards.local(n), v, make_input) for n, v in values.items()}


def copy_of(mini: Any, guards: Any, frame: Any) -> Any:
    """A Copy whose graph gives the text 'result 0' for the first fake that is asked for, and so on."""
    asked: list[Any] = []

    def result_of(fake: Any) -> str:
        asked.append(fake)
        return f"result {len(asked) - 1}"

    return mini.breaks.Copy(guards, frame, result_of)


def trace_of(guards: Any, **state: Any) -> Any:
    """A trace that has ended, with what State asks for."""
    known = {"changed": {}, "attributes": {}, "locals": {}, "stack": [], "at": 0, "outcome": None, **state}
    end = SimpleNamespace(**{name: known[name] for name in ("locals", "stack", "at", "outcome")})
    return SimpleNamespace(guards=guards, changed=known["changed"], attributes=known["attributes"], frame=end)
