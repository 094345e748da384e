"""Runs a random program, plain or compiled, several times in a world of its own, and notes all that it does.

A program is called with the same arguments again, with others, and with arguments that are aliases of one another, so
that guards and recompilation are put to use. Afterwards what it gave is used: gradients flow back, generators are
finished, functions are called.
"""

from __future__ import annotations

import contextlib
import gc
import io
import linecache
import random
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

import minitorch_compile as torch
from minitorch_compile.aot import aot_eager
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager
from minitorch_compile.dynamo.testing.canonical_form import ITERATORS, Canonicalizer
from tests.dynamo.fuzz.changes import CHANGES, undone
from tests.dynamo.fuzz.class_world import CLASS_WORLD
from tests.dynamo.fuzz.world import BETWEEN, CALLS, CLASS_CALLS, WORLD

ARGUMENTS = ("x", "y", "n", "items", "box", "opts")
CACHES = ("describe",)  # `singledispatch` remembers the classes that anybody asked it for
CALL_COUNT = 4
SECONDS = {True: 20.0, False: 1.0}  # of computing, for the compiled and the plain run
BACKENDS = {"eager": eager, "aot_eager": aot_eager}
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
OWN_WARNING = "[MTC-"  # of the compiler about itself
NOTE = "While executing"  # which node of the graph raised: where autograd refuses a write, plain code isn't asked again
MISTAKE = "This is a mistake of the compiler"


def set_garbage_aside() -> None:
    """What is alive now is not looked through again: a run looks at the world after collecting garbage, eight times."""
    gc.collect()
    gc.freeze()


class NoProgram(BaseException):
    """The text defines no function f, or the program does not end."""


@dataclass(frozen=True)
class Call:
    """What one call did, as comparable values, each under a name."""

    seen: dict[str, Any]


def backend_of(seed: int) -> str:
    """One program in five goes through ahead-of-time autograd."""
    return "aot_eager" if seed % 5 == 4 else "eager"


def run(source: str, seed: int, backend: str | None) -> list[Call]:
    """All calls of a program in a fresh world; plain if `backend` is None. NoProgram if they don't end."""
    torch.manual_seed(0)
    random.seed(0)
    filename = f"<program {seed}>"
    world: dict[str, Any] = {"__name__": "user"}
    text = WORLD + (CLASS_WORLD if source.lstrip().startswith(BETWEEN) else "") + source
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    with warnings.catch_warnings(), torch.enable_grad(), undone() as tools, _ends_within(SECONDS[backend is not None]):
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, filename, "exec", dont_inherit=True), world)
        except Exception as error:
            raise NoProgram from error
        if not isinstance(world.get("f"), FunctionType):
            raise NoProgram
        function = world["f"] if backend is None else optimize(world["f"], BACKENDS[backend])
        if BETWEEN in world:
            return _changing_calls(function, world, seed, filename, tools)
        return _calls(function, world, seed, filename)


def _changing_calls(
    function: Callable[..., Any], world: dict[str, Any], seed: int, filename: str, tools: dict[str, Any]
) -> list[Call]:
    """With changes before each call but the first. Two of three calls get the very same objects as the one before."""
    calls = []
    classes = tuple(value for value in world.values() if isinstance(value, type) and value.__module__ == "user")
    ways = CALLS + CLASS_CALLS
    arguments = eval(ways[seed % len(ways)], world)
    before = world.pop(BETWEEN)
    for number, names in enumerate(before if isinstance(before, list) else []):
        observer = _Observer(filename, versions=seed % 5 != 4)
        if number and (seed + number) % 3 == 0:
            with contextlib.suppress(Exception):  # where changed classes make no more instances, the old ones go on
                arguments = eval(ways[(seed + number) % len(ways)], world)
        for name in names if isinstance(names, list) else []:
            observer.change(name, world, dict(zip(ARGUMENTS, arguments)) | tools)
        result = observer.call(function, arguments)
        observer.look(classes, arguments, result, world, "")
        observer.use(result, arguments, (seed + number) % 3)
        calls.append(Call(observer.seen))
    return calls


