"""The functions and classes that a pickle names, found without running it.

>>> import pickle
>>> from collections import OrderedDict
>>> sorted(names_in(pickle.dumps([OrderedDict, print], protocol=2)))
[('__builtin__', 'print'), ('collections', 'OrderedDict')]
>>> names_in(pickle.dumps(OrderedDict, protocol=4))
{('collections', 'OrderedDict')}
"""

from __future__ import annotations

import pickletools
from typing import Any

from minitorch_compile.serialization.unreadable_file import UnreadableFileError, refuse

PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
GETS = ("GET", "BINGET", "LONG_BINGET")


def names_in(pickled: bytes) -> set[tuple[str, str]]:
    """Pairs of a module and a name in it. UnreadableFileError for what is no pickle, or one in which a name is made
    while it runs."""
    found: set[tuple[str, str]] = set()
    last: list[Any] = []  # what the last instructions pushed: a text, or None for something else
    memo: dict[int, Any] = {}
    try:
        for opcode, argument, _ in pickletools.genops(pickled):
            if opcode.name in ("GLOBAL", "INST"):
                module, _, name = str(argument).partition(" ")
                found.add((module, name))
            elif opcode.name == "STACK_GLOBAL":
                if len(last) < 2 or None in last[-2:]:
                    raise refuse("the pickle makes a name while it runs")
                found.add((last[-2], last[-1]))
            if opcode.name in PUTS:
                memo[int(str(argument))] = last[-1] if last else None
            elif opcode.name == "MEMOIZE":
                memo[len(memo)] = last[-1] if last else None
            elif opcode.name in GETS:
                last.append(memo.get(int(str(argument))))
            elif opcode.name != "FRAME":
                last.append(argument if "UNICODE" in opcode.name else None)
    except UnreadableFileError:
        raise
    except (ValueError, IndexError) as error:
        raise refuse(f"the pickle is damaged: {error}") from None
    return found
