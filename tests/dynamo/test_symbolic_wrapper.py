"""The compiled callable itself: signature, methods, threads, resetting, explaining."""

import functools
import inspect
import sys
import threading

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import explain, optimize, region_of, reset
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import assert_same, entry_count, matrix, observed


def test_it_looks_like_the_function():
    def scale(x, by: int = 2, *rest, offset=0, **more):
        """Scales."""
        return x * by + offset

    compiled = optimize(scale, eager)
    assert (compiled.__name__, compiled.__doc__, inspect.signature(compiled)) == (
        "scale",
        "Scales.",
        inspect.signature(scale),
    )


@pytest.mark.parametrize("call", [
    lambda f, x: f(x), lambda f, x: f(x, 3), lambda f, x: f(x, 3, 4, 5), lambda f, x: f(by=4, x=x), lambda f,
    x: f(x, offset=2, extra=1),
])  # fmt: skip
def test_every_way_to_pass_arguments(call):
    def f(x, by=2, *rest, offset=0, **more):
        return x * by + offset + len(rest), rest, more

    assert observed(lambda: call(optimize(f, eager), matrix())) == observed(lambda: call(f, matrix()))


def test_names_that_the_generated_code_uses_itself():
    def f(type, len, list, graph, function, plain, MISS, result, dispatcher, G, t_0, out_0, error):
        return type * len + list, graph, function, plain, MISS, result, dispatcher, G, t_0, out_0 + 1, error

    assert_same(f, lambda: (matrix(), 2, 3, *range(8), matrix(), None))


def test_positional_only_and_keyword_only_arguments():
    def f(a, /, b, *, c=1):
        return a + b + c

    compiled = optimize(f, eager)
    assert compiled(matrix(), 1, c=2)[0, 0] == 3
    with pytest.raises(TypeError):
        compiled(a=matrix(), b=1)


@pytest.mark.parametrize(
    "defaults, by_keyword",
    [(None, {"c": 3}), ((), None), ((7,), {}), ((5, 6, 7), {"c": 1}), ((1, 2), {"c": 3, "d": 4})],
)
@pytest.mark.parametrize("call", [
    lambda f, x: f(x), lambda f, x: f(x, 2, d=5), lambda f, x: f(x, b=4, d=1), lambda f, x: f(x, c=1), lambda f,
    x: f(x, d=1), lambda f, x: f(d=2), lambda f, x: f(x, 1, 2, 3, c=1, d=1, e=1),
])  # fmt: skip
def test_a_break_calls_functions_whose_defaults_come_and_go(call, defaults, by_keyword):
    def outcomes(compiled):
        def f(x, a=1, b=2, *rest, c=3, d, **more):
            return x * a + b, rest, c, d, more

        def breaks(x):
            torch.compiler.graph_break()
            return call(f, x)

        breaks = compiled(breaks)
        before = observed(lambda: breaks(matrix()))
        f.__defaults__, f.__kwdefaults__ = defaults, by_keyword
        return before, observed(lambda: breaks(matrix()))

    assert outcomes(lambda f: optimize(f, eager)) == outcomes(lambda f: f)


@pytest.mark.parametrize("defaults, by_keyword", [(None, {"c": 3}), ((7,), {"c": 1}), ((4, 5), None), ((4, 5), {})])
@pytest.mark.parametrize("call", [
    lambda f, x: f(x), lambda f, x: f(x, b=4), lambda f, x: f(x, 1, c=1), lambda f, x: f(x, 1, 2, 3, c=4),
])  # fmt: skip
def test_the_stand_in_of_a_function_that_lost_its_defaults(call, defaults, by_keyword):
    def outcomes(compiled):
        def f(x, a=1, b=2, *rest, c=3):
            return x * a + b, rest, c

        stand_in = compiled(f)
        before = observed(lambda: call(stand_in, matrix()))
        f.__defaults__, f.__kwdefaults__ = defaults, by_keyword
        return before, observed(lambda: call(stand_in, matrix()))

    assert outcomes(lambda f: optimize(f, eager)) == outcomes(lambda f: f)


def test_lambdas_methods_partials_and_callable_objects():
    class Twice:
        def __call__(self, x):
            return x * 2

        def thrice(self, x):
            return x * 3

        @classmethod
        def four(cls, x):
            return x * 4

    twice = Twice()
    for function, factor in ((lambda x: x * 1, 1), (twice, 2), (twice.thrice, 3), (Twice.four, 4)):
        assert optimize(function, eager)(matrix())[0, 1] == 0.25 * factor
    assert optimize(lambda x: functools.partial(torch.mul, x)(5), eager)(matrix())[0, 1] == 1.25