def _calls(function: Callable[..., Any], world: dict[str, Any], seed: int, filename: str) -> list[Call]:
    calls = []
    arguments: tuple[Any, ...] = ()
    classes = tuple(value for value in world.values() if isinstance(value, type) and value.__module__ == "user")
    versions = seed % 5 != 4
    for number in range(CALL_COUNT):
        if number != 1:  # the second call gets the very same objects
            arguments = eval(CALLS[(seed + number // 2) % len(CALLS)], world)
        observer = _Observer(filename, versions)
        result = observer.call(function, arguments)
        observer.look(classes, arguments, result, world, "")
        observer.use(result, arguments, (seed + number) % 3)
        observer.look(classes, arguments, result, world, " after use")
        calls.append(Call(observer.seen))
    return calls


class _Observer:
    """Makes one call and notes what can be seen of it."""

    def __init__(self, filename: str, versions: bool) -> None:
        self.filename = filename
        self.versions = versions
        self.seen: dict[str, Any] = {}

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                result = function(*arguments)
            except (Exception, BaseExceptionGroup) as error:  # exceptions are behaviour, too
                result = error
                self.seen["raised"] = _message(error)
                _let_go_of_frames(error)
                if str(getattr(error, "__notes__", [""])[0]).startswith(NOTE):
                    del error.__notes__
        self.seen["printed"] = ADDRESS.sub("", printed.getvalue())
        shown = [w for w in warned if OWN_WARNING not in str(w.message)]
        if any(MISTAKE in str(w.message) for w in shown):
            self.seen["raised"] = ("InternalTracerError", str(shown[0].message))
        self.seen["warnings"] = [(w.category.__name__, str(w.message), w.filename, w.lineno) for w in shown]
        return result

    def change(self, name: str, world: dict[str, Any], known: dict[str, Any]) -> None:
        """Something in the world changes, by a statement that knows the arguments of the last call."""
        world.update(known)
        try:
            exec(CHANGES.get(name, "pass"), world)
        except Exception as error:
            self.seen[f"change: {name}"] = _message(error)
        finally:
            for each in known:
                world.pop(each, None)

    def look(
        self, classes: tuple[type, ...], arguments: Any, result: Any, world: dict[str, Any], when: str = ""
    ) -> None:
        """The canonical form of everything that the program can reach, and the random states."""
        gc.collect()
        forms = Canonicalizer(classes, self.versions)
        state = {k: v for k, v in world.items() if not isinstance(v, ModuleType) and k[:2] != "__" and k not in CACHES}
        for name, value in {"result": result, "arguments": arguments, "globals": list(state.items())}.items():
            self.seen[name + when] = forms.form_of(value)
        self.seen["random" + when] = hash(random.getstate()), torch.random.default_generator.position()
        self.seen["grad mode" + when] = torch.is_grad_enabled()

    def use(self, result: Any, arguments: tuple[Any, ...], how: int) -> None:
        """What a caller does with a result: 1 follows the gradients back, 2 writes to an argument before."""
        values = result if isinstance(result, tuple) else (result,)
        for position, value in enumerate(values):
            self._attempt(f"use of {position}", lambda value=value: _used(value))
        if how == 2:
            self._attempt("write", lambda: _written(arguments[0]))
        if how:
            self._attempt("backward", lambda: _backward(values))

    def _attempt(self, name: str, action: Callable[[], Any]) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                self.seen[name] = Canonicalizer().form_of(action())
            except Exception as error:
                self.seen[name] = _message(error)
        self.seen[f"{name} printed"] = ADDRESS.sub("", printed.getvalue())


def _let_go_of_frames(error: BaseException) -> None:
    """Tracebacks, also those of the exceptions that were handled meanwhile, hold on to the frames of the program."""
    waiting: list[BaseException | None] = [error]
    known: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in known:
            known.add(id(one))
            one.__traceback__ = None
            waiting += [one.__context__, one.__cause__, *getattr(one, "exceptions", ())]


def _message(error: Exception) -> tuple[str, str]:
    """Class and first line, without the addresses of objects."""
    return type(error).__name__, ADDRESS.sub("", str(error).partition("\n")[0])


def _used(value: Any) -> Any:
    """Iterators are emptied, functions called; anything else just lies there."""
    if isinstance(value, (GeneratorType, *ITERATORS)):
        return [item for item, _ in zip(value, range(5))]
    if isinstance(value, FunctionType):
        return value(torch.ones(2, 2))
    return None


def _written(x: torch.Tensor) -> None:
    with torch.no_grad():
        x.add_(1)


def _backward(values: tuple[Any, ...]) -> None:
    """From the results that were computed, or from those that are leaves. Not from both: in which order three parts of
    a leaf's gradient are added up is not the same where two of them come out of one compiled graph."""
    tensors = [v for v in values if isinstance(v, torch.Tensor) and v.requires_grad and v.is_floating_point()]
    tensors = [v for v in tensors if not v.is_leaf] or tensors
    if tensors:
        sum(x.sum() for x in tensors).backward()


@contextlib.contextmanager
def _ends_within(seconds: float) -> Iterator[None]:
    """NoProgram after so much computing, also where the program's own `finally` puts another exception in its place."""
    late = False

    def stop(_signal: int, frame: FrameType | None) -> None:
        nonlocal late
        late = True
        if frame is None or frame.f_code.co_name != "gc_callback":  # of hypothesis: what is raised there reaches nobody
            raise NoProgram

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.25)  # again, if it wasn't raised, or a __del__ swallows it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    if late:
        raise NoProgram
