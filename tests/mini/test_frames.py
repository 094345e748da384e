"""The hook: calls where a graph has broken go to the compiler, and everything else is as it was."""

import pytest
from mini.frames import FrameHook, behind, in_sight, may_be_taken
from mini.interpreter import Frame
from mini.nn import Linear
from mini.tensor import tensor

from .test_breaks import same

t, u = tensor([1.0, 2.0]), tensor([3.0, 4.0])


class Backend:
    def __init__(self):
        self.graphs = []

    def __call__(self, graph):
        self.graphs.append([str(node.op) for node in graph.nodes])
        return graph.run


def size(x):
    return (x * x).sum().item()


def rank(tensors):
    return sorted(tensors, key=size)


def outer(x):
    y = inner(x) + 1
    return inner(y) * 2


def inner(x):
    return x / x.sum().item()


def no_tensors(n):
    return sum(size(tensor([float(i)])) for i in range(n)), [size(tensor([2.0])) for _ in range(2)]


def tries(x):
    try:
        return inner(x)
    except ValueError:
        return None


def factorial(x):
    return x if x.sum().item() <= 1 else x * factorial(x - 1)


class Model:
    def __init__(self):
        self.layer = Linear(2, 2)
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.layer(x).sum().item() * x


def kwonly(x, *rest, scale=2.0, **more):
    x.sum().item()
    return x * scale + len(rest) + len(more)


def calls_kwonly(x):
    x.sum().item()
    return kwonly(x, 1, 2, scale=3.0, other=4), kwonly(x)


PROGRAMS = [
    (rank, ([u, t],)),
    (outer, (t,)),
    (no_tensors, (3,)),
    (tries, (t,)),
    (factorial, (tensor([4.0]),)),
    (Model(), (tensor([[1.0, 2.0]]),)),
    (calls_kwonly, (t,)),
    (lambda x: max([x.tolist(), [9.0]], key=lambda v: v[0]), (t,)),
    (lambda n: list(map(size, [t, u][:n])), (2,)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_a_program_under_the_hook_does_what_it_does(function, args):
    wanted = function(*args)
    hook = FrameHook()
    for _ in range(3):
        assert same(wanted, hook.call(function, *args))


def test_a_break_in_the_outer_function_leaves_the_inner_ones_compiled():
    backend = Backend()
    hook = FrameHook(backend)
    hook.call(outer, t)
    assert [region.function for region in hook.regions.values()] == [outer, inner]
    assert [graph for graph in backend.graphs if graph] == [["sum"], ["div"], ["add"], ["mul"]]


def test_the_compiler_s_own_work_is_left_alone():
    """A backend that runs interpreted programs itself would call itself for ever."""
    depth = []

    def backend(graph):
        depth.append(1)
        assert len(depth) < 50 and Frame(outer, (t,), {}).run()
        return lambda *args: graph.run(*args) if Frame(size, (t,), {}).run() else None

    assert same(FrameHook(backend).call(outer, t), outer(t))


def test_hooks_do_not_know_of_each_other():
    first, second = FrameHook(), FrameHook()
    assert same(first.call(lambda x: second.call(inner, x), t), inner(t))
    assert [region.function for region in second.regions.values()] == [inner]


@pytest.mark.parametrize("value, expected", [(t, True), ([1, t], True), ({"a": t}, True), ((), False), (3, False),
                                             (Linear(1, 1), True), (tensor, False)])  # fmt: skip
def test_tensors_in_sight(value, expected):
    assert in_sight(value) == expected


def test_the_program_s_functions_are_taken():
    assert may_be_taken(size) and may_be_taken(Linear.forward)
    assert not may_be_taken(type(t).numpy) and not may_be_taken(Frame.step)
    assert behind(len, (1,)) == (None, (1,))
