"""JSON from a file: each name once, numbers that are numbers, and no more memory than a budget has.

>>> parse('{"a": [1, 2]}', MemoryBudget(100), "header")
{'a': [1, 2]}
>>> parse('{"a": 1, "a": 2}', MemoryBudget(100), "header")
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: the file's header has two entries named 'a'
"""

from __future__ import annotations

import json
from typing import Any

from minitorch_compile.serialization.memory_budget import CONTAINER, NUMBER, PER_ITEM, TEXT, MemoryBudget
from minitorch_compile.serialization.unreadable_file import refuse


def parse(text: str, budget: MemoryBudget, what: str) -> Any:
    """The value. UnreadableFileError for what is no JSON, or would take too much memory."""
    budget.spend(estimated_memory(text))

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise refuse(f"the file's {what} has two entries named {twice[:100]!r}")
        return result

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (json.JSONDecodeError, RecursionError) as error:
        raise refuse(f"not a safetensors file: its {what} is not JSON ({error})") from None
    except ValueError as error:  # a number of too many digits
        if isinstance(error, RuntimeError):  # our own
            raise
        raise refuse(f"the file's {what} has a number that is none ({error})") from None


def estimated_memory(text: str) -> int:
    """What a JSON text takes when it is parsed; rather too much than too little."""
    containers = text.count("[") + text.count("{")
    return CONTAINER * containers + (PER_ITEM + NUMBER) * text.count(",") + TEXT * text.count('"') // 2
