"""Random graphs of all ops, and the smallest programs of those that were wrong once."""

from contextlib import nullcontext

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from tests.inductor.fuzz.checking import report
from tests.inductor.fuzz.growing import grow
from tests.inductor.fuzz.judging import difference
from tests.inductor.fuzz.programs import Input, Program
from tests.inductor.fuzz.shrinking import shrink

BACKENDS = ("loops", "inductor", "cuda_sim")


# 700 graphs, ten a test. Compiling kernels takes most of the time, so only a sixth have any; `make fuzz` tries more.
FIRST = [
    *(("inductor", "cpu", seed) for seed in range(0, 100, 10)),
    *(("loops", "cpu", seed) for seed in range(100, 300, 10)),
    *(("cuda_sim", "cpu", seed) for seed in range(300, 400, 10)),
    *(("inductor", "cuda", seed) for seed in range(400, 700, 10)),
]
RECORDED = (400, 550)  # of these, those that are launched as recordings


@pytest.mark.parametrize(("backend", "device", "first"), FIRST)
@pytest.mark.filterwarnings("ignore:.*main memory")
@pytest.mark.heavy
def test_random_graphs_give_what_the_plain_program_gives(backend, device, first):
    with nullcontext() if device == "cpu" else using(FakeDriver()):
        mode = "reduce-overhead" if first in RECORDED else "default"
        reports = [report(seed, backend, device=device, mode=mode) for seed in range(first, first + 10)]
    assert not any(reports), "\n".join(filter(None, reports))


def on(*arrays, **options):
    return Program({f"x{i}": Input(np.asarray(a, "float32")) for i, a in enumerate(arrays)}, **options)


WRONG_ONCE = {
    "a reduction of nothing": (on(np.zeros((2, 0))), lambda x: (F.softmax(x, -1), x.sum(0), x.mean() - x)),
    "a count of nothing, for each row": (
        on(np.ones((3, 4))),
        lambda x: (torch.count_nonzero(x[:, :0], 1), x[:, :0].prod(1)),
    ),
    "a view of nothing": (on(np.zeros((2, 0))), lambda x: (x.unsqueeze(1)[..., 1:], (x + 1).reshape((0, 2)))),
    "losses of transposed targets": (
        on(np.random.default_rng(0).normal(size=(2, 3, 4))),
        lambda x: (F.cross_entropy(x, torch.tensor([[0, 1], [2, 0], [1, 1], [2, 2]]).t(), reduction="none"),),
    ),
    "a diagonal of matrices, written to": (
        on(np.ones((2, 3, 4))),
        lambda x: (x.diagonal().add_(1), x.permute(2, 0, 1)),
    ),
    "random numbers of nothing": (on(np.ones((2, 0))), lambda x: (torch.rand(x.shape) + x, F.dropout(x, 0.5))),
    "nothing in numbers of two bytes": (on(np.zeros(0)), lambda x: (x.bfloat16().flip(0), x.half().flip(0))),
    "a window that was computed while it was traced": (
        on(np.ones(6)),
        lambda x: (x * torch.kaiser_window(6), torch.kaiser_window(5, periodic=False)),
    ),
    "a sum of nothing": (on(np.zeros(0)), lambda x: (torch.cat([x, x]).sum(0),)),
}


@pytest.mark.parametrize("name", WRONG_ONCE)
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_was_wrong_once(backend, name):
    program, function = WRONG_ONCE[name]
    assert difference(program, backend, function) is None


# ------------------------------------------------------------------------------------------ the fuzzer itself


def test_a_wrong_element_is_found_and_the_program_made_small():
    program = Program(
        {"x0": Input(np.float32([[1, 2], [3, 4]])), "x1": Input(np.float32([5, 6]))},
        ["v1 = x0 * 2", "v2 = v1.t()", "v3 = torch.floor(v2 + x1)", "v4 = x1.exp()"],
        ["v3", "v4"],
    )
    smaller = shrink(program, lambda p: "v3" in p.outputs and "floor" in p.source)
    assert len(smaller.lines) == 1
    assert "torch.floor" in smaller.source

    def wrong(gm, example_inputs):
        return lambda *args: tuple(
            out + (torch.arange(out.numel()).reshape(out.shape) == 1) * 1e-3 for out in gm(*args)
        )

    assert "off by" in difference(program, wrong)


def test_only_what_rounding_decides_about_is_excused():
    """The order of a row times its mean: which way round, is decided by the sign of a mean that is all rounding."""

    def program(x):
        return (torch.sort(x.sigmoid().logit().mean(-1, keepdim=True) * x, -1)[1],)

    def turned(gm, example_inputs):
        return lambda *args: tuple(out.flip(-1) if out.dtype is torch.int64 else out for out in gm(*args))

    assert difference(on([[-0.5, 0.0, 0.5]]), turned, program) is None
    assert "expected [[0, 1, 2]]" in difference(on([[0.5, 1.0, 1.5]]), turned, program)


def test_programs_are_the_same_each_time():
    assert grow(7).source == grow(7).source
