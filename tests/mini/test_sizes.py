"""Symbolic sizes: what is said of them holds of the number at a call; one version serves all other batches."""

import itertools
import operator

import numpy as np
import pytest
from mini import nn, ops
from mini.breaks import Region
from mini.front import BACKENDS, compile
from mini.program import Program
from mini.sizes import Batch, Size, at
from mini.tensor import from_numpy

FORMULAS = [(1, 0), (64, 0), (2, -1), (8, 16), (-3, 1)]
NUMBERS = [-1, 0, 1, 2, 3, 7, 16, 64]
OPERATORS = [getattr(operator, name) for name in ("add", "sub", "mul", "floordiv", "mod", "truediv")]
OPERATORS += [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("now", [2, 7, 64])
def test_an_answer_is_right_for_all_batches_of_which_holds_what_was_required(f, now):
    for (a, b), other in itertools.product(FORMULAS, [*FORMULAS, *NUMBERS]):
        required = []
        batch = Batch(now, lambda text, holds, required=required: required.append(holds))
        x, y = Size(batch, a, b), Size(batch, *other) if isinstance(other, tuple) else other
        for left, right in ((x, y), (y, x)):
            try:
                answer = f(left, right)
            except ZeroDivisionError:
                continue
            assert all(holds(now) for holds in required)
            for n in (2, 3, 7, 10, 64):
                if all(holds(n) for holds in required):
                    assert at(answer, n) == f(at(left, n), at(right, n)), f"{left} {f.__name__} {right}, s0 = {n}"


def test_what_depends_on_the_number_is_required():
    said = []
    size = Size(Batch(7, lambda text, holds: said.append(text)))
    assert size > 1 and size * 64 != 0 and 64 * size // size == 64 and not said
    assert size != 64 and [0] * size == [0] * 7 and {7: "seven"}[size] == "seven"
    assert said == ["(s0 != 64) is True", "s0 == 7", "s0 == 7", "(s0 == 7) is True"]


class Net(nn.Module):
    def __init__(self):
        self.a, self.n, self.b = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.b(self.n(self.a(x).relu()))


class Pictures(nn.Module):
    def __init__(self):
        self.c, self.out = nn.Conv2d(1, 2, 3), nn.Linear(8, 3)

    def forward(self, x):
        x = nn.max_pool2d(self.c(x).relu(), 2)
        return self.out(x.reshape(x.shape[0], -1))


class Attention(nn.Module):
    def __init__(self):
        self.q, self.k, self.v, self.place = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 3), nn.Embedding(3, 4)

    def forward(self, x):
        x = x + self.place(ops.iota((x.shape[1],), 0, "int64"))
        return ((self.q(x) @ self.k(x).transpose(1, 2)).softmax(-1) @ self.v(x))[:, 0]


def entropy(model, x, y):
    return nn.cross_entropy(model(x), y)


def mean_square(model, x, y):
    return (model(x) ** 2).mean() + x.sum() / x.shape[0]


def several(model, x, y):
    rows = model(x)
    return (rows * rows).sum(), rows.amax(0), rows.transpose(0, 1), x.reshape(x.shape[0], -1), x.shape[0] * 2


SHAPES = {Net: (6,), Pictures: (1, 4, 4), Attention: (3, 4)}
CALLS = [(Net, entropy), (Net, mean_square), (Net, several), (Pictures, entropy), (Attention, entropy)]
SLOW = [(Net, mean_square, "inductor"), (Pictures, entropy, "inductor")]  # half a minute of machine code


def run(model, f, batch):
    """The results, and all gradients."""
    rng = np.random.default_rng(batch)
    x, y = rng.random((batch, *SHAPES[type(model)]), np.float32), rng.integers(0, 3, batch)
    for p in model.parameters():
        p.grad = None
    results = f(model, from_numpy(x), from_numpy(y))
    results = results if isinstance(results, tuple) else (results,)
    results[0].backward()
    numbers = [r if isinstance(r, int) else r.numpy() for r in results]
    return numbers + [p.grad.numpy() for p in model.parameters()]


