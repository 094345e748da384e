"""Sparse tensors: what they are made of, what they print, what can be done with them. Texts and errors are PyTorch
2.13's; values are compared with those of dense tensors."""

import copy
import io
import pickle
from pathlib import Path

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.sparse import saved

WRITTEN = Path(__file__).resolve().parent.parent / "serialization" / "written_by_torch"
INDICES, VALUES = [[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0]


def coo(**options):
    return torch.sparse_coo_tensor(INDICES, VALUES, (2, 3), **options)


def same(sparse, dense):
    assert torch.allclose(sparse.to_dense(), dense)


def test_what_it_says_of_itself():
    s = coo()
    assert (s.layout, s.is_sparse, s.is_sparse_csr, s._nnz(), s.sparse_dim(), s.dense_dim()) == (
        torch.sparse_coo, True, False, 3, 2, 0,
    )  # fmt: skip
    assert not s.is_coalesced() and s.coalesce().is_coalesced() and torch.is_tensor(s)
    same(s, torch.tensor([[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]))


def test_entries_at_one_place_are_added_up():
    s = torch.sparse_coo_tensor([[1, 0, 1]], torch.ones(3, 2), (4, 2)).coalesce()
    assert s.indices().tolist() == [[0, 1]] and s.values().tolist() == [[1, 1], [2, 2]]


PRINTED = [
    (
        lambda: coo(),
        "tensor(indices=tensor([[0, 1, 1],\n                       [2, 0, 2]]),\n"
        "       values=tensor([3., 4., 5.]),\n       size=(2, 3), nnz=3, layout=torch.sparse_coo)",
    ),
    (
        lambda: torch.sparse_coo_tensor([[0, 0]], torch.tensor([1.0, 2.0], dtype=torch.float64)),
        "tensor(indices=tensor([[0, 0]]),\n       values=tensor([1., 2.]),\n"
        "       size=(1,), nnz=2, dtype=torch.float64, layout=torch.sparse_coo)",
    ),
    (
        lambda: torch.sparse_coo_tensor((2, 3)),
        "tensor(indices=tensor([], size=(2, 0)),\n       values=tensor([], size=(0,)),\n"
        "       size=(2, 3), nnz=0, layout=torch.sparse_coo)",
    ),
    (
        lambda: coo().requires_grad_(),
        "tensor(indices=tensor([[0, 1, 1],\n                       [2, 0, 2]]),\n       values=tensor([3., 4., 5.]),\n"
        "       size=(2, 3), nnz=3, layout=torch.sparse_coo, requires_grad=True)",
    ),
    (
        lambda: torch.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 2.0]),
        "tensor(crow_indices=tensor([0, 1, 2]),\n       col_indices=tensor([1, 0]),\n"
        "       values=tensor([1., 2.]), size=(2, 2), nnz=2, layout=torch.sparse_csr)",
    ),
    (
        lambda: coo().t().to_sparse_csr(),
        "tensor(crow_indices=tensor([0, 1, 1, 3]),\n       col_indices=tensor([1, 0, 1]),\n"
        "       values=tensor([4., 3., 5.]), size=(3, 2), nnz=3,\n       layout=torch.sparse_csr)",
    ),
]


@pytest.mark.parametrize("make, text", PRINTED)
def test_it_prints_as_pytorch_does(make, text):
    assert repr(make()) == text


D = torch.tensor([[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]])
W = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

