"""The frame hook captures whole programs, and changes nothing else about them. The oracle: CPython without it."""

import _thread
import gc
import pickle
import re
import signal
import subprocess
import sys
import threading
import weakref

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo import FrameHook, disable, frame_hook, optimize
from minitorch_compile.dynamo.cache.region import Region
from minitorch_compile.dynamo.frame_evaluation.native import native_hook
from minitorch_compile.dynamo.frame_evaluation.region_frames import PATIENCE, RegionFrames
from minitorch_compile.dynamo.testing import CompileCounter, eager
from minitorch_compile.frame_marks import unhooked
from tests.dynamo.compiled import matrix
from tests.dynamo.programs import observe, program_id, programs

X = matrix()


class EveryFrame(RegionFrames):
    """Captures functions that have nothing to do with tensors, too."""

    @unhooked
    def _is_worth_it(self, function, slots):
        return True


def graphs_of(hook):
    return [module.graph.compact() for module in hook.region.graph_modules]


def double(x):
    return x * 2


def loop(x, count):
    for _ in range(count):
        x = double(x)
        print(end="")
    return x


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_a_program_all_of_whose_frames_are_captured_does_what_it_did(program):
    frames = EveryFrame(Region(eager))

    def hooked():
        with FrameHook(frames):
            return program()

    plain = observe(program)
    assert observe(hooked) == plain
    assert observe(hooked) == plain


# --- what is captured -------------------------------------------------------------------------------------------------


def test_functions_called_by_a_loop_that_cannot_be_split_are_captured():
    with frame_hook(eager) as hook:
        result = loop(X, 3)
    assert result.tolist() == (X * 8).tolist()
    assert "x -> (x * 2,)" in graphs_of(hook)


def test_functions_called_from_c_and_by_operators_are_captured():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __matmul__(self, x):
            return x * self.by

        @property
        def doubled(self):
            return self.by * 2

    scale = Scale(X)
    with frame_hook(eager) as hook:
        results = [*map(double, [X]), scale @ X, scale.doubled]
    assert [r.tolist() for r in results] == [(X * 2).tolist(), (X**2).tolist(), (X * 2).tolist()]
    assert len(graphs_of(hook)) == 3


def test_a_module_is_one_graph_with_its_hooks():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    expected = model(X)
    with frame_hook(eager) as hook:
        result = model(X)
    assert result.tolist() == expected.tolist()
    assert len(graphs_of(hook)) == 1


