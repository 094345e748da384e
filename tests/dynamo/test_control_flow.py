"""torch.cond and torch.while_loop: an `if` and a `while` as plain Python, one node in a graph. What is refused, and the
texts, as PyTorch 2.13."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile.aot.make_fx import make_fx

BACKENDS = ["eager", "aot_eager", "inductor"]
weight = torch.tensor([2.0, 3.0], requires_grad=True)


def chosen(x):
    return torch.cond(
        x.sum() > 0,
        lambda x: {"a": (x * weight).sin(), "b": [x + 1, None]},
        lambda x: {"a": x - weight, "b": [x * 2, None]},
        (x,),
    )


def chosen_plainly(x):
    if x.sum() > 0:
        return {"a": (x * weight).sin(), "b": [x + 1, None]}
    return {"a": x - weight, "b": [x * 2, None]}


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_graph_for_both_branches(backend):
    compiled = torch.compile(chosen, backend=backend, fullgraph=True)
    for sign in (1.0, -1.0, 1.0):
        x = torch.full((2,), sign, requires_grad=True)
        found, wanted = compiled(x), chosen_plainly(x)
        torch.testing.assert_close(found, wanted)
        gradients = [torch.autograd.grad((y["a"] * y["b"][0]).sum(), [x, weight]) for y in (found, wanted)]
        torch.testing.assert_close(*gradients)


def test_the_graph():
    counter = torch._dynamo.testing.CompileCounter()
    torch.compile(chosen, backend=counter)(torch.ones(2))
    (graph,) = counter.graphs
    (node,) = graph.graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond)
    assert [str(x) for x in node.args[1:3]] == ["cond_true_0", "cond_false_0"]
    assert [x.name for x in node.args[3]] == ["x", "G_weight"]
    assert graph.cond_false_0.graph.compact() == "x, G_weight -> (x - G_weight, x * 2)"


def doubled(x):
    return torch.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * weight), (torch.tensor(0), x))


def counted(x):
    n, y = torch.while_loop(lambda n, x: 2 * n < x.shape[0], lambda n, x: (n + 1, x + n), (0, x))
    return n, y * n


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_is_one_graph(backend):
    compiled = torch.compile(doubled, backend=backend, fullgraph=True)
    x = torch.ones(2, requires_grad=True)
    for _ in range(2):
        n, y = compiled(x)
        assert n.item() == 3
        torch.testing.assert_close(y, weight**3)
        torch.testing.assert_close(torch.autograd.grad(y.sum(), [x, weight]), (weight**3, 3 * weight**2))
    n, y = torch.compile(counted, backend=backend, fullgraph=True)(torch.arange(3.0))
    assert (n, y.tolist()) == (2, [2.0, 4.0, 6.0])


def nested(x):
    def inner(x):
        return torch.cond(x[0] > 2, lambda x: x * 10, lambda x: x * x.shape[0], (x,))

    return torch.cond(x.sum() > 0, inner, torch.neg, (x,)) + 1


def test_branches_in_branches_and_unknown_sizes():
    compiled = torch.compile(nested, backend="aot_eager", fullgraph=True, dynamic=True)
    for x in (torch.full((2,), 1.0), torch.full((3,), 3.0), torch.full((4,), -1.0)):
        torch.testing.assert_close(compiled(x), nested(x))


def test_each_example_of_a_batch_takes_its_own():
    batched = torch.vmap(lambda x: torch.cond(x.sum() > 0, torch.square, torch.neg, (x,)))
    x = torch.tensor([[3.0], [-2.0]])
    assert batched(x).tolist() == torch.compile(batched, fullgraph=True)(x).tolist() == [[9.0], [2.0]]


def test_modules_and_numbers_that_data_tell():
    layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)])
    compiled = torch.compile(lambda x: torch.cond(x.sum().item() > 0, *layers, (x,)), fullgraph=True)
    x = torch.ones(1, 2)
    torch.testing.assert_close([compiled(x), compiled(-x)], [layers[0](x), layers[1](-x)])


def test_a_known_condition_chooses_while_tracing():
    compiled = torch.compile(lambda x: torch.cond(x.dim() > 1, lambda: x, lambda: x + 1), fullgraph=True)
    assert compiled(torch.ones(1)).tolist() == [2.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", torch.neg, torch.neg, ()), "Expected pred to be bool or tensor, but got a."),
        ((torch.ones(2), torch.neg, torch.neg, ()), "single-element tensor, but got"),
        ((torch.tensor(True), 1, torch.neg, ()), "Expect both branches to be callable."),
        ((torch.tensor(True), torch.neg, torch.neg, (3,)), "consists of tensor leaves, but got \\(3,\\)."),
    ],
)
def test_cond_refuses(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        torch.cond(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, torch.neg, ()), RuntimeError, "Expect cond_fn and body_fn to be callable."),
        ((bool, bool, ("a",)), RuntimeError, "consists of tensor or int leaves"),
        ((torch.neg, torch.neg, (torch.ones(1),)), RuntimeError, "must return a boolean scalar tensor or a boolean"),
        ((lambda n: True, lambda n: n, (1,)), AssertionError, "should return a tuple but got"),
        (
            (lambda n: True, lambda n: (n, n), (1,)),
            AssertionError,
            "as carried_inputs, got 2 vs",
        ),
    ],
)
def test_while_loop_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        torch.while_loop(*arguments)


def test_neither_is_written_down_as_ops():
    for program in (chosen, doubled):
        with pytest.raises(NotImplementedError, match="torch.compile and torch.export keep it"):
            make_fx(program)(torch.ones(2))


def is_positive(n, *others):
    return n > 0


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: torch.cond(x.sum() > 0, lambda x: x, torch.neg, (x,)), "shares memory with a tensor from outside"),
        (lambda x: torch.cond(x.sum() > 0, lambda x: x.add_(1), torch.neg, (x,)), "changes something"),
        (lambda x: torch.cond(x.sum() > 0, torch.sum, torch.neg, (x,)), "different sizes: \\[\\] and \\[1\\]"),
        (lambda x: torch.cond(x.sum() > 0, lambda: (x + 1, 2), lambda: (x + 1, 3)), "return 2 and 3; return tensors"),
        (lambda x: torch.while_loop(is_positive, lambda n: (n.sum(),), (x,)), "body_fn takes torch.float32 \\[1\\]"),
        (lambda x: torch.while_loop(lambda n: n, lambda n: (n + 1,), (x,)), "shares memory"),
        (lambda x: torch.while_loop(lambda n: n + 1, lambda n: (n + 1,), (x,)), "must return a boolean scalar tensor"),
        (
            lambda x: torch.while_loop(lambda n, x: x.sum() < 0, lambda n, x: (5, x + 1), (0, x)),
            "body_fn returns the constant 5",
        ),
    ],
)
def test_what_no_graph_can_hold_breaks_it(program, message):
    with pytest.raises(torch._dynamo.exc.Unsupported, match=message):
        torch.compile(program, backend="eager", fullgraph=True)(torch.ones(1))


def test_the_gradient_of_what_the_chosen_branch_ignores_is_zero():
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    torch.cond(torch.tensor(True), lambda a, b: a * 2, lambda a, b: b * 3, (a, b)).sum().backward()
    assert a.grad.tolist() == [2, 2]
    assert b.grad.tolist() == [0, 0]


@pytest.mark.parametrize("backend", [None, "eager"])
def test_of_a_known_condition_only_the_chosen_branch_is_known_of(backend):
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    choose = lambda a, b: torch.cond(True, lambda a, b: a * 2, lambda a, b: b * 3, (a, b))
    (torch.compile(choose, backend=backend) if backend else choose)(a, b).sum().backward()
    assert a.grad.tolist() == [2, 2]
    assert b.grad is None
