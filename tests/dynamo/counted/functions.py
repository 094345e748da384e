"""Functions: closures, defaults, decorators, generators; functools, itertools, operator, math, random."""

import copy
import functools
import itertools
import math
import operator
import random
from functools import partial, reduce

import torch

from tests.dynamo.counting import counts, matrix

SCALE = 2
CALLS = []
TOTAL = 0


@counts
def a_call_of_another_function(x):
    return _twice(_twice(x)) + _with_defaults(x) + _with_defaults(x, 3, shift=1)


def _twice(x):
    return x * 2


def _with_defaults(x, by=2, *rest, shift=0, **options):
    return x * by + shift + len(rest) + len(options)


@counts
def star_arguments(x):
    args, options = (3, 4, 5), {"shift": 2, "other": 1}
    return _with_defaults(x, *args, **options)


@counts
def a_global_is_read(x):
    return x * SCALE


@counts
def a_global_is_written(x):
    global TOTAL
    TOTAL = TOTAL + 1
    CALLS.append(TOTAL)
    return x + 1


@counts
def closures(x):
    count = 0

    def step(y):
        nonlocal count
        count += 1
        return y * count + x

    return step(x) + step(x), count


@counts
def functions_that_return_functions(x):
    def scaled(by):
        return lambda y: y * by

    double, triple = scaled(2), scaled(3)
    return double(x) + triple(x)


@counts
def a_function_is_returned(x):
    y = x * 2
    return lambda z: z + y


@counts
def recursion(x):
    def power(n):
        return x if n == 0 else power(n - 1) * x

    return power(4)


def _logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return wrapper


@_logged
def _decorated(x, by):
    return x * by


@counts
def decorated_functions(x):
    return _decorated(x, by=3), _decorated.__name__


@counts
def a_decorator_applied_inside(x):
    @_logged
    def inner(y):
        return y * 2

    return inner(x)


@counts
def partials(x):
    add = partial(torch.add, x, alpha=2)
    scaled = partial(_with_defaults, by=4)
    return add(x) + scaled(x, shift=1)


@counts
def folding(x):
    return reduce(lambda a, b: a * b, [x, x + 1, x + 2]) + reduce(operator.add, [1, 2, 3], 4)


@functools.lru_cache(maxsize=None)
def _cached(n):
    return n * 2


@counts
def a_cached_function(x):
    return x * _cached(3) + _cached(3)


@functools.singledispatch
def _size_of(value):
    return 1


@_size_of.register
def _(value: int):
    return value


@_size_of.register(list)
def _(value):
    return len(value)


@counts
def single_dispatch(x):
    return x * _size_of(5) + _size_of([1, 2]) + _size_of("a")


class Lazy:
    def __init__(self, n):
        self.n = n

    @functools.cached_property
    def squared(self):
        return self.n**2


@counts
def cached_properties(x):
    lazy = Lazy(3)
    return x * lazy.squared + lazy.squared


@counts
def generators(x):
    def halves(y):
        for i in range(3):
            yield y * i

    def both():
        yield from halves(x)
        yield x + 1

    return sum(halves(x)), list(both()), next(halves(x))


@counts
def generator_expressions(x):
    return sum(x * i for i in range(3)), max(i * 2 for i in range(3)), any(i > 1 for i in range(3))


@counts
def infinite_generators(x):
    def powers():
        n = 1
        while True:
            yield n
            n *= 2

    for p, row in zip(powers(), x):
        x = x + row * p
    return x


@counts
def zip_and_enumerate(x):
    total = 0
    for i, (a, b) in enumerate(zip(x, x.flip(0), strict=True), start=1):
        total = total + a * b * i
    return total


@counts
def map_and_filter(x):
    pairs = list(map(lambda a, b: a * b, x.unbind(0), [2, 3]))
    kept = [t for t in filter(lambda n: n % 2, range(5))]
    return pairs[0] + pairs[1] + len(kept) + sum(filter(None, [0, 1, 2]))


@counts
def extremes(x):
    words = ["bb", "a", "ccc"]
    return x * len(max(words, key=len)) + len(min(words)) + max([], default=3) + max(1, 5, 2)


@counts
def any_all_sum(x):
    parts = [x, x * 2]
    if all(p.shape == x.shape for p in parts) and not any(p is None for p in parts):
        return sum(parts) + sum([1, 2], start=3)
    return x


@counts
def reversed_and_sorted(x):
    rows = list(reversed([x, x + 1]))
    order = sorted(range(3), key=lambda i: -i)
    return rows[0] * order[0] + rows[1] + len(list(reversed(range(3))))


