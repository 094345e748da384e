"""What is printed beside a result, and the graph behind it, are those of PyTorch 2.13."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile import nn

F = nn.functional
CLASSES = torch.tensor([0, 1, 2])
HALVES = torch.full((3, 4), 0.5)


def rows() -> torch.Tensor:
    return (torch.arange(12.0).reshape(3, 4) / 12).requires_grad_()


def drawn(node: object, depth: int = 4) -> str:
    """The graph as text: L for a leaf, - for no gradient."""
    if node is None:
        return "-"
    name = node.name()
    if name.endswith("AccumulateGrad"):
        return "L"
    inputs = [drawn(below, depth - 1) for below, _ in node.next_functions] if depth else []
    return f"{name.removesuffix('Backward0')}({','.join(inputs)})"


@pytest.mark.parametrize(
    ("expected", "program"),
    [
        ("MseLoss(L,-)", lambda x: F.mse_loss(x, HALVES)),
        ("MseLoss(Mul(L,-),L)", lambda x: F.mse_loss(x * 2, x, reduction="sum")),
        ("NllLoss(LogSoftmax(L))", lambda x: F.cross_entropy(x, CLASSES)),
        ("NllLoss2D(LogSoftmax(View(L)))", lambda x: F.cross_entropy(x.view(1, 3, 2, 2), torch.zeros(1, 2, 2).long())),
        ("BinaryCrossEntropyWithLogits(L,-)", lambda x: F.binary_cross_entropy_with_logits(x, HALVES)),
        ("SmoothL1Loss(L,-)", lambda x: F.smooth_l1_loss(x, HALVES)),
        ("Add(L,-)", lambda x: 1 + x),
        ("Mul(L,-)", lambda x: 2 * x),
        ("Std(L)", lambda x: x.std()),
        ("Var(L)", lambda x: x.var(0)),
        ("Stack(L,L)", lambda x: torch.stack([x, x])),
        ("Dot(Select(L),Select(L))", lambda x: x[0] @ x[1]),
        ("Mv(L,Select(L))", lambda x: x @ x[0]),
        ("Logsumexp(L)", lambda x: x.logsumexp(1)),
        ("Clone(T(L))", lambda x: x.t().contiguous()),
        ("LinalgVectorNorm(L)", lambda x: x.norm()),
        ("Log1P(L)", lambda x: x.log1p()),
        ("MaskedFill(L)", lambda x: x.masked_fill(x > 0.5, 0.0)),
        ("ClampMin(L)", lambda x: x.clamp_min(0.0)),
        ("Roll(L)", lambda x: x.roll(1)),
        ("Unbind(L)", lambda x: x.unbind(1)[2]),
        ("Split(L)", lambda x: x.chunk(2, 1)[1]),
        ("SplitWithSizes(L)", lambda x: x.split([1, 2])[0]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_graph_behind_a_result_is_that_of_pytorch(expected: str, program: object) -> None:
    assert drawn(program(rows()).grad_fn) == expected


@pytest.mark.parametrize(
    ("expected", "program"),
    [
        ("SumBackward1", lambda x: x.sum(0)),
        ("MeanBackward1", lambda x: x.mean(0)),
        ("MaxBackward1", lambda x: x.max()),
        ("MaxBackward0", lambda x: x.max(0).values),
        ("RsubBackward1", lambda x: 1 - x),
        ("PowBackward1", lambda x: x**x),
        ("PowBackward2", lambda x: 2**x),
        ("ClampBackward1", lambda x: x.clamp(0.1, 0.5)),
        ("MaxPool2DWithIndicesBackward0", lambda x: F.max_pool2d(x.view(1, 1, 3, 4), 2)),
        ("AvgPool2DBackward0", lambda x: F.avg_pool2d(x.view(1, 1, 3, 4), 2)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_node_is_named_after_the_overload(expected: str, program: object) -> None:
    node = program(rows()).grad_fn
    assert (node.name(), type(node).__name__) == (expected, expected)


def test_one_node_gives_the_gradients_of_the_ops_that_it_stands_for() -> None:
    x = torch.tensor([[0.5, -1.5], [2.5, 0.25]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    for program in (F.mse_loss, F.huber_loss, F.binary_cross_entropy_with_logits, lambda x, y: (x * y).std(0)):
        assert torch.autograd.gradcheck(program, (x, y)) and torch.autograd.gradgradcheck(program, (x, y))


def test_an_argument_given_twice_gets_the_sum_of_both_gradients() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    torch.dot(y, y).backward()
    assert x.grad.tolist() == [8.0, 16.0]


def test_a_result_that_is_the_argument_keeps_its_node() -> None:
    x = rows() * 2
    assert F.dropout(x, 0.5, training=False).grad_fn is x.grad_fn


def test_a_freed_node_refuses_a_second_walk() -> None:
    loss = F.mse_loss(rows(), HALVES)
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
    kept = F.mse_loss(rows(), HALVES)
    kept.backward(retain_graph=True)
    kept.backward()


def test_a_node_is_shown_with_its_address() -> None:
    node = F.mse_loss(rows(), HALVES).grad_fn
    assert repr(node) == f"<MseLossBackward0 object at {id(node):#x}>"


def test_a_graph_of_gradients_leads_past_the_node_of_a_composite_op():
    """A penalty on a gradient: the walk meets the node, and what it stands for by another way."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    score = torch.nn.functional.softplus(x).square()
    loss = torch.nn.functional.mse_loss(score, torch.zeros(2))
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    (loss + gradient.square().sum()).backward()
    assert torch.allclose(x.grad, torch.tensor([45.8392, 799.2860]))
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


TAKEN_APART = {
    "unbind": lambda x: x.unbind(),
    "unbind, dim from the end": lambda x: x.unbind(-1),
    "split": lambda x: x.split(2),
    "split, dim from the end": lambda x: x.split(3, -1),
    "split into sizes": lambda x: torch.split(x, [1, 0, 2], dim=0),
    "chunk": lambda x: x.chunk(3, 1),
    "chunk into one": lambda x: x.chunk(1),
    "by keywords": lambda x: torch.split(tensor=x, split_size_or_sections=2, dim=1),
}


@pytest.mark.parametrize("used", ["all", "last", "one twice"])
@pytest.mark.parametrize("name", TAKEN_APART)
def test_parts_are_put_together_again(name: str, used: str) -> None:
    def loss(x: torch.Tensor, detour: bool) -> torch.Tensor:
        parts = TAKEN_APART[name](x * 2)
        if detour:  # each part a window of its own
            whole = x * 2
            parts = [torch.as_strided(whole, p.shape, p.stride(), p.storage_offset()) for p in parts]
        chosen = {"all": parts, "last": parts[-1:], "one twice": [parts[0], parts[0]]}[used]
        return sum(((i + 2) * part.pow(3)).sum() for i, part in enumerate(chosen))

    found = []
    for detour in (False, True):
        x = rows()
        (first,) = torch.autograd.grad(loss(x, detour), x, create_graph=True)
        (second,) = torch.autograd.grad(first.pow(2).sum(), x)
        found.append((first, second))
    torch.testing.assert_close(found[0], found[1])


def test_a_part_that_is_written_to_has_another_history() -> None:
    x = rows()
    y = x * 1
    first, second, _ = y.unbind()
    first.mul_(second.detach().clone())
    (first.sum() + 3 * second.sum() + y.sum()).backward()
    expected = torch.ones(3, 4)
    expected[0] = 2 * x[1].detach()
    expected[1] = 4
    torch.testing.assert_close(x.grad, expected)
