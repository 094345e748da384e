"""Too many versions: what kept changing is named, with the values and what to do; then the plain function runs."""

import pytest

import minitorch_compile as torch
from minitorch_compile import config, logs, nn
from minitorch_compile.dynamo import cache_sizes, optimize, region_of, reset
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import matrix


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        return x * self.steps


class State:
    step = 0  # the class has one, too

    def __init__(self, step):
        self.step = step


CASES = {
    "number": (lambda x, n: x.sum() * n, lambda i: (matrix(), i), "n was 0, 1, 2,", "as a tensor"),
    "text": (lambda x, s: x * len(s), lambda i: (matrix(), "a" * i), "s was '', 'a', 'aa',", "few texts"),
    "length": (lambda x, items: x * len(items), lambda i: (matrix(), [0] * i), "len(items) was 0, 1, 2,", "stacked"),
    "sizes": (lambda x: x + 1, lambda i: (torch.ones(i),), "x.sizes was (0,), (1,), (2,),", "dynamic=None"),
    "keys": (
        lambda x, table: [x * v for v in table.values()],
        lambda i: (matrix(), {f"k{i}": 1}),
        "list(table) was ['k0'], ['k1'],",
        "same keys",
    ),
    "class": (
        lambda x, thing: x + 1 if isinstance(thing, str) else x,
        lambda i: (matrix(), type(f"Thing{i}", (), {})()),
        "type(thing) was Thing0, Thing1,",
        "one class",
    ),
    "attribute of an object": (
        lambda x, state: x * state.step,
        lambda i: (matrix(), State(i)),
        "state.step was",
        "count",
    ),
    "attribute": (Counting(), lambda i: (matrix(),), "was 1, 2, 3,", "in a buffer"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_warning_says_what_kept_changing_and_what_to_do(name):
    function, arguments, changed, cure = CASES[name]
    compiled = optimize(function, eager, dynamic=False)
    with pytest.warns(UserWarning) as warned:
        for i in range(12):
            compiled(*arguments(i))
    (warning,) = warned
    message = str(warning.message)
    assert "compiled 8 times, which is config.recompile_limit" in message
    assert changed in message and cure in message
    assert warning.filename == __file__


def test_each_function_has_its_own_warning():
    first, second = (optimize(lambda x, n: x.sum() * n, eager, dynamic=False) for _ in range(2))
    with config.patch(recompile_limit=1), pytest.warns(UserWarning) as warned:
        for i in range(3):
            first(matrix(), i), second(matrix(), i)
    assert len(warned) == 2


def test_versions_that_exist_serve_beyond_the_limit():
    counter = CompileCounter()
    compiled = optimize(lambda x, n: x.sum() * n, counter, dynamic=False)
    with config.patch(recompile_limit=2), pytest.warns(UserWarning):
        for n in (1, 2, 3, 1, 2, 3):
            assert compiled(matrix(), n).item() == (matrix().sum() * n).item()
    assert counter.frame_count == 2


def test_the_logs_name_the_guard_with_both_values():
    compiled = optimize(lambda x, n: x.sum() * n, eager, dynamic=False)
    compiled(matrix(), 1), compiled(matrix(), 2)
    with logs.capture("recompiles") as records:
        compiled(matrix(), 3)
    assert "n == 2  (expected 2, now 3)" in records[0].text and "n == 1" not in records[0].text
    with logs.capture("recompiles_verbose") as records:
        compiled(matrix(), 4)
    assert all(f"n == {n}  (expected {n}, now 4)" in records[0].text for n in (1, 2, 3))


def test_cache_sizes_counts_versions_and_reset_forgets_them():
    compiled = optimize(lambda x: x * 2, eager, dynamic=False)
    for size in (1, 2, 1):
        compiled(torch.ones(size))
    assert list(cache_sizes(compiled).values()) == [2]
    reset()
    assert cache_sizes(compiled) == {}
    assert compiled(torch.ones(1)).tolist() == [2] and region_of(compiled).caches
