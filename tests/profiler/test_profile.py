"""torch.profiler: what is recorded, when, and how it is shown. Expected texts are PyTorch 2.13's."""

import gzip
import json
import threading

import pytest

import minitorch_compile as torch
from minitorch_compile.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
from minitorch_compile.profiler.events import EventList, FunctionEvent, Interval
from minitorch_compile.profiler.recorder import active
from minitorch_compile.tensor.dispatch import op as op_module
from minitorch_compile.tensor.functions.before_calls import standing


def names(recorded):
    return [event.name for event in recorded.events()]


def test_operations_are_events_within_the_one_that_calls_them():
    linear = torch.nn.Linear(8, 4)
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as recorded:
        linear(torch.ones(3, 8))
    event = next(e for e in recorded.events() if e.name == "aten::addmm")
    assert event.cpu_parent.name == "aten::linear"
    assert event.input_shapes[:3] == [[4], [3, 8], [8, 4]]
    assert event.cpu_memory_usage == 48 and event.flops == 192


def test_nothing_is_left_behind():
    before, calls = standing(), {kind: kind.__call__ for kind in type(op_module.find("add")).__mro__[:-1]}
    with profile():
        assert standing() != before
    assert standing() == before and not active
    assert before or {kind: kind.__call__ for kind in calls} == calls


def test_probes_are_gone_after_an_error():
    before = standing()
    with pytest.raises(KeyError), profile():
        raise KeyError
    assert standing() == before and not active


def test_two_profilers_at_once_are_refused():
    with profile(), pytest.raises(RuntimeError, match="Profiler is already enabled on this thread."):
        profile().start()


def test_memory_is_counted_when_it_comes_and_when_it_goes():
    with profile(profile_memory=True) as recorded:
        x = torch.ones(100)
        with record_function("dropped"):
            del x
    used = {event.name: event.cpu_memory_usage for event in recorded.events()}
    assert used["aten::full"] == 400 and used["dropped"] == -400


def test_a_view_takes_no_memory():
    x = torch.ones(100)
    with profile(profile_memory=True) as recorded:
        x.view(10, 10).t()
    assert {event.cpu_memory_usage for event in recorded.events()} == {0}


def test_a_schedule_records_only_its_active_steps():
    ready = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    with profile(schedule=plan, on_trace_ready=lambda p: ready.append((p.step_num, names(p)))) as recorded:
        for _ in range(6):
            torch.ones(2).exp()
            recorded.step()
    assert ready == [(4, ["ProfilerStep*", "aten::ones", "aten::full", "aten::exp"] * 2)]
    assert {a.key: a.count for a in recorded.key_averages()}["ProfilerStep*"] == 2


def action_names(count, **options):
    return [schedule(**options)(step).name for step in range(count)]


def test_the_order_of_actions():
    assert action_names(6, wait=1, warmup=1, active=2, repeat=2, skip_first=1) == [
        "NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE",
    ]  # fmt: skip
    assert action_names(7, wait=2, warmup=1, active=1, skip_first=1, skip_first_wait=1) == [
        "NONE", "WARMUP", "RECORD_AND_SAVE", "NONE", "NONE", "WARMUP", "RECORD_AND_SAVE",
    ]  # fmt: skip


def test_a_schedule_that_makes_no_sense_is_refused():
    with pytest.raises(AssertionError, match=r"Got wait=-1 \(need >= 0\), .*active=1 \(need > 0\)"):
        schedule(wait=-1, warmup=0, active=1)
    with pytest.raises(AssertionError, match="Step must be non-negative. Got -1."):
        schedule(wait=0, warmup=1, active=1)(-1)
    with pytest.warns(UserWarning, match="Profiler won't be using warmup, this can skew profiler results"):
        schedule(wait=0, warmup=0, active=1)


@pytest.mark.parametrize(
    "call, what",
    [
        (lambda p: p.events(), "accessing events"),
        (lambda p: p.key_averages(), "getting key averages"),
        (lambda p: p.export_chrome_trace("x"), "exporting chrome trace"),
    ],
)
def test_asked_before_it_ran(call, what):
    with pytest.raises(AssertionError, match=f"Profiler must be initialized before {what}"):
        call(profile())


def test_what_cannot_be_recorded():
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=[])
    with pytest.warns(UserWarning, match="CUDA is not available"), profile(activities=[*ProfilerActivity][:4]):
        pass


def synthetic():
    """Events with times that are known: name, start, end, bytes, sizes."""
    rows = [
        ("model", 0.0, 2.5e6, 4096, []),
        ("aten::mm", 10.0, 1510.5, 3 << 20, [[3, 4], [4, 5]]),
        ("aten::add_a_name_that_is_really_too_long_for_the_column_of_names", 2000.0, 2000.25, -48, [[3], []]),
    ]
    events = []
    for number, (name, start, end, memory, shapes) in enumerate(rows):
        event = FunctionEvent(name, number, thread=1)
        event.time_range, event.cpu_memory_usage, event.input_shapes = Interval(start, end), memory, shapes
        events.append(event)
    for child in events[1:]:
        events[0].append_cpu_child(child)
    return EventList(events, profile_memory=True)


def test_the_table_is_pytorchs():
    lines = synthetic().key_averages().table(sort_by="self_cpu_time_total", row_limit=2).splitlines()
    rule = "  ".join(["-" * 55, *["-" * 12] * 8]) + "  "
    assert lines == [
        rule,
        " " * 20 + "                               Name    Self CPU %      Self CPU   CPU total %     CPU total"
        "  CPU time avg       CPU Mem  Self CPU Mem    # of Calls  ",
        rule,
        " " * 20 + "                              model        99.94%        2.498s       100.00%        2.500s"
        "        2.500s       4.00 KB      -3.00 MB             1  ",
        " " * 20 + "                           aten::mm         0.06%       1.500ms         0.06%       1.500ms"
        "       1.500ms       3.00 MB       3.00 MB             1  ",
        rule,
        "Self CPU time total: 2.500s",
    ]