@counts
def iterators_by_hand(x):
    numbers = iter([1, 2, 3])
    first = next(numbers)
    rest = list(numbers)
    return x * first + sum(rest) + next(numbers, 7) + len(list(iter([1, 2].__iter__())))


@counts
def itertools_chains(x):
    total = x
    for item in itertools.chain([1, 2], (3,), itertools.chain.from_iterable([[4], [5]])):
        total = total + item
    return total


@counts
def itertools_products(x):
    total = x
    for a, b in itertools.product([1, 2], repeat=2):
        total = total + a * b
    return total, list(itertools.combinations("abc", 2)), list(itertools.permutations([1, 2, 3], 2))


@counts
def itertools_ends(x):
    counted = [i for i, _ in zip(itertools.count(5, 2), range(3))]
    part = list(itertools.islice(itertools.cycle([1, 2]), 5))
    return x * sum(counted) + sum(part) + sum(itertools.repeat(2, 3))


@counts
def itertools_runs(x):
    sums = list(itertools.accumulate([x, x + 1, x + 2]))
    groups = {k: len(list(g)) for k, g in itertools.groupby("aabbb")}
    return sums[-1] * groups["b"], list(itertools.pairwise([1, 2, 3])), list(itertools.zip_longest([1, 2], [3]))


@counts
def itertools_choices(x):
    small = list(itertools.takewhile(lambda n: n < 3, range(9)))
    large = list(itertools.dropwhile(lambda n: n < 3, range(6)))
    starred = list(itertools.starmap(pow, [(2, 3), (3, 2)]))
    chosen = list(itertools.compress([1, 2, 3], [1, 0, 1])) + list(itertools.filterfalse(lambda n: n, [0, 1]))
    return x * len(small) + len(large) + sum(starred) + sum(chosen)


@counts
def itertools_tee(x):
    a, b = itertools.tee([1, 2, 3])
    return x * sum(a) + sum(b)


@counts
def operators_as_functions(x):
    y = operator.add(x, 1)
    z = operator.mul(y, operator.itemgetter(1)([2, 3]))
    return operator.neg(z) + operator.attrgetter("ndim")(x) + operator.methodcaller("sum", 0)(x), operator.lt(1, 2)


@counts
def mathematics(x):
    n = math.prod([2, 3]) + math.floor(2.7) + math.gcd(12, 18) + math.comb(4, 2)
    return x * math.sqrt(x.shape[1]) + math.pi + math.log2(8) + n + (math.inf > 1) + math.isclose(1, 1 + 1e-12)


@counts
def builtin_numbers(x):
    n = round(2.567, 1) + divmod(7, 2)[1] + pow(2, 3, 5) + abs(-3) + int("12") + float("0.5") + (7).bit_length()
    return x * n + bool([]) + len(str(12)) + ord("a") + len(hex(255)) + int(3.9)


@counts
def random_numbers_of_python(x):
    random.seed(1)
    return x * random.random() + random.randint(1, 3)


@counts
def copies(x):
    tree = {"a": [1, 2], "b": (3,)}
    other, shallow = copy.deepcopy(tree), copy.copy(tree)
    other["a"].append(4)
    shallow["c"] = 1
    return x * len(tree["a"]) + len(other["a"]) + len(tree)


@counts
def early_returns(x):
    for i in range(10):
        x = x + 1
        if i == 2:
            return x
    return x * 100


@counts
def loops_with_else_and_continue(x):
    n = 0
    while n < 5:
        n += 1
        if n % 2:
            continue
        x = x * n
    else:
        x = x + 1
    return x


@counts
def conditional_expressions(x):
    flag = x.dim() == 2 and not x.requires_grad or x.is_complex()
    return x * 2 if flag else x * 3


@counts
def assertions_that_hold(x):
    assert x.dim() == 2, "a matrix is needed"
    assert isinstance(x, torch.Tensor)
    return x + 1


@counts
def walrus_and_chained_comparisons(x):
    if (n := x.shape[0]) > 1 and 0 < n <= 2 < 3:
        x = x * n
    return x


@counts(lambda torch: (matrix(torch), lambda y: y * 3))
def a_function_as_an_argument(x, function):
    return function(x) + 1


@counts
def string_annotations_and_casts(x):
    from typing import Any, cast

    y: Any = cast(torch.Tensor, x)
    return y + 1


@counts
def lambdas_with_defaults_in_a_loop(x):
    functions = [lambda y, k=k: y * k for k in range(3)]
    return sum(f(x) for f in functions)


@counts
def function_attributes(x):
    def inner(y):
        return y * inner.scale

    inner.scale = 3
    return inner(x)