OPERATIONS = {
    "times a number": (lambda s: s * 2, D * 2),
    "a number times": (lambda s: 2 * s, D * 2),
    "by a number": (lambda s: s / 2, D / 2),
    "sum": (lambda s: s + s, D + D),
    "difference": (lambda s: s - 3 * s, -2 * D),
    "negative": (lambda s: -s, -D),
    "product": (lambda s: s * s, D * D),
    "product with dense": (lambda s: s * torch.full((2, 3), 2.0), D * 2),
    "dense plus sparse": (lambda s: torch.ones(2, 3) + s, D + 1),
    "dense minus sparse": (lambda s: torch.ones(2, 3) - s, 1 - D),
    "transpose": (lambda s: s.t(), D.t()),
    "unsqueeze": (lambda s: s.unsqueeze(0), D.unsqueeze(0)),
    "cat": (lambda s: torch.cat([s, s], 1), torch.cat([D, D], 1)),
    "row": (lambda s: s[1], D[1]),
    "index_select": (lambda s: s.index_select(1, torch.tensor([2, 0])), D.index_select(1, torch.tensor([2, 0]))),
    "sqrt": (lambda s: s.sqrt(), D.sqrt()),
    "power": (lambda s: s.pow(2), D.pow(2)),
    "mm": (lambda s: torch.mm(s, W), D @ W),
    "operator": (lambda s: s @ W, D @ W),
    "vector": (lambda s: s @ torch.ones(3), D @ torch.ones(3)),
    "from the left": (lambda s: torch.ones(2, 2) @ s, torch.ones(2, 2) @ D),
    "both sparse": (lambda s: torch.sparse.mm(s, s.t()), D @ D.t()),
    "addmm": (lambda s: torch.sparse.addmm(torch.ones(2, 2), s, W, beta=3, alpha=2), 3 + 2 * (D @ W)),
    "sum of all": (lambda s: torch.sparse.sum(s), D.sum()),
    "sum of rows": (lambda s: torch.sparse.sum(s, dim=0), D.sum(0)),
    "sum over both": (lambda s: torch.sparse.sum(s, dim=(0, 1)), D.sum()),
    "by rows": (lambda s: s.to_sparse_csr(), D),
    "by rows, times": (lambda s: s.to_sparse_csr() @ W, D @ W),
    "by rows, sum": (lambda s: s.to_sparse_csr() + s.to_sparse_csr(), D + D),
    "linear": (lambda s: torch.nn.functional.linear(torch.ones(1, 3), s), torch.ones(1, 3) @ D.t()),
    "zeros_like": (lambda s: torch.zeros_like(s), D * 0),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_it_computes_what_dense_tensors_do(name):
    compute, expected = OPERATIONS[name]
    same(compute(coo()), expected)


def test_layouts_are_kept():
    s = coo()
    assert (s * 2).is_sparse and (s + s).is_sparse and s.t().is_sparse and torch.sparse.sum(s, dim=0).is_sparse
    assert (s.to_sparse_csr() * 2).is_sparse_csr and not (s @ W).is_sparse


@pytest.mark.parametrize("offsets, expected", [([0], [[1, 0, 0], [0, 2, 0]]), ([1], [[0, 2, 0], [0, 0, 3]])])
def test_diagonals(offsets, expected):
    made = torch.sparse.spdiags(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor(offsets), (2, 3))
    assert made.is_sparse and made.to_dense().tolist() == expected
    with pytest.raises(RuntimeError, match="does not match the number of offsets"):
        torch.sparse.spdiags(torch.ones(2, 3), torch.tensor(offsets), (2, 3))


def test_softmax_is_over_the_entries_that_are_there():
    assert torch.allclose(torch.sparse.softmax(coo(), 1).values(), torch.tensor([1.0, 0.26894143, 0.73105860]))
    logs = torch.sparse.log_softmax(coo(), dim=1).values()
    assert torch.allclose(logs, torch.tensor([0.0, -1.3132617, -0.3132617]))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda s: s.indices(), RuntimeError, "Cannot get indices on an uncoalesced tensor, please call"),
        (lambda s: s + torch.ones(2, 3), RuntimeError, "add(sparse, dense) is not supported. Use add(dense, sparse)"),
        (lambda s: torch.exp(s), NotImplementedError, "Could not run 'aten::exp' with arguments from the 'SparseCPU'"),
        (lambda s: s.view(6), NotImplementedError, "Could not run 'aten::view' with arguments from the 'SparseCPU'"),
        (lambda s: s.numpy(), TypeError, "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."),
        (lambda s: s.item(), RuntimeError, "a Tensor with 6 elements cannot be converted to Scalar"),
        (lambda s: s.data_ptr(), RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"),
        (lambda s: D.coalesce(), RuntimeError, "coalesce expected sparse coordinate tensor layout but got Strided"),
        (lambda s: D.values(), RuntimeError, "values expected sparse tensor layout but got Strided"),
        (
            lambda s: torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0, 3.0]),
            RuntimeError,
            "indices and values must have same nnz, but got nnz from indices: 2, nnz from values: 3",
        ),
        (lambda s: torch.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (3,)), RuntimeError, "but found index 5"),
        (lambda s: s @ torch.ones(2, 2), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)"),
        (lambda s: D.sparse_mask(s.t()), RuntimeError, "self has size [2, 3] but mask has size [3, 2]"),
    ],
)  # fmt: skip
def test_what_is_refused(call, error, text):
    with pytest.raises(error) as raised:
        call(coo())
    assert text in str(raised.value)


