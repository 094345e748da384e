"""Breaks inside loops, with, try, except, finally, comprehensions, generators: the function is split there, too."""

import contextlib
import sys
import traceback
import warnings

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import disable, graph_break, optimize, region_of
from minitorch_compile.dynamo.testing import CompileCounter, eager
from minitorch_compile.dynamo.testing.comparing import behaviour
from tests.dynamo.compiled import matrix


class Manager:
    """Writes down how it is entered and left."""

    def __init__(self, log, swallows=False):
        self.log = log
        self.swallows = swallows

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(("exit", kind and kind.__name__, error and error.args, trace is not None))
        return self.swallows


@contextlib.contextmanager
def managed(log, swallows=False):
    log.append("enter")
    try:
        yield len(log)
    except ValueError as error:
        log.append(error.args)
        if not swallows:
            raise
    finally:
        log.append("exit")


@disable
def fail(*args):
    raise ValueError(*args)


def same(function, *more, calls=3):
    """Plain and compiled do the same; the counter says what was captured."""
    counter = CompileCounter()
    compiled = optimize(function, counter)
    for _ in range(calls):
        assert behaviour(compiled, (matrix(), [], *more)) == behaviour(function, (matrix(), [], *more))
    plain = [b for b in region_of(compiled).breaks if "plain Python" in b.continuation]
    assert plain == []
    return counter


# --- what PyTorch 2.13 leaves to Python as a whole (no graph) ---------------------------------------------------------


def in_for(x, log):
    x = x + 1
    for i in range(3):
        x = x * 2
        graph_break()
        x = x + i
    return x - 1


def in_for_over_a_list(x, log):
    items = [1, 2, 3]
    for i in items:
        x = x * 2
        graph_break()
        log.append(i)
        if i == 2:
            items.append(7)
    return x - 1


def in_while(x, log):
    i = 0
    while i < 3:
        x = x * 2
        graph_break()
        i += 1
    else:
        x = x + 100
    return x - 1


def in_a_loop_with_continue_and_break(x, log):
    for i in range(10):
        if i == 1:
            continue
        x = x * 2
        graph_break()
        if i == 3:
            break
    return x - 1


def in_nested_loops(x, log):
    for i in range(2):
        for key, value in {"a": 1, "b": 2}.items():
            x = x * value
            graph_break()
            log.append((i, key))
    return x - 1


def in_enumerate_and_zip(x, log):
    for i, (a, b) in enumerate(zip("ab", (3, 4), strict=True)):
        x = x * b
        graph_break()
        log.append((i, a, b))
    return x - 1


def in_map_and_filter(x, log):
    for i in map(lambda n: n + 1, filter(None, reversed([1, 0, 2]))):
        x = x * i
        graph_break()
        log.append(i)
    return x - 1


def over_rows(x, log):
    total = 0
    for row in x + 1:
        total = total + row * 2
        graph_break()
    return total - 1


def in_a_users_manager(x, log):
    x = x + 1
    with Manager(log) as manager:
        x = x * 2
        graph_break()
        x = x * 3
    return x - 1, manager


def in_a_generators_manager(x, log):
    with managed(log) as k:
        x = x * 2
        graph_break()
        x = x + k
    return x - 1


def in_two_managers(x, log):
    with torch.no_grad(), Manager(log) as first, managed(log):
        x = x * 2
        graph_break()
        x = x * 3
    return x, first, torch.is_grad_enabled()


def in_try(x, log):
    try:
        x = x * 2
        graph_break()
        x = x * 3
    except ValueError:
        x = x + 5
    else:
        x = x + 7
    return x - 1


def in_try_finally(x, log):
    try:
        x = x * 2
        graph_break()
        return x * 3
    finally:
        log.append("finally")
        x = x + 5


def in_except(x, log):
    x = x + 1
    try:
        x = x * 2
        raise ValueError("traced")
    except ValueError as error:
        x = x * 3
        graph_break()
        log.append((error.args, traceback.extract_tb(error.__traceback__)[-1].line, repr(sys.exc_info()[1])))
        x = x + 5
    return x - 1


def in_except_of_a_callee(x, log):
    def look_up(table, key):
        return table[key] * 2

    for key in ("a", "b"):
        try:
            y = look_up({"a": x}, key)
        except KeyError as error:
            disable(log.append)((error.args, repr(error.__context__)))
            y = x * 7
        x = x + y
    return x


def in_generator(x, log):
    def parts():
        for i in range(3):
            yield x * i
            graph_break()
            log.append(i)

    total = 0
    for part in parts():
        total = total + part
    return total - 1


def escaping_generator(x, log):
    y = x + 1
    return (y * i for i in range(3)), y


LEFT_ALONE_BY_PYTORCH = (
    in_for, in_for_over_a_list, in_while, in_a_loop_with_continue_and_break, in_nested_loops, in_enumerate_and_zip,
    in_map_and_filter, over_rows, in_a_users_manager, in_a_generators_manager, in_two_managers, in_try, in_try_finally,
    in_except, in_except_of_a_callee,
    in_generator, escaping_generator,
)  # fmt: skip


