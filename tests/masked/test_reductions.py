"""torch.masked's functions. The oracle is the same function of the elements that count, taken row by row; errors and
single values are PyTorch 2.13's."""

import math

import pytest

import minitorch_compile as torch
from minitorch_compile import masked

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
X = torch.tensor([[0.5, -1.5, 2.25, 3.0], [4.0, -2.0, 0.0, 1.0], [5.0, 6.0, -7.0, 0.25]])
MASK = torch.tensor([[True, False, True, True], [False, False, True, True], [True, True, True, True]])
COUNTED = [row[mask] for row, mask in zip(X, MASK)]

ROWS = {
    "sum": torch.sum,
    "prod": torch.prod,
    "amax": torch.amax,
    "amin": torch.amin,
    "mean": torch.mean,
    "var": torch.var,
    "std": torch.std,
    "median": torch.median,
    "logsumexp": lambda row: torch.logsumexp(row, 0),
    "norm": torch.linalg.vector_norm,
}


@pytest.mark.parametrize("name", ROWS)
def test_a_reduction_of_what_counts(name):
    function = getattr(masked, name)
    along = {"dim": 1}
    expected = torch.stack([ROWS[name](row) for row in COUNTED])
    torch.testing.assert_close(function(X, mask=MASK, **along), expected)
    torch.testing.assert_close(function(X, mask=MASK, keepdim=True, **along), expected[:, None])
    torch.testing.assert_close(function(X, **along), torch.stack([ROWS[name](row) for row in X]))
    if name not in ("median", "logsumexp"):
        deep = {"dim": (0, 2), "mask": MASK[:, :, None]}
        torch.testing.assert_close(function(X[:, :, None], **deep), function(X, dim=0, mask=MASK), equal_nan=True)
        assert torch.equal(function(masked.masked_tensor(X, MASK), mask=MASK, **along), function(X, mask=MASK, **along))


@pytest.mark.parametrize(
    "name, nothing",
    [("sum", 0.0), ("prod", 1.0), ("amax", -math.inf), ("amin", math.inf), ("mean", math.nan), ("var", math.nan),
     ("median", math.nan), ("logsumexp", -math.inf), ("norm", 0.0)],
)  # fmt: skip
def test_where_nothing_counts(name, nothing):
    found = getattr(masked, name)(X[0], mask=torch.zeros(4, dtype=torch.bool)).item()
    assert found == nothing or (math.isnan(found) and math.isnan(nothing))


def test_places_of_the_extremes_have_the_dtype_of_the_input():
    assert masked.argmax(X, 1, mask=MASK).tolist() == [3.0, 3.0, 1.0] and masked.argmax(X, 1).dtype is torch.float32
    assert masked.argmin(X, mask=MASK, dtype=torch.int64).item() == 10


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.int64, torch.bool])
def test_integers_add_up_as_int64(kind):
    x = torch.tensor([1, 0, 1, 1]).to(kind)
    assert masked.sum(x, mask=MASK[0]).dtype is torch.int64 and masked.sum(x, mask=MASK[0]).item() == 3
    assert (
        masked.prod(x, mask=MASK[0]).item() == 1 and masked.std(x.to(torch.int64), mask=MASK[0]).dtype is torch.float32
    )


def test_a_mask_is_broadcast():
    column = torch.tensor([[True], [False], [True]])
    assert torch.equal(masked.sum(X, 0, mask=column), X[0] + X[2])
    assert torch.equal(masked.sum(X, mask=torch.tensor([True, False, False, False])), X[:, 0].sum())


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "cumsum", "cumprod"])
def test_a_normalization_of_what_counts(name):
    function = {"softmin": torch.nn.functional.softmin}.get(name) or getattr(torch, name)
    found = getattr(masked, name)(X, 1, mask=MASK)
    for row, mask, counted in zip(found, MASK, COUNTED):
        torch.testing.assert_close(row[mask], function(counted, 0))


def test_normalize_and_logaddexp():
    found = masked.normalize(X, 2.0, 1, mask=MASK)
    for row, mask, counted in zip(found, MASK, COUNTED):
        torch.testing.assert_close(row[mask], counted / counted.norm())
    first, second = torch.tensor([-100.0, -200.0, -300.0]), torch.tensor([-1.0, -2.0, -3.0])
    both = torch.tensor([True, False, True])
    assert masked.logaddexp(first, second, input_mask=both, other_mask=both).tolist() == [-1.0, -math.inf, -3.0]


def test_the_correction_of_a_variance():
    torch.testing.assert_close(masked.var(X, 1, False, mask=MASK), torch.stack([r.var(correction=0) for r in COUNTED]))
    torch.testing.assert_close(masked.var(X[2], correction=2), X[2].var(correction=2))


def test_gradients_pass_by_what_does_not_count():
    x = X.clone().requires_grad_()
    masked.prod(x, mask=MASK).backward()
    assert not x.grad[~MASK].any() and x.grad[1, 2] != 0


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: masked.sum(X, 5),
            IndexError,
            "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
        ),
        (lambda: masked.amax(X, (0, 0)), RuntimeError, "dim=0 appears multiple times in the list of dims"),
        (lambda: masked.sum(X, mask=MASK[None]), IndexError, "got mask dimensionality higher than of the input"),
        (
            lambda: masked.mean(X.to(torch.int64)),
            ValueError,
            "mean(): Could not infer output dtype. Input dtype must be",
        ),
        (lambda: masked.mean(X, dtype=torch.int64), ValueError, "Optional dtype must be either a floating point or"),
        (
            lambda: masked.var(X, 0, True, correction=2),
            AssertionError,
            "Only one of unbiased and correction may be given",
        ),
        (lambda: masked.amax(MASK, mask=MASK), NotImplementedError, "identity of amax on torch.bool input"),
        (lambda: masked.median(X.to(torch.int64), mask=MASK & False), ValueError, "expects no fully masked out rows"),
        (lambda: masked.norm(X.to(torch.int64), -math.inf, mask=MASK), AssertionError, "input must be floating point"),
        (lambda: masked.softmax(X.to_sparse(), 0), ValueError, "expects strided tensor (got torch.sparse_coo tensor)"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert text in str(raised.value)
