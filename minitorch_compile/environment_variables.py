"""The environment variables that the package reads: what each may hold, and what holds instead of anything else.

A program must not fail because of a word in the shell that started it. So a value that can't be used names itself, once
a process, in a warning, and the default is used.

>>> import warnings
>>> one_to_nine = whole_number(1, 9)
>>> friends = EnvironmentVariable("MTC_FRIENDS", "a whole number from 1 to 9", one_to_nine, 7, "7", "How many friends.")
>>> os.environ["MTC_FRIENDS"] = "many"
>>> with warnings.catch_warnings(record=True) as told:
...     warnings.simplefilter("always")
...     friends.value(), friends.value()
(7, 7)
>>> print(*(warning.message for warning in told))
MTC_FRIENDS='many' is not used: it can be a whole number from 1 to 9. Used instead: 7.
>>> os.environ["MTC_FRIENDS"] = "3"
>>> friends.value()
3
>>> del os.environ["MTC_FRIENDS"]
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minitorch_compile.user_warnings import warn_user


@dataclass(frozen=True)
class EnvironmentVariable:
    """`read` makes a value of the text, or raises ValueError; `otherwise` says in words what `default` means."""

    name: str
    allowed: str
    read: Callable[[str], Any]
    default: Any
    otherwise: str
    text: str

    def value(self) -> Any:
        """What is set, read anew at each call; the default where nothing is set, or nothing that can be used."""
        given = os.environ.get(self.name, "").strip()
        if not given:
            return self.default
        try:
            return self.read(given)
        except ValueError:
            report_wrong(self.name, given, self.allowed, self.otherwise)
            return self.default


_reported: set[tuple[str, str]] = set()


def report_wrong(name: str, given: str, allowed: str, instead: str) -> None:
    """Warns that (this part of) a variable's value isn't used; only once for each value."""
    if (name, given) not in _reported:
        _reported.add((name, given))
        warn_user(f"{name}={_shortened(given)} is not used: it can be {allowed}. Used instead: {instead}.")


def _shortened(text: str) -> str:
    return repr(text) if len(text) <= 80 else f"{text[:80]!r}... ({len(text)} characters)"


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Reads digits; anything else, and numbers outside these bounds, are a ValueError."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 40 and least <= int(text) <= most):
            raise ValueError(text)
        return int(text)

    return read


def one_of(*words: str) -> Callable[[str], str]:
    """Reads one of these words; anything else is a ValueError."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return read


def switch(text: str) -> bool:
    """0 or 1; anything else is a ValueError."""
    return bool(whole_number(0, 1)(text))


CACHE_DIR = EnvironmentVariable(
    "MTC_CACHE_DIR",
    "a path",
    os.path.expanduser,
    None,
    "minitorch_compile in the user's cache folder",
    "The folder in which compiled kernels are kept.",
)
CACHE_BYTES = EnvironmentVariable(
    "MTC_CACHE_BYTES",
    "a whole number of bytes (0: no limit)",
    whole_number(0, 1 << 62),
    1 << 30,
    "1073741824",
    "The most bytes that this folder holds; 0: any number.",
)
COMPILE_THREADS = EnvironmentVariable(
    "MTC_COMPILE_THREADS",
    "a whole number from 1 to 1024",
    whole_number(1, 1024),
    None,
    "the processors",
    "How many processes compile the kernels of a large graph; 1: this one alone.",
)
KEEP_MEMORY = EnvironmentVariable(
    "MTC_KEEP_MEMORY", "0 or 1", switch, True, "1", "0: freed memory goes back to the system, not to the next tensor."
)
PROGRESS = EnvironmentVariable(
    "MTC_PROGRESS", "0 or 1", switch, True, "1", "0: a compilation that takes long doesn't say so."
)
NO_CUDA_MEMORY_CACHING = EnvironmentVariable(
    "MTC_NO_CUDA_MEMORY_CACHING", "0 or 1", switch, False, "0", "1: freed GPU memory goes back to the driver at once."
)
CUDA_SANITIZER = EnvironmentVariable(
    "MTC_CUDA_SANITIZER", "0 or 1", switch, False, "0", "1: work on GPU streams that nothing orders is reported."
)
CUDA_SIM = EnvironmentVariable(
    "MTC_CUDA_SIM", "a whole number from 0 to 8", whole_number(0, 8), 0, "0", "So many GPUs are simulated on the CPU."
)
EAGER_KERNELS = EnvironmentVariable(
    "MTC_EAGER_KERNELS",
    "on, on_disk or off",
    one_of("on", "on_disk", "off"),
    "on",
    "on",
    "Large eager operations run on kernels: on, made when missing; on_disk, if they are there; off, by NumPy.",
)
CUDA = (NO_CUDA_MEMORY_CACHING, CUDA_SANITIZER, CUDA_SIM)  # read only where tensors are on a GPU
VARIABLES = (CACHE_DIR, CACHE_BYTES, COMPILE_THREADS, EAGER_KERNELS, KEEP_MEMORY, PROGRESS, *CUDA)


def without_wrong_values() -> dict[str, str]:
    """The environment for a process that is started: what this process has reported isn't reported there again."""
    wrong = {name for name, given in _reported if given in os.environ.get(name, "")}
    return {name: value for name, value in os.environ.items() if name not in wrong}
