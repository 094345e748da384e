"""Gradients that are sparse, and the optimizers that take them. The numbers are PyTorch 2.13's."""

import pytest

import minitorch_compile as torch

TABLE = [[0.5, -1.0], [1.5, 0.25], [-0.4, 2.0], [0.3, -0.2], [1.0, 2.0], [-1.0, 0.5]]


def trained(make):
    table = torch.nn.Embedding.from_pretrained(torch.tensor(TABLE), freeze=False, sparse=True)
    optimizer = make(table.parameters())
    for places in ([1, 1, 3], [2, 3], [5, 1]):
        optimizer.zero_grad()
        (table(torch.tensor(places)) ** 2).sum().backward()
        optimizer.step()
    return table.weight.detach()


def test_the_gradient_has_an_entry_for_each_use():
    table = torch.nn.Embedding(5, 2, sparse=True, padding_idx=1)
    table(torch.tensor([[1, 2], [3, 2]])).sum().backward()
    assert table.weight.grad.is_sparse and table.weight.grad._indices().tolist() == [[2, 3, 2]]
    table(torch.tensor([0])).sum().backward()
    assert table.weight.grad.coalesce().indices().tolist() == [[0, 2, 3]]
    assert table.weight.grad.to_dense().tolist() == [[1, 1], [0, 0], [2, 2], [1, 1], [0, 0]]


def test_in_a_compiled_function_it_is_sparse_too():
    table = torch.nn.Embedding(5, 2, sparse=True)
    torch.compile(lambda places: (table(places) * 2).sum())(torch.tensor([1, 1])).backward()
    assert table.weight.grad.is_sparse and table.weight.grad.to_dense()[1].tolist() == [4, 4]


RECORDED = {
    "optim.SGD(params, lr=0.1)": [[0.5, -1.0], [0.72, 0.12], [-0.32, 1.6], [0.192, -0.128], [1.0, 2.0], [-0.8, 0.4]],
    "optim.SGD(params, lr=0.1, momentum=0.9)": [
        [0.5, -1.0],
        [-0.198, -0.033],
        [-0.248, 1.24],
        [0.0462, -0.0308],
        [1.0, 2.0],
        [-0.8, 0.4],
    ],
    "optim.SGD(params, lr=0.1, momentum=0.9, nesterov=True)": [
        [0.5, -1.0],
        [-0.51552, -0.08592],
        [-0.1832, 0.916],
        [-0.00715, 0.00477],
        [1.0, 2.0],
        [-0.62, 0.31],
    ],
    "optim.SGD(params, lr=0.1, maximize=True)": [
        [0.5, -1.0],
        [2.52, 0.42],
        [-0.48, 2.4],
        [0.432, -0.288],
        [1.0, 2.0],
        [-1.2, 0.6],
    ],
    "optim.Adagrad(params, lr=0.1, lr_decay=0.1)": [
        [0.5, -1.0],
        [1.36476, 0.12605],
        [-0.30909, 1.90909],
        [0.14957, -0.05934],
        [1.0, 2.0],
        [-0.91667, 0.41667],
    ],
    "optim.SparseAdam(params, lr=0.1)": [
        [0.5, -1.0],
        [1.32085, 0.07654],
        [-0.32559, 1.92559],
        [0.10296, -0.00678],
        [1.0, 2.0],
        [-0.93612, 0.43612],
    ],
}


@pytest.mark.parametrize("name", RECORDED)
def test_steps_are_pytorchs(name):
    made = trained(lambda params: eval(name, {"optim": torch.optim, "params": params}))
    assert torch.allclose(made, torch.tensor(RECORDED[name]), atol=1e-5)


def test_rows_without_a_gradient_stay():
    made = trained(lambda params: torch.optim.SparseAdam(params, lr=0.1))
    assert made[[0, 4]].tolist() == torch.tensor(TABLE)[[0, 4]].tolist()


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda p: torch.optim.Adam(p), "Adam does not support sparse gradients, please consider SparseAdam instead"),
        (lambda p: torch.optim.RMSprop(p), "RMSprop does not support sparse gradients"),
        (lambda p: torch.optim.SGD(p, weight_decay=0.1), "add(sparse, dense) is not supported"),
        (
            lambda p: torch.optim.Adagrad(p, weight_decay=0.1),
            "weight_decay option is not compatible with sparse gradients",
        ),
    ],
)
def test_optimizers_that_need_all_of_a_gradient_say_so(make, text):
    with pytest.raises(RuntimeError) as raised:
        trained(make)
    assert text in str(raised.value)


def test_sparse_adam_wants_sparse_gradients():
    weight = torch.nn.Parameter(torch.ones(2))
    weight.sum().backward()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        torch.optim.SparseAdam([weight]).step()
