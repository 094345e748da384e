"""Graph breaks: each kind, the semantics around it, and what the person who wrote the line is told."""

import io
import math
import random
import threading
from contextlib import redirect_stdout

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import InternalTracerError, Unsupported, disable, graph_break, optimize, region_of
from minitorch_compile.dynamo.breaks.break_reasons import REASONS
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import assert_same, entry_count, matrix


def explained(region):
    return [str(b) for b in region.breaks]


def test_a_call_that_is_not_followed_splits_the_function():
    def f(x):
        y = x + 1
        print("between", y.shape)
        return y * 2

    (broken,) = assert_same(f, graphs=2, breaks=1).breaks
    assert broken.code == "MTC-B03" and broken.line == 'print("between", y.shape)'


def test_printed_text_comes_in_program_order():
    def f(x):
        for name in ("a",):
            x = x * 2
        print("first")
        x = x + 1
        print("second", x.sum().item())
        return x

    assert_same(f, graphs=2, breaks=3)


def test_a_value_of_the_graph_is_used_by_the_breaking_call():
    def f(x):
        n = int(x.sum().item())
        return x * n, [n]

    assert_same(f, graphs=2, breaks=1)


def test_a_jump_on_data_continues_in_one_of_two_functions():
    def f(x):
        y = x * 2
        if y.sum() > 4:
            y = y - 100
        else:
            y = y + 100
        return y * 3

    region = assert_same(f, graphs=2, breaks=1)
    assert region.breaks[0].code == "MTC-B05"
    compiled = optimize(f, eager)
    for x in (matrix(), matrix() * 0, matrix() + 9, matrix() * 0):
        assert (compiled(x) == f(x)).all()


def test_an_explicit_break():
    def f(x):
        y = x + 1
        graph_break("look here")
        return y + 1

    (broken,) = assert_same(f, graphs=2, breaks=1).breaks
    assert (broken.code, broken.reason) == ("MTC-B02", "graph_break() was called: look here")


def test_a_disabled_function_runs_plainly_every_time():
    seen = []

    @disable
    def look(x):
        seen.append(x.is_fake)
        return x + 1

    compiled = optimize(lambda x: look(x * 2) * 3, eager)
    compiled(matrix())
    compiled(matrix())
    assert seen == [False, False]
    assert region_of(compiled).breaks[0].code == "MTC-B04"


def test_a_break_inside_a_callee_compiles_the_callee_on_its_own():
    def helper(x, log):
        y = x * 2
        log.append(math.isqrt(len(log)))
        print("inside")
        return y + 1

    def f(x, log):
        y = helper(x + 1, log) * 3
        return helper(y, log)

    region = assert_same(f, lambda: (matrix(), []), graphs=None, breaks=1)
    assert [cache.code.co_name for cache in region.caches][:2] == ["f", "helper"]
    (broken,) = region.breaks
    assert [line.function for line in broken.stack] == ["f", "helper"]


def test_methods_and_callable_objects_break_inside_as_functions_do():
    class Layer:
        def __init__(self):
            self.calls = 0

        def __call__(self, x):
            self.calls += 1
            return self.inner(x) + self.calls

        def inner(self, x):
            print("inner")
            return x * 2

    assert_same(lambda x, layer: (layer(x), layer.inner(x), layer), lambda: (matrix(), Layer()), graphs=None, breaks=1)


def test_a_loop_over_something_unknown_is_captured_round_by_round():
    def f(x, file):
        y = x * 2
        for line in file:
            y = y + len(line)
        return y * 3

    assert_same(f, lambda: (matrix(), io.StringIO("1\n2\n")), graphs=4, breaks=1)


def test_breaks_at_items_operators_and_formats():
    import array

    def f(x, a):
        y = x * 2
        a[0] = 7
        del a[1]
        b = a + a
        b += a
        return y, a[0] + x, 7 in b, len(b), f"{a}"

    assert_same(f, lambda: (matrix(), array.array("i", [1, 2, 3])), graphs=None, breaks=8)


