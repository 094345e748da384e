"""Index tensors without elements: nothing is chosen, nothing is stored, and their memory isn't looked at."""

import minitorch_compile as torch


def test_the_gradient_of_choosing_nothing_is_0():
    x, nowhere = torch.ones(3, 1, requires_grad=True), torch.zeros(0).long()
    for _ in range(3):
        y = torch.compile(lambda x, i: torch.exp(x)[:, i])(x, nowhere)
        assert y.shape == (3, 0)
        (grad,) = torch.autograd.grad(y.sum(), x)
        assert grad.flatten().tolist() == [0, 0, 0]


def test_storing_nothing_leaves_the_tensor():
    x, nowhere = torch.ones(3), torch.zeros(0).long()
    stored = torch.compile(lambda x, i: (x * 2).index_put((i,), torch.zeros(0)))(x, nowhere)
    assert stored.tolist() == [2, 2, 2]
    added = torch.compile(lambda x, i: (x * 2).scatter_add(0, i, torch.zeros(0)))(x, nowhere)
    assert added.tolist() == [2, 2, 2]