@pytest.mark.parametrize("function", LEFT_ALONE_BY_PYTORCH, ids=lambda function: function.__name__)
def test_a_break_inside_a_block_splits_the_function(function):
    assert same(function).frame_count >= 1


# --- where PyTorch 2.13 splits, too: as many graphs and operations ----------------------------------------------------


def data_dependent_while(x, log):
    x = x + 1
    while x.sum() < 100:
        x = x * 2
    return x - 1


def in_finally(x, log):
    x = x + 1
    try:
        x = x * 2
    finally:
        x = x * 3
        graph_break()
        x = x + 5
    return x - 1


def callee(x):
    x = x * 2
    graph_break()
    return x * 3


def middle(x):
    return callee(x * 5) * 7


def in_callee(x, log):
    return callee(x + 1) - 1


def in_callee_of_callee(x, log):
    return middle(x + 1) - 1


def in_callee_in_with(x, log):
    x = x + 1
    with torch.no_grad():
        x = callee(x)
        x = x * 2
    return x - 1


def in_lambda(x, log):
    return (lambda y: callee(y) + 1)(x + 1) * 2


def jump(x, log):
    x = x + 1
    x = x * 2 if x.sum() > 0 else x * 3
    return x - 1


def jump_in_callee(x, log):
    return jump(x + 1, log) * 5


def in_comprehension(x, log):
    x = x + 1
    items = [(x * i, graph_break(), x + i)[2] for i in range(3)]
    return items[0] - 1


def class_statement(x, log):
    x = x + 1

    class Scale:
        factor = 3

        def apply(self, y):
            return y * self.factor

    return Scale().apply(x) - 1