def test_breaks_at_attributes_that_run_code():
    class Strange:
        def __getattribute__(self, name):
            print("read", name)
            return object.__getattribute__(self, name)

        def __setattr__(self, name, value):
            print("set", name)
            object.__setattr__(self, name, value)

        def __delattr__(self, name):
            print("delete", name)
            object.__delattr__(self, name)

    def f(x):
        thing = STRANGE
        thing.value = x.shape[0]
        y = x * thing.value
        del thing.value
        return y

    STRANGE = Strange()
    assert_same(f, graphs=None, breaks=3)


def test_side_effects_come_before_the_break_and_after_it():
    def f(x, log):
        log.append("before")
        print(log)
        log.append("after")
        return x

    assert_same(f, lambda: (matrix(), []), graphs=0, breaks=1)


def test_stack_values_and_closures_survive_a_break():
    def f(x, items):
        count = 0

        def step(y):
            nonlocal count
            count += 1
            return y * count

        total = (step(x), len(items), [step(x), print("in the middle"), step(x)])
        return total, count, step

    assert_same(f, lambda: (matrix(), [1]), graphs=2, breaks=1)


def test_grad_mode_set_before_a_break_holds_after_it():
    def f(x):
        torch.set_grad_enabled(False)
        y = x * 2
        print("now")
        z = x * 3
        torch.set_grad_enabled(True)
        return y, z, torch.is_grad_enabled()

    assert_same(f, lambda: (matrix().requires_grad_(),), graphs=2, breaks=1)


def test_a_break_inside_no_grad_stays_inside():
    def f(x, log):
        with torch.no_grad():
            y = x * 2
            with torch.enable_grad():
                z = x * 3
                log.append(z.sum().item())
                if z.sum() > 100:
                    z = z + 1
            print(torch.is_grad_enabled())
            return y, z, x * 4
        return None

    assert_same(f, lambda: (matrix().requires_grad_(), []), graphs=3, breaks=3)


def test_an_exception_at_a_break_inside_no_grad_brings_the_mode_back():
    def f(x):
        with torch.no_grad():
            y = x * 2
            return y.item()

    compiled = optimize(f, eager)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
            compiled(matrix())
        assert torch.is_grad_enabled()


