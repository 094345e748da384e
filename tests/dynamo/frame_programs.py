"""Programs that look at frames: generators' own, tracebacks, `sys._getframe`, warnings. For interpreters of bytecode; a
compiled function has other frames."""

import inspect
import sys
import traceback
import types
import warnings


def _inner(c):
    yield c


def _counting(a):
    b = a + 1
    got = yield b
    yield from _inner(got)
    return 5


def a_generators_frame():
    made = _counting(1)
    first = _counting.__code__.co_firstlineno
    seen = [made.gi_code is _counting.__code__, made.gi_frame.f_lineno - first, dict(made.gi_frame.f_locals)]
    next(made)
    seen += [made.gi_frame.f_lineno - first, dict(made.gi_frame.f_locals), made.gi_frame.f_back, made.gi_yieldfrom]
    made.send(4)
    seen += [
        made.gi_yieldfrom.gi_code.co_name,
        made.gi_frame.f_code.co_name,
        getattr(made, "gi_frame").f_lineno - first,
    ]
    return [*seen, list(made), made.gi_frame, made.gi_yieldfrom]


def a_generators_state():
    made = _counting(1)
    states = [inspect.getgeneratorstate(made), dict(inspect.getgeneratorlocals(made))]
    next(made)
    states += [inspect.getgeneratorstate(made), dict(inspect.getgeneratorlocals(made)), made.gi_running]
    made.close()
    return [*states, inspect.getgeneratorstate(made), dict(inspect.getgeneratorlocals(made))]


def a_generator_looks_at_itself():
    def looks():
        yield (
            made.gi_running,
            made.gi_frame.f_lineno - looks.__code__.co_firstlineno,
            made.gi_frame.f_back.f_code.co_name,
        )

    made = looks()
    return next(made)


def a_generator_is_a_generator():
    made = _counting(1)
    made.__name__ = "other"
    known = isinstance(made, types.GeneratorType), type(made).__name__, inspect.isgenerator(made)
    return *known, made.__name__, made.__qualname__, made == made, repr(made)[:17]


def a_generator_is_finalised():
    log = []

    def closes():
        try:
            yield 1
        finally:
            log.append("end")

    made = closes()
    next(made)
    del made
    return log


def _lines(error):
    return [(entry.name, entry.line) for entry in traceback.extract_tb(error.__traceback__)]


def _fails(x):
    y = (
        x
        / 0
    )  # fmt: skip
    return y


def a_traceback_shows_the_lines():
    try:
        _fails(1)
    except ZeroDivisionError as error:
        return _lines(error), traceback.format_exc()


def a_traceback_goes_through_generators_and_with():
    def yields():
        with open(__file__):
            yield _fails(2)

    try:
        list(yields())
    except ZeroDivisionError as error:
        return _lines(error)


def raising_again_adds_no_line():
    def again():
        try:
            _fails(3)
        except ZeroDivisionError:
            len("")
            raise

    def anew():
        try:
            again()
        except ZeroDivisionError as error:
            raise error

    try:
        anew()
    except ZeroDivisionError as error:
        return _lines(error)


def the_lines_of_frames_in_a_traceback():
    def f():
        try:
            raise ValueError
        finally:
            len("cleaning")

    try:
        f()
    except ValueError as error:
        frame = error.__traceback__.tb_next.tb_frame
        return frame.f_lineno - f.__code__.co_firstlineno, sorted(frame.f_locals), frame.f_code.co_name


def frames_by_depth():
    def inner():
        here, above = sys._getframe(), sys._getframe(1)
        return here.f_code.co_name, above.f_code.co_name, here.f_back.f_code.co_name, above.f_locals["secret"]

    def outer():
        secret = 7
        return inner() if secret else None

    line = inspect.currentframe().f_lineno - frames_by_depth.__code__.co_firstlineno
    return outer(), line, sys._getframe().f_globals is globals()


def warnings_name_the_caller():
    def old():
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        warnings.warn("plain")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        old()
    first = warnings_name_the_caller.__code__.co_firstlineno
    return [(w.category, str(w.message), w.lineno - first, w.filename == __file__) for w in caught]


def a_class_body_is_a_frame():
    class Shown:
        name = sys._getframe().f_code.co_name
        seen = sorted(key for key in sys._getframe().f_locals if not key.startswith("_"))

    return Shown.name, Shown.seen


@types.coroutine
def _suspend(value):
    return (yield value)


def what_a_coroutine_waits_for():
    async def inner():
        return await _suspend("inner")

    async def outer():
        return await inner() + 1

    waiting = outer()
    seen = [waiting.cr_await, inspect.getcoroutinestate(waiting), waiting.cr_running]
    seen += [waiting.send(None), waiting.cr_await.cr_code.co_name, inspect.getcoroutinestate(waiting)]
    seen += [waiting.cr_code is outer.__code__, waiting.cr_frame.f_lineno - outer.__code__.co_firstlineno]
    try:
        waiting.send(4)
    except StopIteration as stop:
        seen.append(stop.value)
    return [*seen, waiting.cr_frame, inspect.iscoroutine(waiting), type(waiting).__name__]