@pytest.mark.parametrize(
    "function, graphs, operations",
    [
        (in_finally, 2, 5), (in_callee, 4, 4), (in_callee_of_callee, 6, 6),
        (in_callee_in_with, 4, 7), (in_lambda, 5, 5), (jump, 2, 5), (jump_in_callee, 4, 7), (class_statement, 2, 3),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_as_many_graphs_as_pytorch(function, graphs, operations):
    counter = same(function, calls=1)
    assert (counter.frame_count, counter.op_count) == (graphs, operations)


def test_a_loop_on_data_has_as_many_graphs_as_its_condition_has_places():
    twice = sys.version_info[:2] in ((3, 12), (3, 13))  # CPython writes the condition before the loop and at its end
    counter = same(data_dependent_while, calls=1)
    assert (counter.frame_count, counter.op_count) == ((4, 10) if twice else (3, 7))


def test_a_break_inside_a_comprehension():
    assert same(in_comprehension).frame_count >= 2


# --- exceptions at the break ------------------------------------------------------------------------------------------


def caught(x, log):
    try:
        x = x * 2
        fail("oh")
    except ValueError as error:
        log.append(error.args)
        x = x + 5
    return x - 1, sys.exc_info()


def caught_in_the_loop(x, log):
    for i in range(3):
        try:
            x = x * 2
            if i:
                fail(i)
        except ValueError as error:
            log.append(error.args)
            continue
        finally:
            log.append("finally")
        x = x + 1
    return x


def not_caught(x, log):
    try:
        x = x * 2
        fail("oh")
    except KeyError:
        log.append("wrong")
    finally:
        log.append("finally")
    return x


def another_raised_from_it(x, log):
    x = x * 2
    try:
        try:
            fail("first")
        except ValueError as error:
            raise KeyError("second") from error
    except KeyError as error:
        log.append((error.args, repr(error.__cause__), repr(error.__context__)))
    return x + 1


def a_break_while_handling(x, log):
    try:
        fail("oh")
    except ValueError:
        x = x * 2
        log.append(repr(disable(lambda: sys.exc_info()[1])()))
        x = x + 1
        graph_break()
        x = x * 3
    log.append(sys.exc_info())
    return x


def leaving_managers(x, log):
    try:
        with Manager(log), managed(log):
            x = x * 2
            fail("oh")
    except ValueError:
        x = x + 1
    return x


def swallowed(x, log):
    with Manager(log, swallows=True):
        x = x * 2
        fail("oh")
        x = x * 1000
    with managed(log, swallows=True):
        x = x * 3
        fail("again")
    return x + 1


def leaving_no_grad(x, log):
    try:
        with torch.no_grad():
            y = x * 2
            fail()
    except ValueError:
        log.append(torch.is_grad_enabled())
    return y, x * 3


def returning_in_finally(x, log):
    try:
        fail("lost")
    finally:
        return x * 2


def raised_as_a_break(x, log):
    error = disable(KeyError)("made outside")
    x = x * 2
    try:
        try:
            pass
        except KeyError:
            return "wrong"
        else:
            raise error
    except KeyError as same:
        log.append((same is error, same.args))
    return x


EXCEPTIONS = (
    raised_as_a_break, caught, caught_in_the_loop, not_caught, another_raised_from_it, a_break_while_handling,
    leaving_managers, swallowed,
    leaving_no_grad, returning_in_finally,
)  # fmt: skip


@pytest.mark.parametrize("function", EXCEPTIONS, ids=lambda function: function.__name__)
def test_an_exception_at_a_break_goes_where_it_would_go(function):
    counter = CompileCounter()
    compiled = optimize(function, counter)
    for _ in range(3):
        assert behaviour(compiled, (matrix(), [])) == behaviour(function, (matrix(), []))
    assert counter.frame_count >= 1


# --- generators that live on ------------------------------------------------------------------------------------------


def countdown(n, log):
    try:
        while n:
            got = yield n
            if got:
                log.append(got)
            n = n - 1
    finally:
        log.append("done")


def delegating(n, log):
    yield from countdown(n, log)
    yield "last"


def handling(log):
    try:
        raise KeyError(1)
    except KeyError as error:
        yield repr(error)
        log.append(repr(sys.exc_info()[1]))
        yield 2


@pytest.mark.parametrize("use", ["send", "throw", "close", "exhaust"])
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_generator_goes_on_after_a_break(use, steps):
    def f(x, log):
        numbers = delegating(3, log)
        for _ in range(steps):
            next(numbers)
        x = x * 2
        graph_break()
        if use == "send" and steps:
            log.append(numbers.send("hello"))
        elif use == "close":
            numbers.close()
        elif use == "throw":
            try:
                numbers.throw(ValueError("thrown"))
            except ValueError as error:
                log.append(error.args)
        return list(numbers), x, numbers.__name__

    assert same(f).frame_count == 1


def test_a_generator_that_is_handling_an_exception_goes_on_with_it():
    def f(x, log):
        numbers = handling(log)
        first = next(numbers)
        x = x * 2
        graph_break()
        return first, next(numbers), sys.exc_info(), x

    counter = CompileCounter()
    assert behaviour(optimize(f, counter), (matrix(), [])) == behaviour(f, (matrix(), []))


def test_a_compiled_generator_function_runs_plainly():
    def numbers(x):
        yield x + 1
        yield x + 2

    counter = CompileCounter()
    assert [y.tolist() for y in optimize(numbers, counter)(torch.ones(1))] == [[2.0], [3.0]]
    assert counter.frame_count == 0  # as in PyTorch


# --- long loops, tracebacks -------------------------------------------------------------------------------------------


def test_a_long_loop_does_not_nest_its_rounds():
    def f(x, depths):
        for _ in range(3000):
            x = x + 1
            depths.append(depth())
        return x

    @disable
    def depth():
        frame, count = sys._getframe(), 0
        while frame is not None:
            frame, count = frame.f_back, count + 1
        return count

    depths = []
    assert optimize(f, eager)(torch.zeros(1), depths).item() == 3000
    assert max(depths[20:]) == min(depths[20:])


def test_a_loop_whose_rounds_all_differ_ends_in_python_without_a_warning():
    def scaled(x, count):
        return x * count

    def f(x, log):
        for name in ("a", "bb", "c", "dd", "e", "ff", "g", "hh", "i", "jj", "k", "ll", "m", "nn"):
            disable(log.append)(name)
            x = x + (1 if name.isupper() else 2)
            x = scaled(x, len(name))
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(f).frame_count > 1


def lines_of(call):
    """The lines of this file in the traceback, innermost last, each once in a row."""
    with pytest.raises(ValueError) as caught:
        call()
    frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    return [f.line for f in frames if f.name not in ("lines_of", "<lambda>")]


def test_tracebacks_show_the_users_lines():
    def at_the_break(x):
        x = x + 1
        fail("here")

    def after_a_break(x):
        graph_break()
        return inner(x)

    def inner(x):
        graph_break()
        raise ValueError(x.shape[0])

    def in_a_loop(x):
        for i in range(3):
            with Manager([]):
                if i == 1:
                    fail(i)

    for function in (at_the_break, after_a_break, in_a_loop):
        compiled = optimize(function, eager)
        for _ in range(2):
            assert lines_of(lambda: compiled(matrix())) == lines_of(lambda: function(matrix()))


def test_the_traceback_of_an_exception_that_is_handled_shows_the_users_lines():
    def f(x, found):
        try:
            x = x * 2
            fail("here")
        except ValueError as error:
            found.extend(frame.line for frame in traceback.extract_tb(error.__traceback__))
        return x

    plain, compiled = [], []
    f(matrix(), plain)
    optimize(f, eager)(matrix(), compiled)
    assert [line for line in compiled if line in plain] == plain


def test_a_bare_raise_of_an_exception_from_outside():
    def f(x, log):
        try:
            fail("again")
        except ValueError:
            x = x * 2
            try:
                raise
            except ValueError as error:
                log.append(error.args)
        return x

    assert same(f).frame_count == 1