@pytest.mark.parametrize(
    "take",
    [
        lambda s: torch.nn.Parameter(s),
        lambda s: torch.nn.Buffer(s),
        lambda s: s.as_subclass(torch.Tensor),
        lambda s: setattr(torch.ones(2, 3), "data", s),
        lambda s: torch.from_dlpack(s),
        lambda s: torch.tensor(s),
        lambda s: s.resize_(4),
        lambda s: s.set_(torch.ones(2)),
        lambda s: s.untyped_storage(),
    ],
)
def test_nobody_takes_the_values_for_the_memory(take):
    s = coo()
    with pytest.raises((RuntimeError, NotImplementedError, TypeError)):
        take(s)
    assert s.shape == (2, 3) and s._nnz() == 3


def test_copies_are_their_own():
    s = coo(requires_grad=True)
    other = copy.deepcopy(s)
    with torch.no_grad():
        other._values().zero_()
    assert other.requires_grad and s._values().tolist() == VALUES and s.data.requires_grad is False


def gradients(compute, *dense):
    leaves = [x.clone().requires_grad_() for x in dense]
    compute(*leaves).backward()
    return [leaf.grad for leaf in leaves]


def test_gradients_of_a_product_with_a_dense_matrix():
    s, w = coo(requires_grad=True), W.clone().requires_grad_()
    (torch.sparse.mm(s, w) ** 2).sum().backward()
    of_s, of_w = gradients(lambda d, w: ((d @ w) ** 2).sum(), D, W)
    assert s.grad.is_sparse and torch.allclose(s.grad.to_dense(), of_s * (D != 0)) and torch.allclose(w.grad, of_w)


def test_gradients_that_are_asked_for():
    s, w = coo(requires_grad=True), W.clone().requires_grad_()
    of_s, of_w = torch.autograd.grad((torch.sparse.mm(s, w) ** 2).sum(), [s, w])
    expected = gradients(lambda d, w: ((d @ w) ** 2).sum(), D, W)
    assert of_s.is_sparse and torch.allclose(of_s.to_dense(), expected[0] * (D != 0)) and torch.equal(of_w, expected[1])
    assert s.grad is None and w.grad is None


def test_gradients_of_a_product_of_two_sparse_ones():
    a, b = coo(requires_grad=True), torch.sparse_coo_tensor([[0, 2, 2], [1, 0, 1]], [1.0, 2.0, 3.0], requires_grad=True)
    (torch.sparse.mm(a, b).values() ** 2).sum().backward()
    of_a, of_b = gradients(lambda x, y: ((x @ y) ** 2).sum(), D, b.detach().to_dense())
    assert torch.allclose(a.grad.to_dense(), of_a * (D != 0))
    assert torch.allclose(b.grad.to_dense(), of_b * (b.detach().to_dense() != 0))


