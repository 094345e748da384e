"""Runs the programs of the battery and keeps everything that can be seen of a run: value, output, exception."""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.dynamo import battery


@dataclass(frozen=True)
class Outcome:
    """What a run leaves behind. Two runs of the same program must leave the same."""

    value: str
    output: str
    error: str


def programs() -> list[types.FunctionType]:
    """Every program: the public functions without parameters of the battery's modules."""
    modules = [importlib.import_module(f"{battery.__name__}.{m.name}") for m in pkgutil.iter_modules(battery.__path__)]
    return [program for module in modules for program in programs_of(module)]


def programs_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    for name, value in vars(module).items():
        own = isinstance(value, types.FunctionType) and value.__module__ == module.__name__
        if own and not name.startswith("_") and value.__code__.co_argcount == 0:
            yield value


def program_id(program: types.FunctionType) -> str:
    return f"{program.__module__.rpartition('.')[2]}.{program.__name__}"


def observe(run: Callable[[], object]) -> Outcome:
    """Call `run` and note what it does."""
    output = io.StringIO()
    value = error = ""
    with contextlib.redirect_stdout(output):
        try:
            result = run()
            value = f"{type(result).__name__} {result!r}"
        except BaseException as caught:  # programs may raise anything, also SystemExit
            error = describe(caught)
    return Outcome(value, output.getvalue(), error)


def describe(error: BaseException | None) -> str:
    """Class and message of an exception and of those it was made from."""
    if error is None:
        return ""
    text = f"{type(error).__name__}({error})"
    links = ((" from ", error.__cause__), (" while ", error.__context__))
    return text + "".join(f"{word}[{describe(link)}]" for word, link in links if link is not None)
