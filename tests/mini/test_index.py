"""Index algebra against Python's integers: whatever is simplified, the value stays."""

import itertools
import random

import pytest
from mini.index import Index, flatten, split

SIZES = {"i": 3, "j": 8, "k": 1, "m": 5}


def value(index, at):
    return eval(str(index), {}, dict(at))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_simplified_keeps_its_value_and_bounds(seed):
    rng = random.Random(seed)
    exprs = [(Index.variable(name, n), lambda at, name=name: at[name]) for name, n in SIZES.items()]
    for _ in range(12):
        (a, f), (b, g), n = rng.choice(exprs), rng.choice(exprs), rng.choice([1, 2, 3, 4, 8, 12])
        exprs.append(
            rng.choice(
                [
                    (a + b, lambda at, f=f, g=g: f(at) + g(at)),
                    (a - b, lambda at, f=f, g=g: f(at) - g(at)),
                    (a * n + b, lambda at, f=f, g=g, n=n: f(at) * n + g(at)),
                    (a * -n + 1, lambda at, f=f, n=n: f(at) * -n + 1),
                    (a // n, lambda at, f=f, n=n: f(at) // n),
                    (a % n, lambda at, f=f, n=n: f(at) % n),
                    (a // n * n + a % n + b, lambda at, f=f, g=g: f(at) + g(at)),
                ]
            )
        )
    for expr, meaning in exprs:
        low, high = expr.bounds()
        for values in itertools.product(*[range(n) for n in SIZES.values()]):
            at = dict(zip(SIZES, values, strict=True))
            assert value(expr, at) == meaning(at), f"{expr} at {at}"
            assert low <= meaning(at) <= high


@pytest.mark.parametrize("sizes", [(), (1,), (4,), (3, 1, 2), (2, 3, 4)])
def test_split_undoes_flatten(sizes):
    index = tuple(Index() if n == 1 else Index.variable(f"i{d}", n) for d, n in enumerate(sizes))
    assert split(flatten(index, sizes), sizes) == index
    flat = Index.variable("f", max(1, len(list(itertools.product(*map(range, sizes))))))
    assert flatten(split(flat, sizes), sizes) == (flat if sizes else Index())


def test_reshapes_that_regroup_need_no_division():
    i, j = Index.variable("i", 6), Index.variable("j", 4)
    assert split(flatten((i, j), (6, 4)), (6, 2, 2)) == (i, j // 2, j % 2)
    assert all(index.is_affine for index in split(flatten((i, j), (6, 4)), (6, 1, 4)))