def test_a_training_program_is_two_graphs():
    def train():
        torch.manual_seed(0)
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = (model(X) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    plain = train()
    counter = CompileCounter()
    with frame_hook(counter) as hook:
        assert train() == plain
    assert counter.frame_count == 2  # the step, and what comes before the loop
    assert all(len(cache.entries) == 1 for cache in hook.region.caches)


def test_arguments_arrive_as_the_call_bound_them():
    def f(x, /, by=2, *rest, offset=0, **more):
        return x * by + sum(rest) + offset, more

    expected = f(X, 3, 4, 5, offset=1, other=6)
    with frame_hook(eager) as hook:
        got = f(X, 3, 4, 5, offset=1, other=6), f(X)
    assert got[0][0].tolist() == expected[0].tolist() and got[0][1] == {"other": 6}
    assert got[1][0].tolist() == (X * 2).tolist()
    assert len(graphs_of(hook)) == 2


def test_closures_made_anew_share_what_was_compiled_and_keep_their_own_cells():
    counter = CompileCounter()

    def scaled(by):
        def scale(x):
            return x * by

        return scale

    with frame_hook(counter):
        results = [scaled(by)(X) for by in (torch.tensor(2.0), torch.tensor(3.0))]
    assert [r.tolist() for r in results] == [(X * 2).tolist(), (X * 3).tolist()]
    assert counter.frame_count == 1


def test_a_closure_is_let_go_when_plain_python_would():
    class Thing:
        pass

    def make():
        thing, x = Thing(), X

        def use(y):
            return x * y, thing

        return use, weakref.ref(thing)

    with frame_hook(eager):
        use, thing = make()
        use(X)
        del use
        gc.collect()
        assert thing() is None


def test_what_is_disabled_runs_plainly_with_everything_below_it():
    @disable
    def outside(x):
        return double(x)

    @disable(recursive=False)
    def only_this(x):
        return double(x) + 1

    with frame_hook(eager) as hook:
        outside(X)
        assert graphs_of(hook) == []
        only_this(X)
        assert graphs_of(hook) == ["x -> (x * 2,)"]


def test_the_library_installed_packages_and_functions_without_tensors_are_left_alone():
    def words(text):
        return sorted(text.split(), key=len)

    with frame_hook(eager) as hook:
        for _ in range(PATIENCE + 1):
            words("b aa")
        torch.ones(3).sum()
        pickle.loads(pickle.dumps({"x": X}))
        pytest.approx(1.0)
    assert [cache.code.co_qualname for cache in hook.region.caches] == []
    assert native_hook().word_of(words.__code__).owner  # it is not looked at again


def test_the_backend_and_its_graphs_are_not_captured():
    seen = []

    def helper(x):
        return x

    def backend(module, inputs):
        seen.append(helper(inputs[0]))

        def run(*args):
            return tuple(helper(x) for x in module(*args))

        return run

    with frame_hook(backend) as hook:
        double(X)
    assert [cache.code.co_name for cache in hook.region.caches] == ["double"] and len(seen) == 1


def test_fullgraph_explains_the_break():
    def f(x):
        return x * x.data_ptr()

    with frame_hook(eager, fullgraph=True), pytest.raises(torch._dynamo.exc.Unsupported, match="data_ptr"):
        f(X)


def test_a_region_can_be_given_and_is_continued():
    region = Region(eager)
    for _ in range(2):
        with frame_hook(region):
            double(X)
    assert len(region.graph_modules) == 1


def test_the_backend_is_inductor_unless_another_is_named():
    for arguments in ((), ("aot_eager",)):
        with frame_hook(*arguments) as hook:
            assert double(X).tolist() == (X * 2).tolist()
        assert graphs_of(hook) == ["x -> (x * 2,)"]
    with pytest.raises(ValueError, match="no backend named 'inducter'"):
        frame_hook("inducter")


def test_compiled_functions_work_within_a_hook():
    counter = CompileCounter()
    compiled = optimize(loop, counter)
    with frame_hook(eager):
        assert compiled(X, 2).tolist() == (X * 4).tolist()
    assert compiled(X, 2).tolist() == (X * 4).tolist()


# --- coming and going -------------------------------------------------------------------------------------------------


def test_hooks_nest_and_the_innermost_is_asked():
    outer, inner = frame_hook(eager), frame_hook(eager)
    with outer:
        with inner:
            double(X)
        assert native_hook().is_installed
        loop(X, 1)
    assert not native_hook().is_installed
    assert graphs_of(inner) == ["x -> (x * 2,)"] and "x -> (x * 2,)" in graphs_of(outer)


def test_hooks_may_end_in_any_order():
    first, second = frame_hook(eager).install(), frame_hook(eager).install()
    first.uninstall()
    double(X)
    second.uninstall()
    double(X)
    assert (len(graphs_of(first)), len(graphs_of(second))) == (0, 1)
    assert not native_hook().is_installed


def test_a_hook_is_put_in_place_once_and_taken_out_by_its_thread():
    hook = frame_hook(eager)
    with pytest.raises(RuntimeError, match="it is not on"):
        hook.uninstall()
    errors = []
    with hook:
        with pytest.raises(RuntimeError, match="on already"):
            hook.install()

        def elsewhere():
            try:
                hook.uninstall()
            except RuntimeError as error:
                errors.append(str(error))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert "another thread" in errors[0] and not hook.is_on


def test_the_hook_may_be_taken_out_inside_a_captured_function():
    hook = frame_hook(eager)

    def f(x):
        y = x * 2
        hook.uninstall()
        return y + 1

    hook.install()
    assert f(X).tolist() == (X * 2 + 1).tolist()
    assert not hook.is_on and not native_hook().is_installed


def test_an_exception_leaves_through_hooked_frames_and_the_hook_is_gone():
    def inner(x):
        raise ValueError("inside")

    def outer(x):
        try:
            inner(x)
        finally:
            double(x)

    with pytest.raises(ValueError, match="inside") as caught, frame_hook(eager):
        outer(X)
    assert not native_hook().is_installed
    assert [entry.name for entry in caught.traceback][-1] == "inner"


def test_generators_and_coroutines_pass():
    def produce(x):
        received = yield double(x)
        try:
            yield received
        except ValueError:
            yield double(received)
        return "end"

    def delegate(x):
        result = yield from produce(x)
        yield result

    async def later(x):
        return double(x)

    def program():
        running = delegate(X)
        values = [next(running).tolist(), running.send(X).tolist(), running.throw(ValueError).tolist()]
        values += list(running)
        try:
            later(X).send(None)
        except StopIteration as stop:
            values.append(stop.value.tolist())
        return values

    plain = program()
    with frame_hook(eager) as hook:
        assert program() == plain
    assert "x -> (x * 2,)" in graphs_of(hook)


def test_recursion_that_ends_ends_and_recursion_that_does_not_raises():
    def count(n, x):
        return x if n == 0 else count(n - 1, x) + 1

    def forever(x):
        return forever(x) + 1

    def deep(n):
        return 0 if n == 0 else 1 + deep(n - 1)

    with frame_hook(eager):
        assert count(5, X).tolist() == (X + 5).tolist()
        assert deep(700) == 700
        with pytest.raises(RecursionError):
            forever(X)
        with pytest.raises(RecursionError):
            deep(10**6)


# --- others that look at frames ---------------------------------------------------------------------------------------


def test_tracing_sees_the_lines_of_frames_that_are_not_compiled():
    def plain(values):
        total = 0
        for value in values:
            total += value
        return total

    def events_of(run):
        events = []

        def tracer(frame, event, argument):
            if frame.f_code is plain.__code__:
                events.append((event, frame.f_lineno))
            return tracer

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            run()
        finally:
            sys.settrace(before)
        return events

    expected = events_of(lambda: plain([1, 2]))
    with frame_hook(eager):
        assert events_of(lambda: plain([1, 2])) == expected
    assert len(expected) > 5


def test_coverage_counts_the_same_lines():
    coverage = pytest.importorskip("coverage")

    def branchy(n):
        if n > 1:
            return "many"
        return "one"

    def lines(run):
        measuring = coverage.Coverage(data_file=None, config_file=False)
        measuring.start()
        try:
            run()
        finally:
            measuring.stop()
        return sorted(measuring.get_data().lines(__file__) or ())

    def call():
        branchy(2)

    def hooked():
        with frame_hook(eager):
            branchy(2)

    first = branchy.__code__.co_firstlineno
    body = range(first + 1, first + 4)
    assert [n for n in lines(hooked) if n in body] == [n for n in lines(call) if n in body] == [first + 1, first + 2]


def test_profilers_see_balanced_calls():
    depth = []

    def profiler(frame, event, argument):
        if event in ("call", "return"):
            depth.append(1 if event == "call" else -1)

    with frame_hook(eager):
        before = sys.getprofile()
        sys.setprofile(profiler)
        try:
            double(X)
        finally:
            sys.setprofile(before)
    assert abs(sum(depth)) <= 1  # setprofile's own return


def test_a_frame_that_runs_as_it_is_has_its_own_locals_and_caller():
    def look(values):
        frame = sys._getframe()
        return frame.f_code.co_name, frame.f_back.f_code.co_name, sorted(frame.f_locals)

    def call():
        return look([1])

    plain = call()
    with frame_hook(eager):
        assert call() == plain


def test_a_signal_handler_runs_while_frames_are_hooked():
    handled = []

    def handler(number, frame):
        handled.append(double(X).tolist())

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with frame_hook(eager):
            signal.raise_signal(signal.SIGUSR1)
            double(X)
            _thread.interrupt_main(signal.SIGUSR1)
            double(X)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert handled == [(X * 2).tolist()] * 2


def test_other_threads_frames_pass_and_each_thread_may_have_a_hook():
    graphs, results = {}, {}

    def work(name, hooked):
        hook = frame_hook(eager)
        if hooked:
            hook.install()
        results[name] = [loop(X + n, 2).tolist() for n in range(20)]
        if hooked:
            hook.uninstall()
        graphs[name] = len(graphs_of(hook))

    with frame_hook(eager) as here:
        threads = [threading.Thread(target=work, args=(name, name % 2 == 0)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not native_hook().is_installed
    assert all(result == results[0] for result in results.values())
    assert [graphs[name] > 0 for name in range(6)] == [True, False] * 3
    assert graphs_of(here) == []


def test_pickling_works_while_frames_are_hooked():
    with frame_hook(eager):
        again = pickle.loads(pickle.dumps((double, X)))
        assert again[0](again[1]).tolist() == (X * 2).tolist()


def test_frames_that_were_not_evaluated_let_go_of_their_arguments():
    x = X
    with frame_hook(eager):
        double(x)
        before = sys.getrefcount(x)
        for _ in range(50):
            double(x)
        assert sys.getrefcount(x) == before


def test_the_reason_why_there_is_no_hook_is_told(monkeypatch):
    from minitorch_compile.dynamo import FrameHookUnavailable
    from minitorch_compile.dynamo.frame_evaluation import check as frame_hook_check

    monkeypatch.setattr(frame_hook_check, "reason_against", lambda: "this is another Python")
    with pytest.raises(FrameHookUnavailable, match=re.escape("another Python. compile() works without it")):
        frame_hook(eager).install()


DEEP = """
import sys, threading
from minitorch_compile.dynamo import frame_hook
from minitorch_compile.dynamo.testing import eager

def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)

def tries():
    with frame_hook(eager):
        assert deep(400) == 400
        for n in (10**5, 10**6):
            try:
                deep(n)
            except RecursionError:
                print("raised")

def elsewhere():  # a thread whose frames only pass
    try:
        deep(10**6)
    except RecursionError:
        print("raised")

sys.setrecursionlimit(10**7)
tries()
threading.stack_size(2**20)
with frame_hook(eager):
    for target in (tries, elsewhere):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
print(deep(30_000))
"""


def test_recursion_beyond_the_c_stack_raises_and_does_not_crash():
    ran = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True, timeout=600)
    assert ran.stdout.split() == ["raised"] * 5 + ["30000"], ran.stderr[-2000:]
