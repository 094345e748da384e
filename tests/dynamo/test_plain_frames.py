"""Frames that run as plain Python: they do what they did, and what they call is compiled, with the hook and without."""

import heapq
import sys

import pytest

from minitorch_compile import config
from minitorch_compile.dynamo import disable, optimize, region_of
from minitorch_compile.dynamo.frame_evaluation.native import native_hook
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import matrix

X = matrix()


def double(x):
    return x * 2


class Doubling:
    def __matmul__(self, x):
        return double(x)

    @property
    def doubled(self):
        return double(X)


@pytest.fixture(params=[True, False], ids=["hooked", "rewritten"])
def hooked(request):
    with config.patch(frame_hook=request.param):
        yield request.param


def test_what_a_plain_frame_calls_is_compiled(hooked):
    @disable(recursive=False)
    def plain(x):
        return double(double(x))

    counter = CompileCounter()
    compiled = optimize(lambda x: plain(x) + 1, counter)
    assert compiled(X).tolist() == (X * 4 + 1).tolist()
    assert [graph.graph.compact() for graph in counter.graphs].count("x -> (x * 2,)") == 1
    assert not native_hook().is_installed


def test_under_the_hook_calls_by_c_code_operators_and_attributes_are_compiled_too():
    @disable(recursive=False)
    def plain(x):
        return [
            *map(double, [x]),
            Doubling() @ x,
            Doubling().doubled,
            sorted([x, x], key=lambda x: double(x)[0, 1].item())[0],
        ]

    compiled = optimize(lambda x: plain(x), eager)
    assert [y.tolist() for y in compiled(X)] == [y.tolist() for y in plain(X)]
    names = {cache.code.co_name for cache in region_of(compiled).caches if any(e.graph_module for e in cache.entries)}
    assert {"double", "__matmul__", "<lambda>"} <= names


def test_under_the_hook_a_plain_frame_is_the_users_own():
    seen = []

    @disable(recursive=False)
    def plain(x):
        frame = sys._getframe()
        seen.append((frame.f_code is original.__code__, sorted(locals())))
        return helper(x)

    def helper(x):
        seen.append(sys._getframe(1).f_code.co_name)
        return len(seen)

    original = plain.__dict__["_dynamo_only_frame"]
    optimize(lambda x: plain(x), eager)(X)
    assert seen == [(True, ["frame", "helper", "original", "seen", "x"]), "plain"]


def test_an_exception_takes_the_hook_down_with_the_frame(hooked):
    @disable(recursive=False)
    def plain(x):
        double(x)
        raise KeyError("inside")

    compiled = optimize(lambda x: plain(x), eager)
    for _ in range(2):
        with pytest.raises(KeyError, match="inside"):
            compiled(X)
    assert not native_hook().is_installed


def test_plain_frames_within_plain_frames(hooked):
    @disable(recursive=False)
    def inner(x):
        return double(x)

    @disable(recursive=False)
    def outer(x, depth):
        return inner(x) if depth == 0 else outer(x, depth - 1) + double(x)

    compiled = optimize(lambda x: outer(x, 3), eager)
    assert compiled(X).tolist() == (X * 8).tolist()


def test_a_break_inside_a_library_function_keeps_what_it_calls_compiled():
    def size(x):
        return (x * x).sum().item()

    def largest(tensors):
        return heapq.nlargest(1, tensors, key=size)[0] + 1

    compiled = optimize(largest, eager)
    tensors = [X, X * 3, X * 2]
    assert compiled(tensors).tolist() == (X * 3 + 1).tolist()
    graphs = [module.graph.compact() for module in region_of(compiled).graph_modules]
    assert "x -> ((x * x).sum(),)" in graphs
