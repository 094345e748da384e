"""The engine: order, accumulation, what is freed, and what it says when something is wrong."""

from __future__ import annotations

import gc
import weakref

import pytest

from minitorch_compile import float64, nn, no_grad, ones, randn, tensor, zeros
from minitorch_compile.autograd import backward, grad
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.dispatch.op_families import KernelOp


def leaf(*values):
    return tensor(list(values), requires_grad=True)


def test_gradients_add_up_where_paths_meet():
    x = leaf(3.0)
    y = x * x
    (y + y * x).backward()
    assert x.grad.tolist() == [2 * 3 + 3 * 9]


def test_gradients_add_up_over_backward_calls():
    x = leaf(1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 5]
    assert x.grad is first, "accumulation is in place, as in PyTorch"


def test_a_chain_of_fifty_thousand_operations():
    x = leaf(1.0)
    y = x
    for _ in range(50_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]
    del y  # freeing it must not recurse either


def test_an_unused_branch_gets_no_gradient():
    x, y = leaf(1.0), leaf(1.0)
    _ = y * 2
    x.sum().backward()
    assert y.grad is None


def test_the_root_may_be_a_leaf():
    x = leaf(2.0)
    x.backward()
    assert x.grad.tolist() == [1]


def test_several_roots():
    x = leaf(1.0, 2.0)
    backward([x.sum(), (x * x)], [None, tensor([1.0, 10.0])])
    assert x.grad.tolist() == [1 + 2, 1 + 40]


def test_backward_only_into_chosen_inputs():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [2]
    assert y.grad is None


def test_one_gradient_for_two_leaves_is_not_shared_memory():
    x, y = leaf(1.0), leaf(1.0)
    (x + y).sum().backward()
    x.grad.zero_()
    assert y.grad.tolist() == [1]


def test_the_gradient_given_by_the_caller_is_not_aliased():
    x, given = leaf(1.0), tensor([5.0])
    (x + 0).backward(given)
    x.grad.zero_()
    assert given.tolist() == [5]


def test_the_gradient_lies_in_memory_as_the_leaf_does():
    x = randn(3, 4).t().requires_grad_()
    (x * randn(4, 3)).sum().backward()
    assert x.grad.stride() == x.stride()
    layer = nn.Linear(3, 5)
    layer(randn(2, 3)).sum().backward()
    assert layer.weight.grad.is_contiguous()


class TestGrad:
    def test_leaves_grad_untouched(self):
        x = leaf(3.0)
        (g,) = grad((x * x).sum(), x)
        assert g.tolist() == [6]
        assert x.grad is None

    def test_of_an_intermediate_value(self):
        x = leaf(3.0)
        y = x * x
        gx, gy = grad((y * y).sum(), [x, y])
        assert (gx.tolist(), gy.tolist()) == ([108], [18])

    def test_of_an_output_itself(self):
        x = leaf(3.0)
        y = x * 2
        assert grad(y, y, tensor([7.0]))[0].tolist() == [7]

    def test_asked_twice_for_the_same_input(self):
        x = leaf(3.0)
        assert [g.tolist() for g in grad(x * 2, [x, x])] == [[2], [2]]

    def test_the_second_derivative(self):
        x = leaf(2.0)
        (g,) = grad(x**3, x, create_graph=True)
        (gg,) = grad(g, x)
        assert gg.tolist() == [12]

    def test_a_saved_output_takes_part_in_the_second_derivative(self):
        x = leaf(0.5)
        (g,) = grad(x.exp(), x, create_graph=True)
        assert grad(g, x)[0].item() == pytest.approx(1.6487213)

    def test_only_what_leads_to_the_inputs_is_computed(self):
        x, y = leaf(1.0), leaf(1.0)
        z = x * 2 + y.exp()
        called = []
        y.register_hook(called.append)
        grad(z, x)
        assert not called

    def test_an_input_that_is_not_used(self):
        x, y = leaf(1.0), leaf(1.0)
        with pytest.raises(RuntimeError, match="index 1 appears to not have been used in the graph"):
            grad(x * 2, [x, y])
        assert grad(x * 2, [x, y], allow_unused=True)[1] is None
        assert grad(x * 2, [x, y], materialize_grads=True)[1].tolist() == [0]

    def test_an_input_that_does_not_require_grad(self):
        with pytest.raises(RuntimeError, match="does not require grad"):
            grad(leaf(1.0) * 2, ones(1))


class TestFreeing:
    def test_a_second_backward_needs_retain_graph(self):
        x = leaf(1.0)
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            y.backward()
        assert x.grad.tolist() == [4]

    def test_a_graph_that_saved_nothing_can_be_walked_again(self):
        x = leaf(1.0)
        y = (x + 1).sum()
        y.backward()
        y.backward()
        assert x.grad.tolist() == [2]

    def test_results_die_without_the_garbage_collector(self):
        gc.disable()
        try:
            x = leaf(1.0)
            y = x.exp()  # exp keeps its result
            died = weakref.ref(y.storage)
            z = y.sum()
            z.backward()
            del y, z
            assert died() is None
        finally:
            gc.enable()

    def test_leaves_die_without_the_garbage_collector(self):
        gc.disable()
        try:
            x = leaf(1.0)
            (x * 2).sum().backward()
            died = weakref.ref(x)
            del x
            assert died() is None
        finally:
            gc.enable()

    def test_addition_does_not_keep_its_inputs(self):
        x = leaf(1.0)
        y = x * 2
        died = weakref.ref(y.storage)
        z = y + 1
        del y
        assert died() is None
        z.backward()


