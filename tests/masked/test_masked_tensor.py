"""MaskedTensor. What is printed, refused and given back by backward() was recorded from PyTorch 2.13."""

import pytest

import minitorch_compile as torch
from minitorch_compile.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors", "ignore:It is not recommended")
X = torch.tensor([[0.5, -1.5, 2.25], [4.0, -2.0, 0.0]])
MASK = torch.tensor([[True, False, True], [False, False, True]])


def made(requires_grad=False):
    return masked_tensor(X, MASK, requires_grad)


def counted(x):
    return {tuple(place.tolist()): x._masked_data[tuple(place)].item() for place in x.get_mask().nonzero()}


def test_how_it_prints():
    assert repr(made()) == (
        "MaskedTensor(\n  [\n    [  0.5000,       --,   2.2500],\n    [      --,       --,   0.0000]\n  ]\n)"
    )
    assert str(made().sum()) == "MaskedTensor(  2.7500, True)" and str(made()[1, 0]) == "MaskedTensor(--, False)"
    assert (
        repr(masked_tensor(torch.tensor([3, 10]), torch.tensor([False, True]))) == "MaskedTensor(\n  [      --, 10]\n)"
    )


def test_creating_one_warns_that_it_is_a_prototype():
    with pytest.warns(UserWarning, match="The PyTorch API of MaskedTensors is in prototype stage"):
        assert is_masked_tensor(made()) and isinstance(made(), MaskedTensor) and not is_masked_tensor(X)
    with pytest.warns(
        UserWarning, match="It is not recommended to create a MaskedTensor with a tensor that requires_grad"
    ):
        masked_tensor(X.clone().requires_grad_(), MASK)


def test_operations_on_each_element():
    for function in (torch.exp, torch.neg, lambda x: x.pow(2), lambda x: x.clamp(0, 1), lambda x: x * 2,
                     lambda x: 1 - x, lambda x: x + x,
                     lambda x: x + X, lambda x: X / x, lambda x: x > 0, lambda x: x == x):  # fmt: skip
        found = function(made())
        assert torch.equal(found.get_mask(), MASK)
        torch.testing.assert_close(found.get_data(), function(X), equal_nan=True)


def test_operations_that_move_elements_move_the_mask():
    for move in (lambda x: x[0], lambda x: x[:, 1:], lambda x: x.transpose(0, 1), lambda x: x.reshape(-1),
                 lambda x: torch.cat([x, x]), lambda x: torch.stack([x, x], 1), lambda x: x.unsqueeze(0)):  # fmt: skip
        found = move(made())
        assert torch.equal(found.get_data(), move(X)) and torch.equal(found.get_mask(), move(MASK))
    assert [part.shape for part in made().split(1)] == [(1, 3), (1, 3)]


def test_reductions_count_only_what_counts():
    assert counted(made().sum(1)) == {(0,): 2.75, (1,): 0.0} and counted(torch.amax(made(), 0)) == {
        (0,): 0.5,
        (2,): 2.25,
    }
    assert (
        made().mean().item() == pytest.approx(2.75 / 3) and made().argmin().item() == 5 and made().all().item() is False
    )
    assert torch.sum(made(), 1, keepdim=True).shape == (2, 1)


def test_softmax_gives_the_rest_nothing():
    found = made().softmax(1)
    torch.testing.assert_close(found.to_tensor(0.0)[0], torch.tensor([0.1480, 0.0, 0.8520]), rtol=1e-3, atol=1e-3)
    assert found.to_tensor(0.0)[1].tolist() == [0.0, 0.0, 1.0]


def test_in_place():
    x = made()
    assert (
        x.add_(1) is x and torch.equal(x.get_data(), X + 1) and torch.equal(x.to_tensor(9.0)[~MASK], X[~MASK] * 0 + 9)
    )


GRADIENTS = {  # of f(x).sum(), as PyTorch gives them
    "exp": (torch.exp, {(0, 0): 1.6487, (0, 2): 9.4877, (1, 2): 1.0}),
    "square": (lambda x: x * x, {(0, 0): 1.0, (0, 2): 4.5, (1, 2): 0.0}),
    "row": (lambda x: x[0], {(0, 0): 1.0, (0, 2): 1.0}),
    "column": (lambda x: x.amax(0), {(0, 0): 1.0, (0, 2): 1.0, (1, 2): 0.0}),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_masked_tensors(name):
    function, expected = GRADIENTS[name]
    leaf, plain = made(requires_grad=True), X.clone().requires_grad_()
    function(leaf).sum().backward()
    function(as_masked_tensor(plain, MASK)).sum().backward()
    for grad in (leaf.grad, plain.grad):
        assert is_masked_tensor(grad) and counted(grad) == pytest.approx(expected, rel=1e-4)


def test_a_gradient_does_not_count_where_its_branch_was_not_taken():
    a = masked_tensor(torch.tensor(0.5), torch.tensor(True), requires_grad=True)
    (grad,) = torch.autograd.grad(torch.where(torch.tensor(False), a / 0, torch.ones(())), a)
    assert str(grad) == "MaskedTensor(--, False)"


def test_gradients_with_other_masks_do_not_add_up():
    with pytest.raises(ValueError, match="Input masks must match"):
        x = made(requires_grad=True)
        torch.where(X > 1, x.exp(), x).sum().backward()


def test_sparse_layouts():
    coo, csr = made().to_sparse(), made().to_sparse_csr()
    assert coo.is_sparse_coo() and csr.is_sparse_csr() and csr.is_sparse and not made().is_sparse
    assert coo.get_data().values().tolist() == [0.5, 2.25, 0.0] and csr.get_data().col_indices().tolist() == [0, 2, 2]
    assert repr(coo) == repr(csr) == repr(made()) == repr(coo.to_dense())
    assert counted((coo * coo).to_dense()) == {(0, 0): 0.25, (0, 2): 5.0625, (1, 2): 0.0}
    assert coo.sum().item() == 2.75 and counted(csr.exp().to_dense())[1, 2] == 1.0
    more = torch.eye(2).to_sparse() + torch.ones(2, 2).to_sparse()
    assert masked_tensor(more, torch.eye(2).bool().to_sparse()).get_data()._nnz() == 2


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: made() + masked_tensor(X, ~MASK), ValueError, "Input masks must match. If you need support for this"),
        (lambda: masked_tensor([1], MASK), TypeError, "data must be a Tensor"),
        (lambda: masked_tensor(X, made()), TypeError, "mask must be a Tensor"),
        (lambda: masked_tensor(X, MASK.int()), TypeError, "mask must have dtype bool."),
        (
            lambda: masked_tensor(X.to(torch.complex64), MASK),
            TypeError,
            "torch.complex64 is not supported in MaskedTensor.",
        ),
        (lambda: masked_tensor(X, MASK[0]), ValueError, "data.dim() must equal mask.dim()"),
        (lambda: masked_tensor(X, MASK[:, :2]), ValueError, "data.size() must equal mask.size()"),
        (lambda: masked_tensor(X.to_sparse(), MASK), TypeError, "data and mask must have the same layout."),
        (lambda: made()[1, 0].item(), ValueError, "expected a mask tensor"),
        (lambda: made()[0].to_sparse_csr(), ValueError, "Only 2D tensors can be converted to the SparseCsr layout"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert text in str(raised.value)


def test_what_has_no_meaning_for_masks_says_so():
    with pytest.warns(UserWarning, match="mm is not implemented in __torch_dispatch__ for MaskedTensor"):
        with pytest.raises(TypeError, match="Multiple dispatch failed"):
            made() @ made().transpose(0, 1)
