"""The one error of every file that load() can't read, or won't: damaged, of another kind, or one that asks for code.

It is an UnpicklingError, a RuntimeError, a ValueError and an EOFError at once, so that programs which catch what
torch.load and the readers of safetensors raise for such files catch it too.

>>> issubclass(UnreadableFileError, (pickle.UnpicklingError, RuntimeError)), issubclass(UnreadableFileError, ValueError)
(True, True)
"""

from __future__ import annotations

import pickle

# How much more memory than the file has bytes reading it may take. Tensors take what the file has of them, so this is
# what is left for the rest: names, numbers and containers, which are larger in memory than in a file.
MEMORY_ABOVE_SIZE = 64 << 20

# What Python's types raise when they are made of what does not fit.
MISFITS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)


class UnreadableFileError(pickle.UnpicklingError, RuntimeError, ValueError, EOFError):
    """A file that load() can't read, or won't."""


def refuse(what: str) -> UnreadableFileError:
    """The error, to be raised."""
    return UnreadableFileError(f"load: {what}")
