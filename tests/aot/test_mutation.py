"""In-place operations, views and aliases: compiled code leaves the same world behind as plain code."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.aot import aot_function
from minitorch_compile.autograd import Function
from minitorch_compile.tensor import from_numpy, no_grad, ops, tensor
from tests.aot.compare import BACKENDS, captured, check, compiled, sample


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS.keys())
def backend(request):
    return request.param


def overwrite_an_argument(x, y):
    x.add_(y)
    return (x * 2,)


def overwrite_twice(x, y):
    x.mul_(y)
    x.add_(1)
    return (y * 3,)


def overwrite_an_intermediate(x, y):
    z = x * y
    z.mul_(2).add_(y)
    return (z,)


def write_through_a_view(x, y):
    z = x * 1
    z[0] = y[1]
    z.t()[1].mul_(3)
    return z, z.sum(0)


def write_and_read_an_old_view(x, y):
    z = x * 1
    row = z[1]
    z.add_(1)
    return row * 2, row


def write_through_a_view_of_an_argument(x, y):
    x[0].copy_(y[0])
    x.view(-1)[2:5].fill_(7)
    return (x.sum(),)


def write_every_second(x, y):
    z = x * 1
    z[:, ::2] = y[:, :2]
    z[:, 1:3] += 1
    return (z,)


def write_by_index(x, y):
    z = x * 1
    z[tensor([0, 2]), :] = y[:2]
    z.index_put_([tensor([1, 1])], y[1:3], True)
    return (z,)


def write_through_a_view_of_a_view(x, y):
    z = x * 1
    z.unsqueeze(0).permute((2, 0, 1))[1].squeeze(0).mul_(5)
    return (z,)


def write_by_mask(x, y):
    z = ops.where(x > 0, x, y)
    z.relu_()
    return (z,)


def return_the_argument(x, y):
    return x, y, x


def return_views_of_the_argument(x, y):
    return x.t(), y[1], x.view(-1)


def return_views_of_an_overwritten_argument(x, y):
    x.mul_(2)
    return x[0], x, x.t()


def return_two_views_of_one_result(x, y):
    z = x * y
    return z, z.t(), z[0]


def return_two_views_without_the_base(x, y):
    z = (x * y).view(-1)
    return z[:3], z[2:]


def return_an_expanded_result(x, y):
    return ((x.sum(1, keepdim=True) * 2).expand(3, 5),)


def return_every_second_element(x, y):
    return ((x * y)[:, ::2],)


def write_to_nothing(x, y):
    x[3:].fill_(7)
    return (x[3:],)


def return_detached(x, y):
    z = x * y
    return z, z.detach(), x.detach()


def return_one_result_twice(x, y):
    z = x * y
    return z, z


def overwrite_with_another(x, y):
    x.copy_(y)
    return (x + y,)


def overwrite_a_copy(x, y):
    z = x.clone()
    z.zero_()
    return z, x + 1


def overlapping_write(x, y):
    z = x * 1
    z.view(-1)[1:].copy_(z.view(-1)[:-1])
    return (z,)


def convert_on_write(x, y):
    z = x * 1
    z.add_((y > 0).sum())
    return (z,)


def keep_for_backward_and_overwrite(x, y):
    out = (x.exp() * y).sum()
    y.mul_(2)
    return out, y + 1


PROGRAMS = {
    f.__name__: f
    for f in (
        overwrite_an_argument,
        overwrite_twice,
        overwrite_an_intermediate,
        write_through_a_view,
        write_and_read_an_old_view,
        write_through_a_view_of_an_argument,
        write_every_second,
        write_by_index,
        write_through_a_view_of_a_view,
        write_by_mask,
        return_the_argument,
        return_views_of_the_argument,
        return_views_of_an_overwritten_argument,
        return_two_views_of_one_result,
        return_two_views_without_the_base,
        return_an_expanded_result,
        return_every_second_element,
        write_to_nothing,
        return_detached,
        return_one_result_twice,
        overwrite_with_another,
        overwrite_a_copy,
        overlapping_write,
        convert_on_write,
    )
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_gradients(name, backend):
    check(PROGRAMS[name], lambda: [sample(3, 4, seed=i, requires_grad=False) for i in (0, 1)], backend)


@pytest.mark.parametrize("name", PROGRAMS)
def test_with_gradients(name, backend):
    try:
        check(PROGRAMS[name], lambda: [sample(3, 4, seed=i) for i in (0, 1)], backend)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise


@pytest.mark.parametrize("name", PROGRAMS)
def test_with_a_gradient_for_one_argument(name, backend):
    check(PROGRAMS[name], lambda: [sample(3, 4, seed=0, requires_grad=False), sample(3, 4, seed=1)], backend)


def test_a_leaf_that_requires_grad_can_not_be_overwritten(backend):
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        compiled(overwrite_an_argument, backend)(sample(3, 4), sample(3, 4))


def test_a_parameter_updated_under_no_grad_keeps_its_history(backend):
    def step(p, x):
        with no_grad():
            p.mul_(0.5)
        return ((p * x).sum(),)

    def run(function):
        p, x = sample(3), sample(3, seed=1, requires_grad=False)
        function(p, x)[0].backward()
        return p

    expected, actual = run(step), run(compiled(step, backend))
    np.testing.assert_allclose(actual.detach().array, expected.detach().array)
    np.testing.assert_allclose(actual.grad.array, expected.grad.array)
    assert actual.is_leaf


def detach_and_overwrite(x, w):
    y = x * 1.5
    y.detach().copy_(w)
    return y, y + 1


def detach_and_write_numbers(x, w):
    y = x * w
    y.detach().add_(10)
    return y, y + 1


def overwrite_what_is_detached(x, w):
    v = (x * 1.5).detach()
    transposed = v.movedim(0, 1)
    v.copy_(w.mean())
    return (transposed,)


def return_the_detached_and_its_base(x, w):
    y = x * 1.5
    v = y.detach()
    v[0].mul_(w[1])
    return v, y, v.t(), y[0]


def detach_a_view(x, w):
    y = x * 1.5
    row = y[0].detach()
    row.mul_(w[1])
    return row, y


def overwrite_the_base(x, w):
    y = x * 1.5
    v = y.detach()
    y.mul_(w)
    return v * 2 + y, v, y


def overwrite_both(x, w):
    y = x * 1.5
    v = y.detach()
    v.add_(w)
    y[0].mul_(w[0])
    v.mul_(2)
    return v, y


def detach_twice(x, w):
    y = x * 1.5
    a = y.detach()
    b = a.detach()
    a.mul_(w)
    b.add_(x)
    return a, b, y


def overwrite_a_detached_argument(x, w):
    v = x.detach()
    v.mul_(w)
    return v, v.t()[0], x * 2


def detach_and_overwrite_without_recording(x, w):
    y = x * 1.5
    v = y.detach()
    v.mul_(w)
    with no_grad():
        y.add_(w)
        v.add_(w)
    return v, y


DETACHING = {
    f.__name__: f
    for f in (
        detach_and_overwrite,
        detach_and_write_numbers,
        overwrite_what_is_detached,
        return_the_detached_and_its_base,
        detach_a_view,
        overwrite_the_base,
        overwrite_both,
        detach_twice,
        overwrite_a_detached_argument,
        detach_and_overwrite_without_recording,
    )
}


@pytest.mark.parametrize("requires_grad", [(True, True), (True, False), (False, True), (False, False)], ids=str)
@pytest.mark.parametrize("name", DETACHING)
def test_tensors_that_share_memory_keep_their_own_history(name, requires_grad, backend):
    check(
        DETACHING[name], lambda: [sample(3, 4, seed=i, requires_grad=r) for i, r in enumerate(requires_grad)], backend
    )


def test_a_result_that_the_graph_made_as_a_view_may_be_overwritten_afterwards(backend):
    x = sample(2, 3)
    (result,) = compiled(lambda x: ((x * 2).t(),), backend)(x)
    result.mul_(3)
    result.sum().backward()
    assert x.grad.tolist() == [[6.0] * 3] * 2


def test_a_leaf_may_be_overwritten_through_detach(backend):
    def function(x, w):
        x.detach().mul_(w)
        return (x * w,)

    x, w = sample(3), sample(3, seed=1)
    expected = np.array(x.detach().array * w.detach().array)
    compiled(function, backend)(x, w)[0].sum().backward()
    np.testing.assert_allclose(x.detach().array, expected)
    np.testing.assert_allclose(w.grad.array, expected)
    assert x.is_leaf


def write_to_an_untracked_view(x, w):
    y = x * 2
    with no_grad():
        v = y.view(-1)
    v.mul_(w.view(-1))
    return (y,)


def read_an_untracked_view_after_a_write(x, w):
    y = x * 2
    with no_grad():
        v = y.view(-1)
    y.mul_(w)
    return (v * 2,)


@pytest.mark.parametrize("function", [write_to_an_untracked_view, read_an_untracked_view_after_a_write])
def test_gradients_through_a_view_made_under_no_grad_are_refused_as_in_pytorch(function, backend):
    plain = lambda: [sample(3, 4, seed=i, requires_grad=False) for i in (0, 1)]
    check(function, plain, backend)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        compiled(function, backend)(plain()[0], sample(3, 4, seed=1))


def test_an_untracked_view_of_what_was_written_before_is_read_without_gradients(backend):
    def function(x, w):
        y = x * 2
        y.mul_(w)
        with no_grad():
            v = y.view(-1)
        return (v * 2, y)

    check(function, lambda: [sample(3), sample(3, seed=1)], backend)


@pytest.mark.parametrize("written", [False, True])
def test_an_untracked_view_is_a_leaf(written, backend):
    def function(x):
        y = x * 2
        with no_grad():
            v, u = y.t(), x.t()
            if written:
                u.mul_(2)
        return v, u

    for run in (function, compiled(function, backend)):
        for view in run(sample(3, 4).clone().detach().requires_grad_()):
            assert (view.is_leaf, view.requires_grad, view._is_view()) == (True, True, True)


def test_an_untracked_view_is_made_only_where_there_are_histories():
    """Making views takes time at each call: a compiled Jacobian was four times as slow for it."""

    def function(x):
        y = x * 2
        with no_grad():
            return y.t()

    on_prims = torch.compile(function, backend="aot_eager_decomp_partition")  # whose results are no views
    assert not on_prims(torch.ones(3, 4))._is_view()


def test_nor_is_one_read_that_was_written_to_since(backend):
    def function(x, w):
        y = x * w
        with no_grad():
            v = y.view(-1)
            y.add_(1)
        return (v * 2, y)

    check(function, lambda: [sample(3, seed=i, requires_grad=False) for i in (0, 1)], backend)
    for run in (function, compiled(function, backend)):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            run(sample(3), sample(3, seed=1))


def test_a_program_that_only_detaches_is_not_recorded(backend):
    (result,) = compiled(lambda x, w: (x.detach() * w,), backend)(sample(3), sample(3, requires_grad=False))
    assert not result.requires_grad


def test_an_argument_that_backward_needs_and_that_is_overwritten_raises_as_plainly(backend):
    x, y = sample(3), sample(3, seed=1, requires_grad=False)
    result, _ = compiled(keep_for_backward_and_overwrite, backend)(x, y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*is at version 1; expected version 0"):
        result.backward()


def test_an_argument_that_is_kept_to_compute_a_value_again_may_not_be_overwritten(backend):
    """PyTorch 2.13: plainly x * 1 is kept and backward() runs; compiled, x is kept, on all of its AOT backends."""

    def function(x, y):
        return (x * 1 * y,)

    x, y = sample(3, requires_grad=False), sample(3, seed=1)
    (plain,), (result,) = function(x, y), torch.compile(function, backend=backend)(x, y)
    x.add_(1)
    plain.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_gradients_use_the_value_an_argument_had(backend):
    def function(x, y):  # plainly, y's sine is kept; recomputed, it needs y as it was
        out = (x * y.sin()).sum()
        y.mul_(2)
        return (out,)

    check(function, lambda: [sample(3), sample(3, seed=1, requires_grad=False)], backend)


OVERWRITTEN = {
    "a result": lambda x, w: (x.exp().add_(1),),
    "an operand": lambda x, w: (y := x * 2, z := y * y, y.add_(1), z)[-1:],
    "a view's base": lambda x, w: (y := x * 2, z := y[0] * y[0], y.add_(1), z)[-1:],
    "through a detached view": lambda x, w: (y := x.exp(), z := y * w, y.detach().zero_(), z)[-1:],
    "the other operand of a write": lambda x, w: (y := x * 2, y.mul_(y), y)[-1:],
    "by a write under no_grad": lambda x, w: (y := x.exp(), overwrite_unrecorded(y), y * w)[-1:],
}


def overwrite_unrecorded(y):
    with no_grad():
        y.add_(1)


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_going_back_through_an_overwritten_value_raises_as_plainly(name, backend):
    def error_of(function):
        (result,) = function(sample(3, 4), sample(3, 4, seed=1, requires_grad=False))
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            result.sum().backward()
        return str(caught.value).partition("which is output")[0]

    assert error_of(compiled(OVERWRITTEN[name], backend)) == error_of(OVERWRITTEN[name])


def test_what_a_function_of_the_users_own_saved_may_not_be_overwritten_either(backend):
    def function(x):
        y = x * 2
        z = Square.apply(y)
        y.add_(1)
        return z

    result = torch.compile(function, backend=backend)(sample(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_other_results_of_such_a_program_can_be_differentiated(backend):
    def function(x, w):
        return x.exp().add_(1), x * w

    x, w = sample(3), sample(3, seed=1, requires_grad=False)
    first, second = compiled(function, backend)(x, w)
    assert first.requires_grad and first.grad_fn is not None
    second.sum().backward(retain_graph=True)
    np.testing.assert_allclose(x.grad.array, w.array)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (first + second).sum().backward()


def test_running_statistics(backend):
    def function(x, mean, var, w, b):
        return (F.batch_norm(x, mean, var, w, b, training=True),)

    def inputs():
        statistics = [sample(3, seed=i, requires_grad=False).abs() for i in (1, 2)]
        return [sample(4, 3, 2, 2), *statistics, sample(3, seed=3), sample(3, seed=4)]

    check(function, inputs, backend)


SHARING = {
    "overlapping rows": lambda x: (x[:3], x[1:]),
    "the same": lambda x: (x, x),
    "a base and its view": lambda x: (x, x.t()),
    "a view and its base": lambda x: (x[0], x),
    "columns": lambda x: (x[:, ::2], x[:, 1]),
    "of a transpose": lambda x: (x.t().contiguous().t()[1:], x),
}
SHARED_PROGRAMS = {
    "write the first": lambda x, y: (x.mul_(2), y + 1, x.sum())[1:],
    "write the second": lambda x, y: (y.exp_(), x * 2)[1:],
    "write both": lambda x, y: (x.add_(1), y.mul_(3), x.add_(1), y.sum(), x.sum())[3:],
    "return them": lambda x, y: (x.add_(1), x, y, y[0])[1:],
    "write a view": lambda x, y: (x[0].add_(1), y.view(-1) if y.is_contiguous() else y)[1:],
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("program", SHARED_PROGRAMS)
@pytest.mark.parametrize("sharing", SHARING)
def test_arguments_that_share_memory(sharing, program, requires_grad, backend):
    function = SHARED_PROGRAMS[program]

    def left_behind(function):
        leaf = sample(4, 5, requires_grad=requires_grad)
        base = leaf * 1
        x, y = SHARING[sharing](base)
        outputs = function(x, y)
        if requires_grad:
            sum((z * (i + 1)).sum() for i, z in enumerate((*outputs, x, y, base))).backward()
        values = [z.detach().numpy().copy() for z in (*outputs, x, y, base, leaf.grad if requires_grad else leaf)]
        same = [z is w for z in (x, y) for w in outputs], [z.storage is base.storage for z in outputs]
        return values, same, base.storage.version, x.requires_grad, y.requires_grad

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values, *rest = left_behind(compiled(function, backend))
    expected_values, *expected = left_behind(function)
    assert rest == expected
    for came, want in zip(values, expected_values, strict=True):
        np.testing.assert_allclose(came, want)


def test_each_way_of_sharing_is_compiled_once(backend):
    made = []

    def counting(graph_module, example_inputs):
        made.append(graph_module)
        return graph_module

    function = aot_function(
        captured(lambda x, y: (x.add_(1), y * 2)[1], 2), [sample(4, 5, requires_grad=False)] * 2, counting
    )
    for rows in (1, 1, 2, 2, 1):
        base = sample(4, 5, requires_grad=False)
        assert function(base[rows:], base[:-rows]).tolist() == (base[:-rows] * 2).tolist()
    assert len(made) == 3  # for separate arguments, and for two ways to overlap


def test_an_argument_and_its_detached_self_run_uncompiled_and_say_so(backend):
    x = sample(3) * 1
    function = compiled(lambda x, y: (x.mul_(2), y * 1)[1], backend)
    with pytest.warns(UserWarning, match="shares memory with another one, and they are no views of one tensor"):
        result = function(x, x.detach())
    assert result.tolist() == x.tolist()


def test_arguments_that_share_memory_and_are_only_read_are_fine(backend):
    base = from_numpy(np.arange(6.0))
    function = compiled(lambda x, y: (x + 1, y * 2), backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(base[:4], base[2:])[1].tolist() == [4.0, 6.0, 8.0, 10.0]


def test_a_write_that_does_not_fit_is_refused_while_compiling(backend):
    with pytest.raises(RuntimeError, match="broadcast shape"):
        compiled(lambda x, y: x.add_(y), backend)(sample(3, requires_grad=False), sample(2, 3, requires_grad=False))


def test_constants_of_the_captured_graph_may_be_overwritten(backend):
    from minitorch_compile.fx import Graph, GraphModule

    graph = Graph()
    x, count = graph.placeholder("x"), graph.get_attr("count")
    graph.call_method("add_", (count, 1))
    graph.output((graph.call_function(ops.mul, (x, count)),))
    module = GraphModule({"count": tensor([0.0])}, graph)
    function = backend(module, [tensor([2.0])])
    assert [function(tensor([2.0]))[0].item() for _ in range(3)] == [2.0, 4.0, 6.0]
    assert module.attributes["count"].item() == 3.0


@pytest.mark.filterwarnings("ignore:decompose:UserWarning")  # prims can't look outside of their input
@pytest.mark.parametrize("offset", [0, 1, None])
def test_as_strided_at_other_offsets_than_it_was_traced_for(offset, backend):
    function = compiled(lambda x: x.as_strided((2,), (1,), offset) * 2, backend)
    whole = from_numpy(np.arange(6.0))
    for x in (whole[:4], whole[2:], whole[1:4], whole[2:]):
        assert function(x).tolist() == (x.as_strided((2,), (1,), offset) * 2).tolist()


def test_a_write_to_data_leaves_the_version_as_it_is(backend):
    def function(x):
        x.data.mul_(2)
        y = x * 1
        y.data[0] = 5
        return y

    x = sample(3, requires_grad=False)
    expected = function(x.clone())
    y = torch.compile(function, backend=backend)(x)
    assert y.tolist() == expected.tolist() and (x._version, y._version) == (0, 0)


WRITES_TO_EXPANDED = {
    "one number everywhere": (lambda x: x.fill_(2.5), (3, 1)),
    "one of the equal rows": (lambda x: x[1].add_(1), (4,)),
    "an item of the first row": (lambda x: x.__setitem__((0, 1), 7), (4,)),
    "a part of some rows": (lambda x: x[1:, 2:].fill_(7), ()),
}


@pytest.mark.parametrize("name", WRITES_TO_EXPANDED)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_an_expanded_argument_shares_memory_with_itself(name, backend):
    write, sizes = WRITES_TO_EXPANDED[name]

    def program(x):
        write(x)
        return torch.cat([x, x]), x + 1

    plain, compiled = torch.ones(sizes), torch.ones(sizes)
    expected = program(plain.expand(3, 4))
    results = torch.compile(program, backend=backend)(compiled.expand(3, 4))
    assert all(map(torch.equal, (*results, compiled), (*expected, plain)))


def test_a_view_of_a_result_that_is_a_view_inside_of_the_graph_can_be_written_to():
    """The graph runs below the tape, but the user's views of what it gives are made above it."""
    x = torch.ones(2, 2, requires_grad=True)
    y = torch.compile(lambda x: (x + 0).t(), backend="aot_eager")(x)
    y.t().add_(torch.ones(2, 2))
    (y * y).sum().backward()
    assert x.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]  # as in PyTorch
