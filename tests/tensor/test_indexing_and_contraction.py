"""Indexing, joining, products, convolution, pooling, normalisation and losses against NumPy or a loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch_compile as torch
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import fake_like, from_numpy, ops
from minitorch_compile.tensor.ops import accumulation

RNG = np.random.default_rng(0)

KEYS = {
    "int": 1,
    "negative": -1,
    "slice": slice(1, None, 2),
    "none": (None, 0),
    "list": [0, 2],
    "tensor": (slice(None), [0, 0, 1]),
    "two tensors": ([0, 2], [1, 1]),
    "apart": ([0, 1], slice(None), [0, 1]),
    "broadcast": ([[0], [1]], [1, 2]),
    "ellipsis": (..., [0, 1]),
    "bool scalar row": np.array([True, False, True]),
    "negative index": ([-1, 0],),
}


@pytest.mark.parametrize("name", KEYS)
def test_getitem_equals_numpy(name: str) -> None:
    array = np.arange(36).reshape(3, 4, 3)
    key = KEYS[name]
    ours = key if not isinstance(key, np.ndarray) else from_numpy(key)
    np.testing.assert_array_equal(from_numpy(array)[ours].numpy(), array[key])


@pytest.mark.parametrize("name", KEYS)
def test_setitem_equals_numpy(name: str) -> None:
    array = np.arange(36.0).reshape(3, 4, 3)
    x = from_numpy(array.copy())
    key = KEYS[name]
    x[key if not isinstance(key, np.ndarray) else from_numpy(key)] = -1
    array[key] = -1
    np.testing.assert_array_equal(x.numpy(), array)


def test_boolean_mask() -> None:
    array = np.arange(6.0).reshape(2, 3)
    x = from_numpy(array.copy())
    assert x[x > 2].tolist() == [3.0, 4.0, 5.0]
    x[x > 2] = 0
    assert x.sum().item() == 3.0
    with pytest.raises(IndexError, match="mask"):
        x[torch.tensor([True, False, True])]


@settings(max_examples=150)
@given(st.data())
def test_basic_keys_equal_numpy(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    array = np.arange(int(np.prod(sizes))).reshape(sizes)
    bound = st.one_of(st.none(), st.integers(-5, 5))
    part = st.one_of(st.builds(slice, bound, bound, st.one_of(st.none(), st.integers(1, 3))), st.none())
    key = tuple(data.draw(st.lists(part, max_size=len(sizes))))
    if sum(k is not None for k in key) > len(sizes):
        return
    view = from_numpy(array)[key]
    np.testing.assert_array_equal(view.numpy(), array[key])
    fake = fake_like(from_numpy(array))[key]
    assert (fake.sizes, fake.strides, fake.offset) == (view.sizes, view.strides, view.offset)


def test_gather_and_scatter_add_by_a_loop() -> None:
    x = RNG.normal(size=(3, 4))
    i = RNG.integers(0, 3, (2, 4))
    expected = np.array([[x[i[r, c], c] for c in range(4)] for r in range(2)])
    np.testing.assert_array_equal(torch.gather(from_numpy(x), 0, from_numpy(i)).numpy(), expected)
    summed = np.zeros((3, 4))
    for r in range(2):
        for c in range(4):
            summed[i[r, c], c] += x[r, c]
    result = torch.zeros(3, 4, dtype=torch.float64).scatter_add(0, from_numpy(i), from_numpy(x))
    np.testing.assert_allclose(result.numpy(), summed)


def test_indices_out_of_range_and_of_wrong_dtype() -> None:
    with pytest.raises(RuntimeError, match="out of bounds for dimension 0 with size 3"):
        torch.gather(torch.ones(3), 0, torch.tensor([3]))
    with pytest.raises(RuntimeError, match="dtype int64 for index"):
        torch.gather(torch.ones(3), 0, torch.tensor([1.0]))
    with pytest.raises(IndexError, match="out of bounds for dimension 1 with size 2"):
        torch.ones(3, 2)[:, torch.tensor([2])]
    with pytest.raises(IndexError, match="index out of range"):
        ops.embedding(torch.tensor([5]), torch.ones(5, 2))


@pytest.mark.parametrize("gathered", [1, 48, 2**18])
@pytest.mark.parametrize("places", [[], [3], [1, 1, 1, 1, 1], [4, 0, 4, 2, 0, 4, 4, 2, 1]])
def test_rows_are_added_in_blocks_as_numpy_adds_them_one_by_one(gathered, places, monkeypatch) -> None:
    monkeypatch.setattr(accumulation, "GATHERED", gathered)
    index, rows = np.array(places, np.int64), RNG.integers(-9, 9, (len(places), 3))
    found, wanted = np.ones((5, 3), np.int64), np.ones((5, 3), np.int64)
    accumulation.add_rows(found, index, rows)
    np.add.at(wanted, index, rows)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int8", "uint8", "int64", "bool"])
@pytest.mark.parametrize("awkward", ["plain", "int32 index", "gaps", "big-endian", "infinite", "result by columns"])
def test_many_rows_are_added_as_numpy_adds_them_one_by_one(dtype: str, awkward: str) -> None:
    index, rows = RNG.integers(0, 7, 400), (RNG.integers(0, 3, (400, 3)) / 2).astype(dtype)
    wanted = np.ones((7, 3), dtype)
    if awkward == "int32 index":
        index = index.astype(np.int32)
    elif awkward == "gaps":
        index, rows = np.repeat(index, 2)[::2], np.repeat(rows, 2, 1)[::-1, ::2]
    elif awkward == "big-endian":
        rows, wanted = rows.astype(rows.dtype.newbyteorder(">")), wanted.astype(rows.dtype.newbyteorder(">"))
    elif awkward == "infinite" and dtype[0] in "fc":
        rows[index == 2], rows[index == 4] = np.inf, np.nan
    found = wanted.copy("F" if awkward == "result by columns" else "C")
    accumulation.add_rows(found, index, rows)
    with np.errstate(over="ignore"):
        np.add.at(wanted, index, rows)
    np.testing.assert_array_equal(found, wanted)


def test_index_put_accumulates_repeated_indices() -> None:
    x = torch.zeros(3)
    x.index_put_((torch.tensor([0, 0, 2]),), torch.ones(3), accumulate=True)
    assert x.tolist() == [2.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
     ((5, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)), ((0, 3), (3, 4)), ((2, 0), (0, 4)), ((1, 1), (1, 1))],
)  # fmt: skip
def test_matmul_equals_numpy(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = RNG.normal(size=left), RNG.normal(size=right)
    result = from_numpy(a) @ from_numpy(b)
    np.testing.assert_allclose(result.numpy(), a @ b, rtol=1e-12)
    fake = fake_like(from_numpy(a)) @ fake_like(from_numpy(b))
    assert (fake.sizes, fake.strides) == (result.sizes, result.strides)
    if a.ndim == 2 and b.ndim == 2:
        transposed = from_numpy(a.T.copy()).t() @ from_numpy(b.T.copy()).t()
        np.testing.assert_allclose(transposed.numpy(), a @ b, rtol=1e-12)


@pytest.mark.parametrize("sizes", [((2, 300), (300, 3)), ((300,), (300,)), ((2, 0), (0, 3)), ((4, 2, 3), (4, 3, 2))])
def test_half_floats_are_multiplied_as_float32_and_rounded_once(sizes) -> None:
    x, y = (torch.tensor(300 * RNG.random(size)).half() for size in sizes)  # NumPy's own loop takes forever
    product = x @ y
    assert product.dtype is torch.float16 and torch.equal(product, (x.float() @ y.float()).half())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: torch.ones(3, 4) @ torch.ones(5, 6), r"inner sizes differ: input is \[3, 4\], other is \[5, 6\]"),
        (lambda: torch.ones(3, 4) @ torch.ones(4, 6, dtype=torch.float64), "same dtype"),
        (lambda: torch.mm(torch.ones(3), torch.ones(3, 1)), "input must have 2 dimensions"),
        (lambda: torch.bmm(torch.ones(2, 3, 4), torch.ones(3, 4, 5)), "batch sizes differ"),
        (lambda: torch.tensor(1.0) @ torch.ones(2), "at least 1D"),
        (lambda: ops.linear(torch.ones(2, 3), torch.ones(4, 5)), r"weight.size\(-1\)"),
        (lambda: torch.addmm(torch.ones(5), torch.ones(2, 3), torch.ones(3, 4)), "doesn't expand|must match"),
        (lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]), "must match except in dimension 0"),
        (lambda: torch.stack([torch.ones(2), torch.ones(3)]), "equal size"),
        (lambda: torch.stack([]), "non-empty list"),
        (lambda: torch.conv2d(torch.ones(1, 2, 4, 4), torch.ones(3, 3, 2, 2)), "channels"),
        (lambda: torch.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)), "Kernel size"),
        (lambda: torch.max_pool2d(torch.ones(4), 2), "Expected 3D or 4D"),
        (lambda: ops.layer_norm(torch.ones(2, 3), (4,)), "normalized_shape"),
    ],
)
def test_mismatched_sizes_name_the_arguments(call: object, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()  # type: ignore[operator]


def conv_by_loop(x, w, b, stride, padding, dilation, groups):  # type: ignore[no-untyped-def]
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    kh, kw = w.shape[2:]
    oh = (x.shape[2] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (x.shape[3] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((x.shape[0], w.shape[0], oh, ow))
    per_group = w.shape[0] // groups
    for n, o, i, j in np.ndindex(out.shape):
        first = o // per_group * w.shape[1]
        top, left = i * stride[0], j * stride[1]
        patch = x[
            n,
            first : first + w.shape[1],
            top : top + dilation[0] * (kh - 1) + 1 : dilation[0],
            left : left + dilation[1] * (kw - 1) + 1 : dilation[1],
        ]
        out[n, o, i, j] = (patch * w[o]).sum() + b[o]
    return out


CONVOLUTIONS = [
    ((2, 3, 6, 5), (4, 3, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 6, 7), (6, 2, 3, 2), (2, 1), (1, 2), (1, 1), 2),
    ((1, 2, 8, 8), (2, 1, 3, 3), (1, 2), (2, 2), (2, 2), 2),
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((0, 2, 4, 4), (3, 2, 2, 2), (1, 1), (0, 0), (1, 1), 1),
]


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution_and_its_gradients_equal_a_loop(case: tuple[object, ...]) -> None:
    x_sizes, w_sizes, *rest = case
    x, w, b = RNG.normal(size=x_sizes), RNG.normal(size=w_sizes), RNG.normal(size=w_sizes[0])  # type: ignore[call-overload, index]
    out = torch.conv2d(from_numpy(x), from_numpy(w), from_numpy(b), *rest)
    np.testing.assert_allclose(out.numpy(), conv_by_loop(x, w, b, *rest), rtol=1e-10, atol=1e-12)
    grad = RNG.normal(size=tuple(out.shape))
    # The convolution is linear in each argument: <grad, conv(dx, w)> = <input_grad, dx>, and the same for w.
    dx, dw = RNG.normal(size=x.shape), RNG.normal(size=w.shape)
    zero = np.zeros_like(b)
    input_grad = ops.convolution_input_grad(from_numpy(grad), from_numpy(w), x.shape, *rest).numpy()
    weight_grad = ops.convolution_weight_grad(from_numpy(grad), from_numpy(x), w.shape, *rest).numpy()
    np.testing.assert_allclose(
        (input_grad * dx).sum(), (grad * conv_by_loop(dx, w, zero, *rest)).sum(), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        (weight_grad * dw).sum(), (grad * conv_by_loop(x, dw, zero, *rest)).sum(), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "ceil"),
    [(2, None, 0, False), (3, 2, 1, False), (3, 2, 1, True), ((2, 3), 1, 0, False)],
)
def test_max_pool_finds_the_maximum_and_its_place(kernel: object, stride: object, padding: int, ceil: bool) -> None:
    x = RNG.normal(size=(2, 3, 7, 8)).astype(np.float32)
    values, indices = torch.nn.functional.max_pool2d(
        from_numpy(x), kernel, stride, padding, 1, ceil, return_indices=True
    )
    np.testing.assert_array_equal(
        np.take_along_axis(x.reshape(2, 3, -1), indices.numpy().reshape(2, 3, -1), -1).reshape(values.shape),
        values.numpy(),
    )
    fake, _ = torch.nn.functional.max_pool2d(
        fake_like(from_numpy(x)), kernel, stride, padding, 1, ceil, return_indices=True
    )
    assert fake.sizes == values.sizes
    grad = ops.max_pool_with_indices_backward(torch.ones(values.shape), indices, tuple(x.shape))
    assert grad.sum().item() == values.numel()


def test_layer_norm_rows_have_mean_0_and_variance_1() -> None:
    x = RNG.normal(size=(4, 5, 6)) * 3 + 7
    w, b = RNG.normal(size=(5, 6)), RNG.normal(size=(5, 6))
    mean, var = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
    expected = (x - mean) / np.sqrt(var + 1e-5) * w + b
    np.testing.assert_allclose(
        ops.layer_norm(from_numpy(x), (5, 6), from_numpy(w), from_numpy(b)).numpy(), expected, rtol=1e-10
    )


def test_attention_is_a_weighted_mean_of_values() -> None:
    q, k, v = (RNG.normal(size=(2, 3, 4, 5)) for _ in range(3))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(5)
    scores[..., np.triu_indices(4, 1)[0], np.triu_indices(4, 1)[1]] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    result = ops.scaled_dot_product_attention(*map(from_numpy, (q, k, v)), is_causal=True)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-10)


def test_cross_entropy_with_ignored_targets_weights_and_probabilities() -> None:
    scores, target = RNG.normal(size=(5, 3)), np.array([0, 2, -100, 1, 1])
    weight = np.array([1.0, 2.0, 0.5])
    logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    kept = [0, 1, 3, 4]
    picked = -logs[kept, target[kept]]
    x, t = from_numpy(scores), from_numpy(target)
    assert F.cross_entropy(x, t).item() == pytest.approx(picked.mean())
    weighted = (picked * weight[target[kept]]).sum() / weight[target[kept]].sum()
    assert F.cross_entropy(x, t, from_numpy(weight)).item() == pytest.approx(weighted)
    soft = np.full((5, 3), 1 / 3)
    assert F.cross_entropy(x, from_numpy(soft)).item() == pytest.approx(-(logs * soft).sum(1).mean())
    with pytest.raises(ValueError, match=r"Expected input batch_size \(5\) to match target batch_size \(1\)"):
        F.cross_entropy(x, torch.tensor([1]))
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        F.cross_entropy(x, t, reduction="median")


def test_dropout_keeps_the_expectation_and_repeats_with_its_seed() -> None:
    torch.manual_seed(3)
    a = torch.dropout(torch.ones(20_000), 0.25, True)
    torch.manual_seed(3)
    assert (a == torch.dropout(torch.ones(20_000), 0.25, True)).all()
    assert a.mean().item() == pytest.approx(1, abs=0.02)
    assert sorted({round(v, 4) for v in a.tolist()}) == [0.0, round(1 / 0.75, 4)]
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        torch.dropout(a, 1.5, True)


def test_random_streams_have_the_right_moments_and_do_not_repeat() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(50_000), torch.randn(50_000)
    assert abs(x.mean().item()) < 0.02 and abs(x.std().item() - 1) < 0.02
    assert not (x == y).any()
    integers = torch.randint(2, 5, (3_000,))
    assert integers.unbind() and set(integers.tolist()) == {2, 3, 4}
    assert sorted(torch.randperm(10).tolist()) == list(range(10))


def test_a_fake_tensor_has_no_data_and_says_so() -> None:
    fake = fake_like(torch.ones(2, 2))
    for read in (fake.sum().item, lambda: bool(fake.sum()), lambda: fake.numpy(), lambda: fake[fake > 0]):
        with pytest.raises(RuntimeError, match="fake tensor has no data|depends on the data"):
            read()


@pytest.mark.parametrize("equal_nan", [False, True])
def test_closeness_is_numpys(equal_nan: bool) -> None:
    values = np.array([0.0, 1.0, 1.0 + 1e-6, -1.0, np.inf, -np.inf, np.nan, 1e-9])
    x, y = from_numpy(values[:, None].copy()), from_numpy(values)
    expected = np.isclose(values[:, None], values, equal_nan=equal_nan)
    np.testing.assert_array_equal(torch.isclose(x, y, equal_nan=equal_nan).numpy(), expected)
    assert torch.allclose(torch.tensor([3, 4]), torch.tensor([3, 4])) and not torch.equal(x, y)
    with pytest.raises(RuntimeError, match="did not match"):
        torch.isclose(torch.ones(2), torch.ones(2, dtype=torch.float64))


def test_thread_count_is_set_and_bad_ones_refused() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    with pytest.raises(RuntimeError, match="positive integer"):
        torch.set_num_threads(0)


def test_a_mask_of_bytes_still_works_and_warns():
    x = torch.tensor([1, 2, 3])
    mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
    for index in (lambda x: x[mask], torch.compile(lambda x: x[mask], backend="eager")):
        with pytest.warns(UserWarning, match="torch.uint8 is deprecated"):
            assert index(x).tolist() == [1, 3]


@pytest.mark.parametrize("sizes", [(0, 64), (64, 0), (3, 0, 5)])
def test_gradients_of_indices_into_nothing(sizes):
    x = torch.zeros(sizes, requires_grad=True)
    index = torch.tensor([], dtype=torch.int64) if sizes[1] == 0 else torch.tensor([0, -1, 1])
    for taken in (x[:, index], x[..., index if sizes[-1] == 64 else slice(None)]):
        (gradient,) = torch.autograd.grad(taken.sum(), x)
        assert gradient.shape == sizes


def test_a_rule_is_asked_once_for_each_look_of_its_arguments(monkeypatch):
    asked, rule = [], ops.addmm._rule
    monkeypatch.setattr(ops.addmm, "_rule", lambda *bound: asked.append(bound) or rule(*bound))
    start, x, y = torch.ones(7), torch.ones(3, 13), torch.ones(13, 7)
    for alpha in (1, 1, 1.0, 1.0):  # 1 and 1.0 are equal, and of two types
        assert torch.addmm(start, x, y, alpha=alpha).tolist() == [[14.0] * 7] * 3
    assert len(asked) == 2
    assert torch.addmm(start, x, torch.ones(7, 13).t()).sum() == 294  # lies in another way
    assert torch.addmm(*(each.double() for each in (start, x, y))).dtype is torch.float64
    assert len(asked) == 4
    for _ in range(2):
        with pytest.raises(RuntimeError, match="inner sizes differ"):
            torch.addmm(start, x, torch.ones(12, 7))
    assert len(asked) == 6