def test_a_training_step_is_one_graph():
    def step(x, w):
        loss = ((x @ w) ** 2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        return loss

    def arguments():
        return matrix(), torch.ones(3, 1, requires_grad=True)

    assert_same(step, arguments, graphs=1, breaks=0)


def test_a_number_from_the_graph_does_not_recompile_what_follows():
    def f(x):
        loss = x.sum().item()
        print(f"loss {loss:.2f}")
        if loss > 1e6:
            print("diverging")
        return loss * 2

    compiled = optimize(f, eager)
    with redirect_stdout(io.StringIO()) as text:
        results = [compiled(matrix() * k) for k in range(12)]
    assert results == [2 * (matrix() * k).sum().item() for k in range(12)]
    assert text.getvalue().count("loss") == 12
    assert max(len(cache.entries) for cache in region_of(compiled).caches) == 1


# --- what the reader is told ------------------------------------------------------------------------------------------


def test_the_explanation_has_line_columns_reason_hint_and_id():
    def loss_fn(x):
        loss = x.sum()
        if loss.item() > 10:
            return x
        return loss

    (text,) = explained(assert_same(loss_fn, graphs=None, breaks=1))
    head, line, carets, reason, hint = text.splitlines()
    assert head.startswith("Graph break in `loss_fn`, test_symbolic_breaks.py:")
    assert line.endswith("|         if loss.item() > 10:")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "loss.item()"
    assert reason == "  data-dependent value: .item() needs the tensor's data, which does not exist while tracing."
    assert hint.startswith("  The function continues in a second graph, split here.  Hint: ") and hint.endswith(
        "[MTC-B07]"
    )


def test_fullgraph_raises_the_explanation_instead():
    def helper(x):
        return x.data_ptr()

    def f(x):
        return helper(x + 1)

    with pytest.raises(Unsupported) as caught:
        optimize(f, eager, fullgraph=True)(matrix())
    text = str(caught.value)
    assert "return helper(x + 1)" in text and "called from there: `helper`" in text and "MTC-B07" in text


def test_fullgraph_is_content_without_breaks():
    assert optimize(lambda x: x + 1, CompileCounter(), fullgraph=True)(matrix())[0, 1] == 1.25


def test_every_reason_of_the_catalogue_has_an_id_of_its_own_and_says_what_to_do():
    assert len({row.id for row in REASONS.values()}) == len(REASONS)
    assert all(row.explanation.endswith(".") and row.hint.endswith(".") for row in REASONS.values())


@pytest.mark.parametrize(
    "function, code",
    [
        (lambda x: x.tolist(), "MTC-B07"),
        (lambda x: random.random() + x, "MTC-B01"),
        (lambda x: x.grad_fn, "MTC-B08"),
        (lambda x: x[x > 0.5], "MTC-B15"),
    ],
)
def test_reasons(function, code):
    compiled = optimize(function, eager)
    try:
        compiled(matrix())
    finally:
        assert [b.code for b in region_of(compiled).breaks] == [code]


# --- limits -----------------------------------------------------------------------------------------------------------


def test_after_eight_versions_the_plain_function_runs_with_one_warning():
    compiled = optimize(lambda x, n: x.sum(0) * n, eager, dynamic=False)
    with pytest.warns(UserWarning, match="n was 0, 1, 2, 3, 4, 5, 6, 7, and is 8 now") as warned:
        results = [compiled(matrix(), n)[1].item() for n in range(12)]
    assert results == [(matrix().sum(0) * n)[1].item() for n in range(12)]
    assert len(warned) == 1 and entry_count(region_of(compiled)) == 8
    message = str(warned[0].message)
    assert "config.recompile_limit" in message and "pass a number that changes as a tensor" in message
    assert "MTC-B23" in message and warned[0].filename == __file__


@pytest.fixture
def mistaken(monkeypatch):
    """A tracer that fails at the sum of tensors."""
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

    monkeypatch.setattr(TensorVariable, "binary", lambda *args: 1 / 0)


def test_a_mistake_of_the_tracer_leaves_the_function_plain_with_one_warning(mistaken):
    log = []

    def f(x):
        log.append("called")
        return x + 1

    compiled = optimize(f, eager)
    with pytest.warns(UserWarning, match="the tracer failed in `f`.*ZeroDivisionError") as warned:
        for size in (1, 2, 3):
            assert compiled(torch.zeros(size)).tolist() == [1] * size
    assert len(warned) == 1 and log == ["called"] * 3 and warned[0].filename == __file__
    message = str(warned[0].message)
    assert "return x + 1" in message and "Please report" in message and "disable()" in message


def test_a_guard_that_fails_right_after_compiling_leaves_the_function_plain(monkeypatch):
    monkeypatch.setattr(guards, "type_is", lambda source, *_: guards.Guard(source, "NEVER", "{0} is NotImplemented"))
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # with more, another one may have changed the world
    with pytest.warns(UserWarning, match="does not hold right after compiling it") as warned:
        assert optimize(lambda x, n: x * n, eager)(matrix(), [2][0]).tolist() == (matrix() * 2).tolist()
    assert len(warned) == 1


def test_in_fullgraph_a_mistake_of_the_tracer_is_an_error(mistaken):
    with pytest.raises(InternalTracerError, match="the tracer failed in `<lambda>`.*ZeroDivisionError"):
        optimize(lambda x: x + 1, eager, fullgraph=True)(matrix())


def test_arguments_that_do_not_fit_raise_what_python_raises():
    def f(x, y, *, z):
        return x

    for args, kwargs in (((1,), {}), ((1, 2, 3), {}), ((1, 2), {"z": 1, "q": 2})):
        with pytest.raises(TypeError) as plain:
            f(*args, **kwargs)
        with pytest.raises(TypeError) as compiled:
            optimize(f, eager)(*args, **kwargs)
        assert str(compiled.value) == str(plain.value)
