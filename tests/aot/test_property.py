"""Generated programs: those of the pipeline's battery, and programs of in-place operations on views."""

from __future__ import annotations

import random

import pytest

from minitorch_compile.tensor import Tensor
from tests.aot.compare import BACKENDS, check, compiled, sample
from tests.pipeline.compare import check_values, evaluate
from tests.pipeline.programs import generate
from tests.pipeline.rules import FAMILIES


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS.keys())
def backend(request):
    return request.param


@pytest.mark.parametrize("family", FAMILIES)
def test_programs_of_the_battery(family, backend):
    for seed in range(8):
        program = generate(family, seed)
        expected = evaluate(program, "float64")
        actual = evaluate(program, "float64", lambda function: compiled(function, backend))
        check_values(program, actual, expected.values)
        for got, want in zip(actual.gradients, expected.gradients, strict=True):
            assert abs(got - want).max(initial=0) <= 1e-9 * (1 + abs(want).max(initial=0)), program.source


# ------------------------------------------------------------------------------------------ writes through views

VIEWS = [
    lambda x, r: x[r.randrange(x.shape[0])],
    lambda x, r: x[..., r.randrange(2) :],
    lambda x, r: x[:: r.choice((1, 2))],
    lambda x, r: x.transpose(0, -1),
    lambda x, r: x.unsqueeze(r.randrange(x.ndim + 1)),
    lambda x, r: x.squeeze(),
    lambda x, r: x.reshape(-1) if x.is_contiguous() else x.t() if x.ndim == 2 else x.transpose(0, 1),
    lambda x, r: x.narrow(0, 0, x.shape[0] - r.randrange(x.shape[0])),
]
WRITES = [
    lambda x, r: x.add_(r.uniform(-1, 1)),
    lambda x, r: x.mul_(r.uniform(0.5, 2)),
    lambda x, r: x.copy_(x * 2),
    lambda x, r: x.fill_(r.uniform(-1, 1)),
    lambda x, r: x.sin_(),
    lambda x, r: x.sub_(x.detach().mean()),
]
READS = [
    lambda x, y, r: x * 2 + y.sum(),
    lambda x, y, r: (x * x).sum() + y.mean(),
    lambda x, y, r: x + x.mean(),
    lambda x, y, r: x.clone(),
]


def program_of(seed: int):
    """A function of two matrices that views, writes and reads in random order, and returns some of what it made."""

    def program(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        r = random.Random(seed)
        pool = [a, b]
        for _ in range(r.randrange(2, 9)):
            kind, x = r.choice("vvwwr"), r.choice(pool)
            if kind == "v" and x.ndim and x.numel() > 1:
                pool.append(r.choice(VIEWS)(x, r))
            elif kind == "w":
                r.choice(WRITES)(x, r)
            else:
                pool.append(r.choice(READS)(x, r.choice(pool), r))
        return tuple(r.sample(pool, min(3, len(pool))))

    return program


@pytest.mark.parametrize("first", range(0, 120, 20))
@pytest.mark.parametrize(
    "gradients", [(False, False), (True, True), (False, True)], ids=["no grad", "grad", "one grad"]
)
def test_programs_that_write_through_views(first, gradients, backend):
    for seed in range(first, first + 20):
        inputs = lambda: [sample(3, 4, seed=i, requires_grad=g) for i, g in enumerate(gradients)]
        try:
            check(program_of(seed), inputs, backend)
        except RuntimeError as error:  # the plain program can't be differentiated
            if "modified by an inplace operation" not in str(error):
                raise AssertionError(f"program_of({seed})") from error
        except AssertionError as error:
            raise AssertionError(f"program_of({seed}): {error}") from error
