"""Which files the learner's code may read: Python's, the system's and the package's; never the course's answers.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as name:
...     top = Path(name).resolve()
...     for folder in ("a/b", "a/c", "d"):
...         (top / folder).mkdir(parents=True)
...     [path.relative_to(top).as_posix() for path in without(top, [top / "a/c"])]
['a/b', 'd']
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import minitorch_compile

SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/proc", "/sys", "/nix", "/run/current-system")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
ANSWERS = ("authoring", "solutions", "exercises", "work", "tests", "tools", ".git", "build")
_others: tuple[Path, ...] = ()


@contextmanager
def hiding(*folders: Path) -> Iterator[None]:
    """These can't be read either, wherever they lie: what a class hands in, and its results; never the course."""
    global _others
    closed = (folder.resolve() for folder in folders)
    before, _others = _others, (*_others, *(folder for folder in closed if not holds_course(folder)))
    try:
        yield
    finally:
        _others = before


def holds_course(folder: Path) -> bool:
    """Whether the course lies in it, so that it can't be hidden as a whole."""
    return course().is_relative_to(folder.resolve())


def others() -> tuple[Path, ...]:
    """What is hidden besides the answers."""
    return _others


def hidden() -> list[Path]:
    """The answers, and the others."""
    return [*(course() / name for name in ANSWERS), *_others]


def course() -> Path:
    """The checkout that the package lies in."""
    return Path(minitorch_compile.__file__).resolve().parent.parent


def readable() -> list[Path]:
    """What can be read and run, with nothing of the answers in it."""
    package = course() / "minitorch_compile"
    outside = [path for path in map(Path, filter(None, sys.path)) if path.resolve() != course()]
    found = [
        place
        for path in dict.fromkeys([package, *map(Path, SYSTEM), *environments(), *outside])
        if path.exists()
        for place in without(path.resolve(), hidden())
    ]
    return [*found, *(path for path in environments() if path not in found and is_hidden(path))]


def environments() -> list[Path]:
    """The folders of this Python, which may lie in one that is hidden: course-check makes its own in build/."""
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    return list(dict.fromkeys(Path(name).resolve() for name in prefixes))


def is_hidden(path: Path) -> bool:
    """Whether it lies among the answers."""
    return any(folder in path.parents for folder in hidden())


def without(folder: Path, hidden: Sequence[Path]) -> list[Path]:
    """The folder; or, if something hidden lies in it, all else that does."""
    if folder in hidden or any(each in folder.parents for each in hidden):
        return []
    if not any(folder in each.parents for each in hidden):
        return [folder]
    return [place for entry in _entries(folder) for place in without(entry, hidden)]


def _entries(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
