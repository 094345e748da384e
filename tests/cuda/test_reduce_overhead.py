"""mode="reduce-overhead" on a GPU: graphs are recorded, and do what they do plainly."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import logs, nn
from minitorch_compile.cuda.pinned_memory import pinned_bytes
from minitorch_compile.cuda.runtime import Runtime, using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.host_status import STATUS_BYTES


@pytest.fixture(autouse=True)
def nothing_compiled_yet() -> None:
    torch.compiler.reset()


def classifier() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 3)).cuda()


def batches(count: int) -> list[tuple[Any, Any]]:
    torch.manual_seed(1)
    return [(torch.randn(5, 4), torch.tensor([0, 1, 2, 1, i % 3])) for i in range(count)]


def trained(wrap: Any, whole: bool, make: Any, count: int = 5) -> tuple[list[float], list[Any]]:
    """Losses and parameters of a training whose step, or model, `wrap` has compiled."""
    model = classifier()
    optimizer = make(model.parameters())
    run = model if whole else wrap(model)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(run(x), y)
        loss.backward()
        optimizer.step()
        return loss

    stepping, losses = wrap(step) if whole else step, []
    for number, (x, y) in enumerate(batches(count)):
        losses.append(stepping(x.cuda(), y.cuda()).item())
        if number == 2:
            optimizer.param_groups[0]["lr"] = 0.02
    return losses, [p.detach().cpu() for p in model.parameters()]


ADAMW, SGD = (lambda p: torch.optim.AdamW(p, lr=0.1)), (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))


@pytest.mark.parametrize(("whole", "make"), [(True, ADAMW), (False, SGD)])
def test_training_is_that_of_plain_code(whole: bool, make: Any) -> None:
    plain = trained(lambda f: f, whole, make)
    with logs.capture("cudagraphs") as records:
        recorded = trained(lambda f: torch.compile(f, mode="reduce-overhead"), whole, make)
    assert recorded[0] == pytest.approx(plain[0], rel=1e-5)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(recorded[1], plain[1]))
    texts = [record.text for record in records]
    assert len(texts) == (1 if whole else 2) and all(text.startswith("recorded:") for text in texts)
    if whole and make is ADAMW:  # parameters and their states stay, the batch is copied, the learning rate is a number
        assert texts[0].endswith("16 static, 2 copied, 1 numbers")


def test_a_result_is_overwritten_by_the_next_run_and_says_so() -> None:
    compiled: Any = torch.compile(lambda x: (x + 1, x * 2), mode="reduce-overhead")
    x = torch.ones(3, device="cuda")
    outcomes = [compiled(x) for _ in range(3)]
    assert outcomes[0][0].tolist() == outcomes[2][0].tolist() == [2, 2, 2]  # the first ran plainly
    for use in (lambda y: y.tolist(), lambda y: y + 1, lambda y: y.clone()):
        with pytest.raises(RuntimeError, match="accessing tensor output of CUDAGraphs that has been overwritten"):
            use(outcomes[1][1])


def test_who_has_only_a_view_of_a_result_or_its_memory_is_told_too() -> None:
    compiled: Any = torch.compile(lambda x: (x + 1).exp(), mode="reduce-overhead")
    x = torch.zeros(3, device="cuda")
    for _ in range(2):
        compiled(x)
    view, storage = compiled(x)[1:], compiled(x).storage
    compiled(x)
    for address in (view.data_ptr, lambda: storage.block.address):
        with pytest.raises(RuntimeError, match="accessing tensor output of CUDAGraphs that has been overwritten"):
            address()


def test_what_is_saved_for_a_backward_pass_is_not_overwritten() -> None:
    w = torch.full((3,), 2.0, device="cuda", requires_grad=True)
    compiled: Any = torch.compile(lambda x: (x * w).sin().sum(), mode="reduce-overhead")
    inputs = [torch.full((3,), value, device="cuda") for value in (0.5, 1.0, 1.5, 2.0)]
    for _ in range(3):
        compiled(inputs[0]).backward()
        w.grad = None
    losses = [compiled(x) for x in inputs]
    for loss, x in zip(losses, inputs):
        (found,) = torch.autograd.grad(loss, w)
        assert torch.allclose(found, x * (x * w).cos())
    for x in inputs:  # gradients add up in memory of their own, too
        compiled(x).backward()
    assert torch.allclose(w.grad, sum(x * (x * w.detach()).cos() for x in inputs))


def test_an_input_that_moves_is_copied_from_then_on_and_other_parameters_are_another_recording() -> None:
    function: Any = torch.compile(lambda x, w: x * w, mode="reduce-overhead")
    x = torch.ones(3, device="cuda")
    weights = [torch.full((3,), value, device="cuda", requires_grad=True) for value in (2.0, 3.0)]
    with torch.no_grad(), logs.capture("cudagraphs") as records:
        for _ in range(3):
            function(x, weights[0])
        others = [torch.full((3,), float(n), device="cuda") for n in range(3)]
        assert [function(y, weights[0]).tolist()[0] for y in others] == [0, 2, 4]
        assert [function(x, weights[i % 2]).tolist()[0] for i in range(4)] == [2, 3, 2, 3]
    texts = [record.text for record in records]
    assert texts == [
        "recorded: 1 launches; inputs: 2 static, 0 copied, 0 numbers",
        "recorded again: inputs [0] have moved, and are copied from now on",
        "recorded: 1 launches; inputs: 1 static, 1 copied, 0 numbers",
        "recorded: 1 launches; inputs: 1 static, 1 copied, 0 numbers",
    ]


def test_other_sizes_are_recorded_by_themselves() -> None:
    function: Any = torch.compile(lambda x: x.softmax(-1) * 2, mode="reduce-overhead", dynamic=True)
    with logs.capture("cudagraphs") as records:
        for rows in (2, 3, 2, 3, 2, 3):
            x = torch.randn(rows, 4, device="cuda")
            assert torch.allclose(function(x), x.softmax(-1) * 2)
    assert sum(record.text.startswith("recorded:") for record in records) == 2


def test_an_index_out_of_range_is_told_by_whoever_waits_next() -> None:
    table = torch.arange(4.0, device="cuda")
    look_up: Any = torch.compile(lambda i: table[i] * 2, mode="reduce-overhead")
    good, bad = torch.tensor([1, 3], device="cuda"), torch.tensor([1, 9], device="cuda")
    for _ in range(3):
        assert look_up(good).tolist() == [2, 6]
    found = look_up(bad)
    with pytest.raises(IndexError, match="9 is out of bounds"):
        found.tolist()
    assert look_up(good).tolist() == [2, 6]


def test_dropout_draws_anew_at_each_launch() -> None:
    def drawn(function: Any) -> list[Any]:
        torch.manual_seed(5)
        x = torch.ones(16, device="cuda")
        return [function(x).tolist() for _ in range(4)]

    dropout = lambda x: nn.functional.dropout(x, 0.5)
    found = drawn(torch.compile(dropout, mode="reduce-overhead"))
    assert found == drawn(dropout) and found[2] != found[3]


@pytest.mark.filterwarnings("ignore:torch.compile. a graph with tensors on several devices")
@pytest.mark.filterwarnings("ignore:argsort on cuda is computed in main memory")
def test_what_cannot_be_recorded_says_why_and_runs_plainly() -> None:
    x = torch.tensor([3.0, 1.0, 2.0], device="cuda")
    mixed: Any = torch.compile(lambda x: x.cpu() + 1, mode="reduce-overhead")
    with pytest.warns(UserWarning, match="skipping cudagraphs due to cpu device"):
        assert mixed(x).tolist() == [4, 2, 3]
    between: Any = torch.compile(lambda x: (x.exp() * 2).sort().values.log(), mode="reduce-overhead")
    for _ in range(3):
        assert torch.allclose(between(x), x.sort().values + 0.6931472)


def test_a_step_that_begins_gives_up_what_was_saved() -> None:
    w = torch.full((3,), 2.0, device="cuda", requires_grad=True)
    compiled: Any = torch.compile(lambda x: (x * w).sin(), mode="reduce-overhead")
    x = torch.ones(3, device="cuda")
    kept = []
    with logs.capture("cudagraphs") as records:
        for _ in range(4):
            torch.compiler.cudagraph_mark_step_begin()
            kept.append(compiled(x))
    assert sum(record.text.startswith("recorded:") for record in records) == 1
    with pytest.raises(RuntimeError, match="overwritten by a subsequent run"):
        kept[1].sum().backward()


def test_the_memory_of_recordings_goes_back_when_they_are_forgotten() -> None:
    x = torch.ones(1000, device="cuda")
    before = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    compiled: Any = torch.compile(lambda x: (x + 1, (x * 2).sum()), mode="reduce-overhead")
    found = [compiled(x) for _ in range(3)]
    assert torch.cuda.memory_reserved() > before[1]
    kept = found[2][0]
    del compiled, found
    torch.compiler.reset()
    gc.collect()
    torch.cuda.empty_cache()
    assert kept.tolist() == [2.0] * 1000  # a result that somebody has stays where it is
    del kept
    torch.cuda.empty_cache()
    assert (torch.cuda.memory_allocated(), torch.cuda.memory_reserved()) == before


@pytest.fixture
def latest() -> Iterator[Runtime]:
    """A GPU that does what it is given as late as it may."""
    with using(FakeDriver(order="latest")) as runtime:
        yield runtime


def test_memory_of_a_recording_that_is_gone_waits_for_its_last_launch(latest: Runtime) -> None:
    double, side = torch.compile(lambda x: x * 2, mode="reduce-overhead"), torch.cuda.Stream()
    for value in (1.0, 2.0):
        double(torch.full((300,), value, device="cuda"))
    x = torch.full((300,), 3.0, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        result = double(x)
    del double
    torch.compiler.reset()
    gc.collect()
    others = [torch.full((300,), 7.0, device="cuda") for _ in range(3)]  # one lies where x was copied to
    torch.cuda.current_stream().synchronize()
    side.synchronize()
    assert result.eq(6).all() and all(other.eq(7).all() for other in others)


def test_memory_for_errors_waits_for_the_last_launch(latest: Runtime) -> None:
    chosen, side = torch.compile(lambda x, i: x[i], mode="reduce-overhead"), torch.cuda.Stream()
    x, i = torch.ones(4, device="cuda"), torch.tensor([0, 9], device="cuda")
    for _ in range(2):
        chosen(x, i * 0)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        chosen(x, i)
    del chosen
    torch.compiler.reset()
    gc.collect()
    other = pinned_bytes(latest, STATUS_BYTES)  # where the error was to be told, if that is free
    other[:] = 0
    side.synchronize()
    assert not other.any()


def test_so_does_that_of_a_graph_that_a_program_records(latest: Runtime) -> None:
    x, i, made = torch.ones(4, device="cuda"), torch.tensor([0, 0], device="cuda"), torch.cuda.CUDAGraph()
    x[i]
    torch.cuda.synchronize()
    with torch.cuda.graph(made):
        result = x[i]
    i.copy_(torch.tensor([0, 9]))
    torch.cuda.synchronize()
    made.replay()
    del made, result
    gc.collect()
    other = pinned_bytes(latest, STATUS_BYTES)
    other[:] = 0
    torch.cuda.synchronize()
    assert not other.any()
