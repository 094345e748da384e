"""vmap against a loop over the examples, jvp and whole Jacobians against finite differences."""

import numpy as np
import pytest
from mini import ops
from mini.tape import grad
from mini.tensor import from_numpy, tensor
from mini.transforms import jvp, vmap

from .programs import CASES, r

BATCHED = [(f, [x.sizes for x in args]) for f, *args in CASES] + [
    (lambda x: x.expand(2, 3), [(3,)]),
    (lambda x: x.expand(2, 3), [()]),
    (lambda x, y: x @ y, [(2, 3), (2, 3, 4)]),
    (lambda x: ops.where(x < 1, x, x * 2).to("float32"), [(3,)]),
    (lambda x: x.clone().add_(1) * x, [(3,)]),
]


def stacked(results):
    return np.stack([result.numpy() for result in results])


@pytest.mark.parametrize("f, sizes", BATCHED)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_vmap_is_a_loop(f, sizes, size):
    args = [r(size, *n) for n in sizes]
    rows = [[from_numpy(x.numpy()[i]) for x in args] for i in range(size)]
    assert np.allclose(vmap(f)(*args).numpy(), stacked(f(*row) for row in rows))
    shared = (0, *[None] * (len(args) - 1))
    got = vmap(f, shared)(args[0], *rows[0][1:])
    assert np.allclose(got.numpy(), stacked(f(row[0], *rows[0][1:]) for row in rows))
    last = vmap(f, -1)(*[from_numpy(np.moveaxis(x.numpy(), 0, -1).copy()) for x in args])
    assert np.allclose(last.numpy(), vmap(f)(*args).numpy())


def test_batches_of_batches_and_of_gradients():
    x, y = r(2, 3), r(4, 3)
    both = vmap(lambda a: vmap(lambda b: (a * b).sum())(y))(x)
    assert np.allclose(both.numpy(), x.numpy() @ y.numpy().T)
    each = vmap(grad(lambda v: (v**3).sum()))(x)
    assert np.allclose(each.numpy(), 3 * x.numpy() ** 2)


@pytest.mark.parametrize("f, sizes", [(f, sizes) for f, sizes in BATCHED if f is not BATCHED[-2][0]])
def test_tangents_are_differences(f, sizes):
    x, *rest = [r(*n) for n in sizes]
    t, step = r(*x.sizes), 1e-6
    value, tangent = jvp(lambda v: f(v, *rest), x, t)
    ends = [f(from_numpy(x.numpy() + move * t.numpy()), *rest).numpy() for move in (step, -step)]
    assert np.allclose(value.numpy(), f(x, *rest).numpy())
    assert np.allclose(tangent.numpy(), (ends[0] - ends[1]) / (2 * step), atol=1e-5)
    assert tangent.dtype == value.dtype


def columns_of_jacobian(f, x):
    """A jvp along each unit vector, all at once."""
    units = np.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.sizes)
    return vmap(lambda t: jvp(f, x, t)[1])(from_numpy(units))


@pytest.mark.parametrize("f, sizes", BATCHED[:-2])
def test_a_column_of_the_jacobian_is_a_tangent(f, sizes):
    x, *rest = [r(*n) for n in sizes]
    columns = columns_of_jacobian(lambda v: f(v, *rest), x).numpy()
    t = r(*x.sizes)
    wanted = jvp(lambda v: f(v, *rest), x, t)[1].numpy()
    assert np.allclose(np.tensordot(t.numpy().reshape(-1), columns, 1), wanted)


def test_a_hessian():
    x = tensor([1.0, 2.0, 3.0])
    assert columns_of_jacobian(grad(lambda v: (v**3).sum() + v[0] * v[1]), x).tolist() == [
        [6, 1, 0],
        [1, 12, 0],
        [0, 0, 18],
    ]


def written(x):
    y = x * 2
    y[0] = y[1]
    y[1] = 5
    y.mul_(x)
    return y


def test_what_a_function_writes():
    x, t = tensor([1.0, 2.0]), tensor([1.0, 10.0])
    value, tangent = jvp(lambda x: (x * x).add_(x), x, t)
    assert value.tolist() == [2, 6] and tangent.tolist() == [3, 50]
    with pytest.raises(RuntimeError, match="through another view"):  # as of its gradient
        jvp(written, x, t)
    with pytest.raises(RuntimeError, match="leaf"):
        jvp(lambda x: x.copy_(t), x, t)
    assert x.tolist() == [1, 2] and t.tolist() == [1, 10]
    rows = r(3, 2)
    assert vmap(written)(rows).tolist() == [written(from_numpy(row)).tolist() for row in rows.numpy().copy()]


def test_what_does_not_depend_on_it_has_no_tangent():
    x = tensor([1.0, 2.0])
    assert jvp(lambda v: tensor([3.0]), x, x)[1].tolist() == [0]
    assert jvp(lambda v: v < 1.5, x, x)[0].tolist() == [True, False]
    assert jvp(lambda v: v.to("int64").to("float32"), x, x)[1].tolist() == [0, 0]


def test_writing_into_what_all_examples_share_is_refused():
    shared = tensor([0.0, 0.0])
    with pytest.raises(RuntimeError, match="outside of the transform"):
        vmap(lambda x: shared.copy_(x))(tensor([[1.0, 2.0], [3.0, 4.0]]))


def test_batch_sizes_must_agree():
    for args, dims in (((r(2), r(3)), 0), ((r(2),), None)):
        with pytest.raises(ValueError, match="one size"):
            vmap(lambda *xs: xs[0], dims)(*args)