@pytest.mark.parametrize("thing", [3, "text", int, None])
def test_what_is_not_a_function_is_refused(thing):
    with pytest.raises(TypeError, match="optimize: expected a function, a method or a callable object, but got"):
        optimize(thing, eager)


def test_generators_run_as_they_are():
    def numbers(x):
        yield x * 2

    assert next(optimize(numbers, eager)(matrix()))[0, 1] == 0.5


def test_a_compiled_function_inside_a_compiled_function_is_inlined():
    inner = optimize(lambda x: x * 2, CompileCounter())
    counter = CompileCounter()
    outer = optimize(lambda x: inner(x) + inner(x), counter)
    assert outer(matrix())[0, 1] == 1
    assert (counter.frame_count, counter.op_count) == (1, 3)


def test_reset_forgets():
    counter = CompileCounter()
    compiled = optimize(lambda x: x * 2, counter)
    compiled(matrix())
    compiled(matrix())
    reset()
    compiled(matrix())
    assert counter.frame_count == 2


def test_two_regions_do_not_share():
    first, second = CompileCounter(), CompileCounter()

    def f(x):
        return x * 2

    optimize(f, first)(matrix())
    optimize(f, second)(matrix())
    assert (first.frame_count, second.frame_count) == (1, 1)


def test_threads_compile_and_call_at_once():
    compiled = optimize(lambda x: (x * 2).sum(), eager, dynamic=False)
    wrong, start = [], threading.Barrier(4)

    def work(n):
        start.wait()
        for k in range(1, 30):
            x = matrix(k % 4 + 1, n)
            if compiled(x) != (x * 2).sum():
                wrong.append((n, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 1, 2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong and entry_count(region_of(compiled)) == 8


def test_the_generated_code_is_python_that_names_the_users_lines():
    def f(x, log):
        y = torch.sin(x)
        log.append(y)
        return y * 2

    compiled = optimize(f, eager)
    compiled(matrix(), [])
    source = region_of(compiled).caches[0].entries[0].source
    assert "y = torch.sin(x)\n" in source and "log.append(out_1)" in source
    compile(source, "generated", "exec")


def test_a_call_costs_little_more_than_its_guards():
    """What it takes in nanoseconds, `python -m benchmarks.dispatch` shows."""
    called, before = [], sys.getprofile()

    def profile(frame, event, argument):
        if event in ("call", "c_call"):
            called.append(argument.__name__ if event == "c_call" else frame.f_code.co_name)

    compiled = optimize(lambda x, y, z: torch.sin(x) * y + z, lambda module, inputs: lambda x, y, z: (x,))
    x, y, z = (matrix(4, 4) for _ in range(3))
    for _ in range(3):
        compiled(x, y, z)
    sys.setprofile(profile)
    try:
        compiled(x, y, z)
    finally:
        sys.setprofile(before)
    first = [name for name in called if name != "unchanged"]  # what compares the words of memory of classes
    assert first[:3] == ["<lambda>", "lambda_", "<lambda>"]  # what the user calls, the guards, the compiled graph
    assert called.count("unchanged") <= 1
    assert first[3:] == ["setprofile"]


def test_explain_counts_and_tells():
    def f(x):
        y = x + 1
        print("here")
        return y * 2

    report = explain(f)(matrix())
    assert (report.graph_count, report.graph_break_count, report.op_count) == (2, 1, 2)
    assert [len(operations) for operations in report.ops_per_graph] == [1, 1]
    assert report.break_reasons[0].line == 'print("here")'
    assert any("x.sizes" in guard.code for guard in report.out_guards)
    text, html = str(report), report._repr_html_()
    assert text.startswith("2 graphs, 1 graph break, 2 operations") and "Graph break 1 of 1 in `f`" in text
    assert "<table>" in html and "print(&quot;here&quot;)" in html


def test_a_function_that_wraps_a_compiled_one_is_not_taken_for_it():
    compiled = torch.compile(lambda x: x + 1, backend="eager")

    @functools.wraps(compiled)
    def twice(x):
        return compiled(compiled(x))

    x = torch.zeros(1)
    assert torch.compile(twice, backend="eager")(x) == torch.compile(lambda x: twice(x), backend="eager")(x) == 2
    assert torch.compiler.disable(twice)(x) == torch._dynamo.innermost_fn(twice)(x) == 2
