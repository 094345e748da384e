"""Programs for the hook: given as text, since functions of this package are not captured.

>>> program_of("def double(x):\\n    return x * 2\\n")["double"](3)
6
"""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch


def program_of(text: str) -> dict[str, Any]:
    """The names that the text defines; `torch` is there already."""
    names: dict[str, Any] = {"__name__": "a_program", "torch": torch}
    exec(compile(text, "<a program>", "exec"), names)
    return names
