"""torch.cuda.CUDAGraph and its friends: work recorded, and launched again as one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.errors import CudaError


def warmed(function: Any, *arguments: Any) -> Any:
    """Runs it once, so that its kernels are at hand."""
    function(*arguments)
    return function


def test_what_is_recorded_is_not_done_but_launched_later_on_the_same_memory() -> None:
    x = torch.arange(4.0, device="cuda").view(2, 2)
    program = warmed(lambda x: (x @ x).relu() * 2, x)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        assert torch.cuda.is_current_stream_capturing()
        y = program(x)
    assert not torch.cuda.is_current_stream_capturing()
    for value in (1.0, 3.0):
        x.fill_(value)
        g.replay()
        assert torch.equal(y, program(x)) and y[0, 0].item() == 4 * value**2


def test_memory_of_a_recording_is_its_own_until_it_is_dropped(gpus: Runtime) -> None:
    x = torch.ones(300, device="cuda")
    program = warmed(lambda x: ((x + 1) * 2, x * 3), x)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        (y, _) = program(x)
    place = y.data_ptr()
    del y, _
    taken = [torch.empty(300, device="cuda") for _ in range(20)]
    assert place not in {t.data_ptr() for t in taken}
    held = torch.cuda.memory_reserved()
    g.reset()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() < held


def test_recordings_share_a_pool() -> None:
    x = torch.ones(300, device="cuda")
    program = warmed(lambda x: x + 1, x)
    first, second, pool = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph(), torch.cuda.graph_pool_handle()
    with torch.cuda.graph(first, pool=pool):
        y = program(x)
    place = y.data_ptr()
    del y
    with torch.cuda.graph(second, pool=first.pool()):
        z = program(x)
    assert z.data_ptr() == place and first.pool() == second.pool() == pool


def test_what_cannot_be_recorded_says_so_and_spoils_the_recording() -> None:
    x = torch.ones(2, device="cuda")
    for forbidden in (lambda: x.tolist(), lambda: torch.ones(2).cuda(), torch.cuda.synchronize):
        g = torch.cuda.CUDAGraph()
        with pytest.raises(CudaError, match="operation not permitted when stream is capturing"):
            with torch.cuda.graph(g):
                forbidden()
        with pytest.raises(RuntimeError, match="there is no recording"):
            g.replay()
        assert (x + 1).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="CUDA graphs must be captured on a non-default stream"):
        torch.cuda.CUDAGraph().capture_begin()
    with pytest.raises(RuntimeError, match="random numbers can't be drawn"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            torch.rand(2, device="cuda")


def test_streams_that_are_drawn_in_must_come_back() -> None:
    x = torch.ones(2, device="cuda")
    warmed(lambda: x + 1)
    side, g = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        torch.cuda.current_stream().wait_stream(side)
        z = y + 1
    x.fill_(3)
    g.replay()
    assert z.tolist() == [5, 5]
    with pytest.raises(CudaError, match="must be waited for before its end"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                y = x + 1


def test_indices_are_checked_at_the_next_launch() -> None:
    table, i = torch.arange(4.0, device="cuda"), torch.tensor([1, 3], device="cuda")
    warmed(lambda: table[i])
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        found = table[i]
    g.replay()
    assert found.tolist() == [1, 3]
    i.fill_(9)
    g.replay()
    i.fill_(2)
    with pytest.raises(IndexError, match="9 is out of bounds"):
        g.replay()
    g.replay()
    assert found.tolist() == [2, 2]


def test_memory_of_a_recording_is_handed_to_nobody_else() -> None:
    x, side, g = torch.ones(100, device="cuda"), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    warmed(lambda: x + 1)
    with torch.cuda.graph(g, stream=side):
        y = x + 1
    with torch.cuda.stream(side):
        del y
        z = torch.full((100,), 7.0, device="cuda")
        g.replay()
        assert z.tolist() == [7.0] * 100


def test_another_threads_index_out_of_range_is_told_to_that_thread() -> None:
    table, i = torch.arange(4.0, device="cuda"), torch.tensor([1, 9], device="cuda")
    warmed(lambda: table[:2][torch.tensor([1, 0], device="cuda")])
    told: list[str] = []

    def look() -> None:
        try:
            table[i]
        except IndexError as error:
            told.append(str(error))

    g, other = torch.cuda.CUDAGraph(), threading.Thread(target=look)
    with torch.cuda.graph(g, capture_error_mode="thread_local"):
        other.start()
        other.join()
        table + 1
    g.replay()
    g.replay()
    assert len(told) == 1 and "9 is out of bounds" in told[0]


def test_a_step_that_counts_is_recorded_if_it_is_capturable() -> None:
    def stepped(capturable: bool, recorded: bool) -> Any:
        w = nn.Parameter(torch.ones(3, device="cuda"))
        w.grad = torch.ones_like(w)
        adam, g = torch.optim.Adam([w], lr=0.1, capturable=capturable), torch.cuda.CUDAGraph()
        adam.step()
        if recorded:
            with torch.cuda.graph(g):
                adam.step()
        for _ in range(3):
            g.replay() if recorded else adam.step()
        return w.detach().cpu()

    torch.testing.assert_close(stepped(True, True), stepped(False, False))
    with pytest.raises(RuntimeError, match="capture of step.. for an instance of Adam but .* capturable is False"):
        stepped(False, True)


@pytest.mark.parametrize(
    "make",
    [
        lambda w: torch.optim.Adagrad([w], lr_decay=0.5),
        lambda w: torch.optim.Adafactor([w]),
        lambda w: torch.optim.SparseAdam([w]),
    ],
)
def test_steps_that_are_counted_on_the_host_are_not_recorded(make: Callable[[Any], Any]) -> None:
    w = torch.ones(2, 2, device="cuda", requires_grad=True)
    w.grad = torch.ones(2, 2, device="cuda")
    optimizer = make(w)
    with pytest.raises(RuntimeError, match="it counts its steps on the host"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        optimizer.step()


def test_a_whole_training_step_of_plain_code_is_recorded() -> None:
    def trained(records: bool) -> list[float]:
        torch.manual_seed(0)
        model = nn.Linear(3, 1).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        x, y = torch.empty(4, 3, device="cuda"), torch.empty(4, 1, device="cuda")

        def step() -> Any:
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        x.copy_(torch.ones(4, 3))
        y.copy_(torch.zeros(4, 1))
        losses = [step().item() for _ in range(2)]
        g = torch.cuda.CUDAGraph()
        if records:
            with torch.cuda.graph(g):
                loss = step()
        for number in range(3):
            x.copy_(torch.full((4, 3), float(number)))
            if records:
                g.replay()
            else:
                loss = step()
            losses.append(loss.item())
        return losses

    assert trained(True) == trained(False)


def test_graphed_callables_give_the_values_and_gradients_of_plain_ones() -> None:
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    graphed = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    graphed.load_state_dict(plain.state_dict())
    sample = torch.randn(5, 3, device="cuda", requires_grad=True)
    assert torch.cuda.make_graphed_callables(graphed, (sample,)) is graphed
    for _ in range(2):
        x = torch.randn(5, 3, device="cuda", requires_grad=True)
        found = []
        for model in (plain, graphed):
            model.zero_grad()
            y = model(x)
            x.grad = None
            (y**2).sum().backward()
            found.append([y.detach().clone(), x.grad, *(p.grad.clone() for p in model.parameters())])
        assert all(torch.allclose(a, b) for a, b in zip(*found))
    graphed.eval()
    assert torch.equal(graphed(x), plain(x))
    double = torch.cuda.make_graphed_callables(lambda x: x * 2, (torch.ones(2, device="cuda"),))
    assert double(torch.full((2,), 4.0, device="cuda")).tolist() == [8, 8]
    with pytest.raises(TypeError, match="must contain only Tensors"):
        torch.cuda.make_graphed_callables(lambda x: x, (3,))
