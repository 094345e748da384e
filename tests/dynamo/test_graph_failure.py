"""A graph that raises while it runs: the world is left as the plain function leaves it, and its handlers run."""

import pytest

import minitorch_compile as torch
from minitorch_compile.aot import aot_eager
from minitorch_compile.dynamo import graph_break, optimize
from minitorch_compile.dynamo.testing import CompileCounter, eager
from minitorch_compile.dynamo.testing.comparing import behaviour
from tests.dynamo.compiled import matrix

FAR = torch.tensor([7])
HISTORY: list = []


def after_side_effects(x, log):
    log.append("before")
    HISTORY.append(len(log))
    y = x[FAR]
    log.append("after")
    return y


def after_a_write(x, log):
    x.mul_(2)
    log.append(x)
    return torch.index_select(x, 0, FAR)


def after_a_write_to_a_view(x, log):
    x.t()[0].add_(1)
    return x[FAR]


def after_random_numbers(x, log):
    log.append(torch.rand(2))
    return x[FAR] + torch.rand(2)


def unused(x, log):
    x[FAR]
    return x + 1


def unused_in_a_branch_that_is_taken(x, log):
    y = torch.linalg.cholesky(-torch.eye(2))
    return x * 2


def an_unused_write(x, log):
    x.clone().index_copy_(0, FAR, x[:1])
    return x * 2


def a_write_that_nobody_reads_any_more(x, log):
    y = x * 2
    z = y + 1
    y.view(-1)[FAR * 7] = 1.0
    return z


def written_into_what_nobody_reads(x, log):
    y = torch.zeros(1, 3)
    y += x[FAR]
    y.add_(1)
    return x * 2


def unused_under_a_transform(x, log):
    torch.func.vmap(lambda row: row.index_copy(0, FAR, row[:1]))(x)
    return x * 2


def an_unused_gradient(x, log):
    torch.func.grad(lambda x: x.index_copy(0, FAR, x[:1]).sum())(x)
    return x * 2


def asked_for_its_sizes_only(x, log):
    return torch.linalg.inv(torch.zeros(2, 2)).new_full((2,), 1.5) + x.sum()


def caught(x, log):
    x.add_(1)
    try:
        y = x[FAR]
    except IndexError as error:
        log.append(str(error))
        y = x * 3
    return y


def caught_by_a_caller(x, log):
    def inner():
        log.append("inner")
        return torch.nn.functional.embedding(FAR, x)

    try:
        return inner()
    except Exception:
        return x.sum()


def finally_runs(x, log):
    try:
        x.zero_()
        return x[FAR]
    finally:
        log.append("finally")


def behind_a_break(x, log):
    x.add_(1)
    graph_break()
    log.append(x.clone())
    x.add_(1)
    return x[FAR]


def divides_integers(x, log):
    n = torch.tensor([1, 0])
    log.append("before")
    return x.long()[0, :2] // n


def wrong_numbers_in_the_program(x, log):
    log.append("before")
    return torch.nn.functional.cross_entropy(x, torch.tensor([9] * len(x)))


PROGRAMS = (
    after_side_effects, after_a_write, after_a_write_to_a_view, after_random_numbers, unused,
    unused_in_a_branch_that_is_taken, an_unused_write, a_write_that_nobody_reads_any_more,
    written_into_what_nobody_reads, unused_under_a_transform, an_unused_gradient, wrong_numbers_in_the_program,
    asked_for_its_sizes_only, caught, caught_by_a_caller,
    finally_runs, behind_a_break, divides_integers,
)  # fmt: skip


@pytest.mark.parametrize("backend", [eager, aot_eager])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_state_is_that_of_the_plain_run(program, backend):
    def seen(function):
        HISTORY.clear()
        torch.manual_seed(0)
        x, log = matrix(), []
        runs = [behaviour(function, (x, log), state=[HISTORY, x.storage.version]) for _ in range(2)]
        return runs, torch.random.default_generator.position(), torch.is_grad_enabled()

    assert seen(optimize(program, backend)) == seen(program)


def test_what_is_computed_for_its_error_only_has_no_gradient():
    """The logarithm of a determinant of zero is fine; its derivative, an inverse, is not."""

    def f(x, y):
        torch.linalg.slogdet(x)
        return y * 2

    x, y = torch.ones(2, 2, requires_grad=True), torch.ones(2, requires_grad=True)
    optimize(f, aot_eager)(x, y).sum().backward()
    assert x.grad is None and y.grad.tolist() == [2, 2]


def test_a_write_that_records_history_is_undone():
    def f(x, w):
        x.mul_(w)
        return x[FAR]

    x, w = torch.ones(2), torch.ones(2, requires_grad=True)
    with pytest.raises(IndexError):
        optimize(f, eager)(x, w)
    x.sum().backward()
    assert w.grad.tolist() == [1, 1]


def test_a_backend_that_raises_where_the_program_does_not_is_heard():
    def wrong(module, inputs):
        def graph(*args):
            raise ArithmeticError("of the backend")

        return graph

    with pytest.raises(ArithmeticError, match="of the backend"):
        optimize(lambda x: x + 1, wrong)(matrix())


def test_a_graph_that_cannot_fail_keeps_no_copies():
    counter = CompileCounter()
    compiled = optimize(lambda x: x.add_(1) * 2, counter)
    compiled(matrix())
    assert "Before" not in compiled._dynamo_dispatcher.bound[0][0].source