@pytest.mark.parametrize(
    "make, f, backend",
    [
        pytest.param(*case, marks=pytest.mark.slow if case in SLOW else (), id="-".join([c.__name__, f.__name__, b]))
        for c, f in CALLS
        for b in BACKENDS
        for case in [(c, f, b)]
    ],
)
def test_one_version_more_serves_all_other_batches(make, f, backend):
    made, model = [], make()
    region = Region(f, lambda graph: made.append(graph) or BACKENDS[backend](graph), dynamic=True)
    counts = []
    for batch in (1, 2, 3, 7, 64):
        wanted = run(model, f, batch)
        for got, want in zip(run(model, region, batch), wanted, strict=True):
            assert type(got) is type(want)
            assert np.allclose(got, want, rtol=1e-4, atol=1e-5), f"batch {batch}"
        counts.append(len(made))
    assert counts[1:] == [counts[1]] * 4 and counts[1] == 2 * counts[0]


def rows_by_number(x):
    return sum([x[i] for i in range(x.shape[0])]) if x.shape[0] > 4 else x.sum(0) * 2


def as_a_type(x):
    return x * (2 if isinstance(x.shape[0], int) and type(len(x)) is int else 3)


def as_text(x):
    return x * len(str(x.shape) + str(x.shape[0]))


def as_a_key(x):
    return x * {3: 5}.get(x.shape[0], 7) * (x.shape[0] in (2, 64))


def as_a_fraction(x):
    return x * (1 / x.shape[0]) + x.shape[0] ** 2 * 0.5


def sliced(x):
    return x[1:].sum() + x[: x.shape[0] // 2].sum() + x[-1]


def across_a_break(x):
    n, kept = x.shape[0], (slice(0, x.shape[0]), x.shape)
    factor = x.sum().item()
    return x[kept[0]] * factor / kept[1][0] + n


def kept_aside(x):
    seen.append(x.shape[0])
    return x * x.shape[0] + (x.shape[0] - 1)


def with_itself(x):
    return x @ x.transpose(0, 1) + ops.cat([x, x]).sum(0)[0]


seen = []


@pytest.mark.parametrize("backend", ["eager", "inductor"])
@pytest.mark.parametrize(
    "f",
    [rows_by_number, as_a_type, as_text, as_a_key, as_a_fraction, sliced, across_a_break, kept_aside, with_itself],
    ids=lambda f: f.__name__,
)
def test_what_asks_for_the_number_gets_a_version_of_its_own_and_is_right(f, backend):
    compiled = compile(f, backend, dynamic=True)
    for batch in (3, 5, 2, 64, 7, 3, 1, 0):
        x = from_numpy(np.random.default_rng(batch).random((batch, 3), np.float32))
        if batch == 0 and f in (as_a_fraction, sliced, across_a_break):
            continue
        seen.clear()
        wanted, kept = f(x), seen.copy()
        seen.clear()
        assert np.allclose(compiled(x).numpy(), wanted.numpy(), rtol=1e-5)
        assert seen == kept and all(type(n) is int for n in seen)


def test_two_inputs_that_no_longer_have_one_batch_get_another_version():
    region = Region(lambda x, y: (x.sum(0) + y.sum(0), x.shape[0] == y.shape[0]), dynamic=True)
    for m, n in ((3, 3), (5, 5), (7, 7), (5, 6), (2, 8)):
        got, same = region(from_numpy(np.ones((m, 2))), from_numpy(np.ones((n, 2))))
        assert got.tolist() == [m + n] * 2 and same is (m == n)


@pytest.mark.parametrize("dynamic, versions", [(True, 1), (False, 4)])
def test_dynamic_says_when_a_size_is_a_formula(dynamic, versions):
    compiled, weight = compile(lambda x, w: x @ w, dynamic=dynamic), from_numpy(np.ones((2, 2)), requires_grad=True)
    for batch in (2, 3, 4, 5):
        assert compiled(from_numpy(np.ones((batch, 2))), weight).tolist() == [[2, 2]] * batch
    assert len(compiled.entries()) == versions


def test_a_kernel_gets_the_batch_where_it_needs_it():
    programs = []
    region = Region(lambda x: (x.sum(1), x.sum(0)), lambda g: programs.append(Program(g)) or programs[-1], True)
    assert [out.tolist() for out in region(from_numpy(np.ones((5, 4), np.float32)))] == [[4] * 5, [5] * 4]
    assert [step.source.splitlines()[0] for step in programs[0].steps] == [
        "def kernel(low, high, x0, buf0):",
        "def kernel(low, high, x0, buf1, s0):",
    ]