class TestErrors:
    def test_nothing_to_differentiate(self):
        with pytest.raises(
            RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"
        ):
            ones(1).backward()

    def test_only_scalars_have_an_implicit_gradient(self):
        with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
            leaf(1.0, 2.0).backward()

    def test_a_loss_gets_a_one_of_its_own_in_each_walk(self):
        seen = []
        loss = leaf(2.0, 3.0).sum().double()
        loss.register_hook(lambda grad: seen.append((grad.item(), grad.dtype, grad.sizes)) or grad.mul_(3))
        loss.backward(retain_graph=True)
        loss.backward()
        assert seen == [(1.0, float64, ())] * 2

    def test_a_gradient_of_the_wrong_shape(self):
        with pytest.raises(RuntimeError, match="Mismatch in shape"):
            leaf(1.0, 2.0).backward(ones(3))

    def test_inputs_may_not_be_empty(self):
        with pytest.raises(RuntimeError, match="cannot be empty"):
            leaf(1.0).backward(inputs=[])

    def test_something_that_is_not_a_tensor(self):
        with pytest.raises(TypeError, match="expected Tensors, got float"):
            backward([1.0])


class TestModes:
    def test_nothing_is_recorded_under_no_grad(self):
        with no_grad():
            assert not (leaf(1.0) * 2).requires_grad

    def test_the_backward_pass_is_not_recorded(self):
        x = leaf(2.0)
        (x * x).backward()
        assert not x.grad.requires_grad

    def test_unless_the_gradients_are_to_be_differentiated(self):
        x = leaf(2.0)
        (x * x).backward(create_graph=True)
        assert x.grad.requires_grad

    def test_the_backward_pass_is_made_of_dispatched_ops(self):
        class Names:
            def __init__(self):
                self.seen = []

            def process(self, op, args, kwargs):
                self.seen.append(op.name)
                return op(*args, **kwargs)

        x = leaf(2.0)
        y, upper = x.exp() * 3, ones(1)
        with dispatch.mode(Names()) as names:
            grad(y, x, upper)
        assert names.seen == ["mul", "mul"]

    def test_each_op_is_seen_once_by_a_mode_below_the_tape(self):
        class Twice:
            def process(self, op, args, kwargs):
                return op(*args, **kwargs)

        x = leaf(2.0)
        with dispatch.mode(Twice()):
            y = x * 3
        assert y.grad_fn.next_functions[0][0].variable is x


def test_integer_results_do_not_require_grad():
    x = leaf(1.0, 2.0)
    assert not x.argmax().requires_grad
    assert not x.long().requires_grad
    values, indices = F.max_pool2d(ones(1, 1, 2, 2, requires_grad=True), 2, return_indices=True)
    assert values.requires_grad
    assert not indices.requires_grad


def test_comparisons_do_not_require_grad():
    assert not (leaf(1.0) > 0).requires_grad


def test_mixed_dtypes_give_each_input_a_gradient_of_its_own_dtype():
    x, y = leaf(1.0), tensor([2.0], requires_grad=True).double().detach().requires_grad_()
    (x * y).sum().backward()
    assert x.grad.dtype is x.dtype
    assert y.grad.dtype is y.dtype


def test_an_op_without_a_derivative_says_so_when_walked_back_through():
    def twice(input: Array) -> Array:
        return input * 2

    op = KernelOp(twice, kind="pointwise", namespaces=[])
    op.shape_rule(lambda input: input)
    x = leaf(1.0)
    y = op(x)
    assert y.tolist() == [2]
    with pytest.raises(NotImplementedError, match="derivative for 'twice' is not implemented"):
        y.backward()


def test_zero_sized_tensors_have_gradients_too():
    x = zeros(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.shape == (0, 3)


class TestAssigningGrad:
    def test_it_must_look_like_the_tensor(self):
        x = leaf(1.0, 2.0)
        x.grad = ones(2)
        with pytest.raises(RuntimeError, match=r"gradient of size '\[3\]' to a tensor of size '\[2\]'"):
            x.grad = ones(3)
        with pytest.raises(RuntimeError, match="dtype torch.float64 to a tensor of dtype torch.float32"):
            x.grad = ones(2).double()
        with pytest.raises(TypeError, match="expected to be a Tensor or None but got grad of type int"):
            x.grad = 3
        with pytest.raises(RuntimeError, match="its own grad"):
            x.grad = x
        assert x.grad.tolist() == [1, 1]

    def test_deleting_it(self):
        x = leaf(1.0)
        x.grad = ones(1)
        del x.grad
        assert x.grad is None


def test_the_class_of_a_node_has_pytorchs_name():
    x = leaf(1.0, 2.0)
    y = (x * x)[0]
    assert type(y.grad_fn).__name__ == "SelectBackward0"
    assert type(y.grad_fn.next_functions[0][0]).__name__ == y.grad_fn.next_functions[0][0].name() == "MulBackward0"


class TestLeafRules:
    def test_only_a_leaf_can_be_told_not_to_require_grad(self):
        x = leaf(1.0)
        y = x * 2
        with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
            y.requires_grad = False
        with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
            y.requires_grad_(False)
        y.requires_grad = True
        x.requires_grad = False
        assert not (x * 2).requires_grad

    def test_integers_have_no_gradient(self):
        x = tensor([1, 2])
        with pytest.raises(RuntimeError, match="only Tensors of floating point and complex dtype"):
            x.requires_grad = True
        with pytest.raises(RuntimeError, match="floating point"):
            tensor([1, 2], requires_grad=True)
        x.requires_grad = False

    def test_detaching_in_place_makes_a_leaf(self):
        y = leaf(1.0) * 2
        y.detach_()
        assert y.is_leaf
        assert not y.requires_grad