def test_gradients_of_softmax():
    s = coo(requires_grad=True)
    (torch.sparse.softmax(s, 1).to_dense() * torch.arange(6.0).reshape(2, 3)).sum().backward()
    share = float(np.exp(4) / (np.exp(4) + np.exp(5)))
    expected = torch.tensor([0.0, -2 * share * (1 - share), 2 * share * (1 - share)])
    assert torch.allclose(s.grad._values(), expected)


@pytest.mark.slow
def test_a_program_without_sparse_tensors_pays_nothing():
    import subprocess
    import sys

    code = (
        "import minitorch_compile as torch; from minitorch_compile.tensor.dispatch import op, dispatch;"
        "torch.ones(2) + 1; assert op.dispatch is dispatch.dispatch;"
        "torch.ones(2).to_sparse(); assert op.dispatch is not dispatch.dispatch"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_compiled_function_breaks_its_graph_and_goes_on():
    def program(s, w):
        return (torch.sparse.mm(s, w) + 1).relu()

    compiled = torch.compile(program)
    assert torch.equal(compiled(coo(), W), program(coo(), W))


def assert_alike(made, s):
    assert made.layout is s.layout
    assert made.requires_grad == s.requires_grad
    assert repr(made) == repr(s)


@pytest.mark.parametrize("way", ["file", "pickle", "copy", "deepcopy"])
def test_what_is_saved_and_copied_comes_back(way):
    def again(value):
        if way == "file":
            file = io.BytesIO()
            torch.save(value, file)
            file.seek(0)
            return torch.load(file)
        return pickle.loads(pickle.dumps(value)) if way == "pickle" else getattr(copy, way)(value)

    repeated = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [1.0, 2.0, 3.0], (2, 3), requires_grad=True)
    empty = torch.sparse_coo_tensor((2, 3))
    for s in (repeated, repeated.detach().coalesce(), repeated.detach().to_sparse_csr(), empty):
        made = again(s)
        assert_alike(made, s)
        if s.layout is torch.sparse_coo:
            assert made.is_coalesced() == s.is_coalesced()


def test_what_pytorch_saved():
    read = torch.load(WRITTEN / "sparse.pt")
    dense = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]
    assert all(s.to_dense().tolist() == dense for s in read.values())
    assert [s.is_coalesced() for s in (read["coo"], read["coalesced"])] == [False, True]
    assert read["csr"].layout is torch.sparse_csr


def test_files_of_older_versions_do_not_say_whether_places_are_in_order():
    s = coo()
    made = saved.rebuild(torch.sparse_coo, (s._indices(), s._values(), s.size()))
    assert_alike(made, s)
    assert not made.is_coalesced()


PLACES = torch.tensor([[0, 1], [2, 0]])


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (torch.sparse_coo, (PLACES, torch.ones(2), (2, 2), False)),
        (torch.sparse_coo, (-PLACES, torch.ones(2), (2, 3), False)),
        (torch.sparse_coo, (PLACES, torch.ones(3), (2, 3), False)),
        (torch.sparse_coo, (PLACES.flip(1), torch.ones(2), (2, 3), True)),
        (torch.sparse_coo, (PLACES, [1.0, 2.0], (2, 3), False)),
        (torch.sparse_coo, (PLACES, torch.ones(2), (2, -3), False)),
        (torch.sparse_coo, (torch.tensor([[0], [1]]).expand(2, 2**40), torch.ones(1).expand(2**40), (2, 3), False)),
        (torch.sparse_coo, (torch.zeros(0, 1).expand(0, 2**40), torch.ones(1).expand(2**40), (), True)),
        (torch.sparse_csr, (torch.tensor([0, 2, 1]), torch.tensor([0]), torch.ones(1), (2, 3))),
        (torch.sparse_csr, (torch.tensor([0, 1, 1]), torch.tensor([3]), torch.ones(1), (2, 3))),
        (torch.sparse_csr, (torch.tensor([0, 1]), torch.tensor([1]), torch.ones(1), (2, 3))),
        (torch.strided, ()),
    ],
)
def test_damaged_parts_are_refused(kind, parts):
    with pytest.raises(RuntimeError):
        saved.rebuild(kind, parts)