def test_sizes_are_groups_of_their_own():
    averages = synthetic().key_averages(group_by_input_shapes=True)
    assert "[[3, 4], [4, 5]]" in averages.table()
    assert averages.total_average().count == 3
    with pytest.raises(AttributeError, match="'FunctionEventAvg' object has no attribute 'nope'"):
        averages.table(sort_by="nope")


def test_tables_are_sorted_by_older_names_too():
    assert synthetic().key_averages().table(sort_by="cuda_time_total") == synthetic().key_averages().table()


def test_the_trace_is_json_with_nested_times(tmp_path):
    with profile() as recorded, record_function("outer"):
        torch.ones(3).exp()
    recorded.export_chrome_trace(tmp_path / "trace.json")
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    outer, inner = (next(r for r in rows if r["name"] == name) for name in ("outer", "aten::exp"))
    assert outer["ph"] == inner["ph"] == "X" and outer["cat"] == "user_annotation" and inner["cat"] == "cpu_op"
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-3
    assert outer["tid"] == inner["tid"]


def test_a_handler_for_tensorboard_writes_a_file_for_each_cycle(tmp_path):
    handler = tensorboard_trace_handler(str(tmp_path), worker_name="me", use_gzip=True)
    with profile(on_trace_ready=handler):
        torch.ones(2)
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("me.") and file.name.endswith(".pt.trace.json.gz")
    assert json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]


def test_stacks_name_the_program_lines(tmp_path):
    def inner(x):
        return x.exp()

    with profile(with_stack=True) as recorded:
        inner(torch.ones(100_000))
    event = next(e for e in recorded.events() if e.name == "aten::exp")
    assert event.stack[0].endswith("): inner") and "test_profile.py(" in event.stack[1]
    recorded.export_stacks(tmp_path / "stacks", "self_cpu_time_total")
    assert any(";" in line and "inner" in line for line in (tmp_path / "stacks").read_text().splitlines())
    with profile() as without, pytest.raises(AssertionError, match=r"export_stacks\(\) requires with_stack=True"):
        without.export_stacks(tmp_path / "stacks")


def test_threads_have_rows_of_their_own():
    with profile() as recorded:
        torch.ones(2)
        thread = threading.Thread(target=lambda: torch.ones(2).exp())
        thread.start()
        thread.join()
    assert {e.name: e.thread for e in recorded.events()}["aten::exp"] == 2


def test_a_function_can_be_decorated():
    @record_function("decorated")
    def double(x):
        return x + x

    with profile() as recorded:
        double(torch.ones(2))
    assert "decorated" in names(recorded) and double.__name__ == "double"


def test_collection_can_pause():
    with profile() as recorded:
        recorded.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        torch.ones(2)
        recorded.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        torch.zeros(2)
    assert "aten::ones" not in names(recorded) and "aten::zeros" in names(recorded)


def test_backward_nodes_and_the_optimizers_step():
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    with profile() as recorded:
        layer(torch.ones(1, 3)).sum().backward()
        optimizer.step()
    found = names(recorded)
    for name in ("AddmmBackward0", "torch::autograd::AccumulateGrad", "Optimizer.step#SGD.step"):
        assert name in found
    assert "autograd::engine::evaluate_function: SumBackward0" in found


def test_a_function_given_to_profile_is_run_and_drawn():
    recorded = profile(lambda x: x.exp())(torch.ones(3))
    assert recorded.result.sizes == (3,)
    drawing = recorded._repr_html_()
    assert drawing.startswith("<svg") and "aten::exp" in drawing


def test_autograds_profiler():
    recorded = torch.autograd.profiler.profile()
    assert str(recorded) == "<unfinished torch.autograd.profile>"
    with recorded:
        torch.ones(2).exp()
    assert "aten::exp" in recorded.table()
    with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"), recorded:
        pass
    with torch.autograd.profiler.profile(enabled=False) as off:
        torch.ones(2)
    assert off is None


@pytest.mark.parametrize("emit, library", [("emit_nvtx", "nvtx"), ("emit_itt", "ittapi")])
def test_ranges_for_other_tools(emit, library, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(RuntimeError, match=f"the library '{library}'.*is not installed"):
        with getattr(torch.autograd.profiler, emit)():
            pass


def test_nvtx_ranges_are_pushed_and_popped(monkeypatch):
    import sys
    import types

    seen = []
    fake = types.SimpleNamespace(push_range=seen.append, pop_range=lambda: seen.append("end"))
    monkeypatch.setitem(sys.modules, "nvtx", fake)
    x = torch.ones(2)
    with torch.autograd.profiler.emit_nvtx():
        x.exp()
    assert seen == ["aten::exp", "end"]


def test_record_function_as_two_ops_of_a_graph():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    handle = graph.call_function(torch.ops.profiler._record_function_enter, ("part",))
    out = graph.call_function(torch.relu, (x,))
    torch.ops.profiler._record_function_exit(torch.fx.Proxy(handle))
    graph.output(out)
    module = torch.fx.GraphModule({}, graph)
    with torch.profiler.profile() as recorded:
        assert module(torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
    assert [event.name for event in recorded.events()][:2] == ["part", "aten::relu"]
    with pytest.raises(RuntimeError, match="argument 'handle' but instead found type 'int'"):
        torch.ops.profiler._record_function_exit(3)
