"""In-place operations and the graph. The expected numbers were checked with PyTorch 2.13."""

import pytest

import minitorch_compile as torch
from minitorch_compile import arange, no_grad, ones, tensor, zeros


def leaf():
    return tensor([1.0, 2.0, 3.0], requires_grad=True)


class TestLeaves:
    def test_a_leaf_that_requires_grad_may_not_be_changed(self):
        with pytest.raises(
            RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"
        ):
            leaf().add_(1)

    def test_nor_through_a_view(self):
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used"):
            leaf()[0].add_(1)

    def test_nor_may_a_view_that_was_made_a_leaf(self):
        part = ones(8)[::2].requires_grad_()
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used"):
            part.add_(1)
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used"):
            ones(2, 2).t().requires_grad_()[0].add_(1)

    def test_nor_may_a_view_whose_base_was_made_a_leaf_after_it(self):
        base = ones(2, 2)
        view = base.t()
        base.requires_grad_()
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used"):
            view.add_(1)

    def test_but_it_may_under_no_grad(self):
        x = leaf()
        with no_grad():
            x.add_(1)
            x[0] = 9
        assert x.tolist() == [9, 3, 4]
        assert x.is_leaf

    def test_a_detached_tensor_shares_memory_and_nothing_else(self):
        x = leaf()
        x.detach().mul_(2)
        assert x.tolist() == [2, 4, 6]
        buffer = ones(3)
        detached = buffer.detach()
        detached.mul_(x)
        assert detached.requires_grad
        assert not buffer.requires_grad


class TestRebasing:
    def test_the_tensor_is_the_result_of_the_operation(self):
        x = leaf()
        y = x * 2
        y.mul_(x).add_(1)
        y.sum().backward()
        assert x.grad.tolist() == [4, 8, 12]

    def test_a_tensor_without_history_gets_one(self):
        x, y = leaf(), zeros(3)
        y.copy_(x * 2)
        assert y.requires_grad
        y.sum().backward()
        assert x.grad.tolist() == [2, 2, 2]

    def test_filling_cuts_the_history(self):
        x, y = leaf(), zeros(3)
        y.copy_(x)
        y.fill_(3.0)
        y.sum().backward()
        assert x.grad.tolist() == [0, 0, 0]

    def test_an_operation_whose_formula_needs_its_result(self):
        x = leaf()
        y = x * 1
        y.exp_()
        y.sum().backward()
        assert x.grad.tolist() == x.exp().tolist()

    def test_an_operation_whose_formula_needs_the_old_value_can_be_differentiated_twice(self):
        from minitorch_compile.autograd import grad

        x = leaf()
        y = x * 1
        y.pow_(3)
        (g,) = grad(y.sum(), x, create_graph=True)
        assert grad(g.sum(), x)[0].tolist() == [6, 12, 18]

    def test_integers_take_no_part(self):
        counts = zeros(3).long()
        counts.copy_(leaf())
        assert counts.tolist() == [1, 2, 3]
        assert not counts.requires_grad

    def test_an_operation_without_a_derivative(self):
        with pytest.raises(NotImplementedError, match="'floor_divide' has no derivative"):
            (leaf() * 1).floor_divide_(2)


class TestVersions:
    def test_a_saved_result_was_overwritten(self):
        x = leaf()
        y = x.exp()
        y.add_(1)
        with pytest.raises(
            RuntimeError,
            match="modified by an inplace operation.*output 0 of ExpBackward0.*is at version 1; expected version 0",
        ):
            y.sum().backward()

    def test_a_saved_input_was_overwritten(self):
        x = leaf()
        y = x * 2
        z = y * y
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()

    def test_even_under_no_grad_and_through_a_view(self):
        x = leaf()
        y = x * 2
        z = y * y
        with no_grad():
            y[0] = 5
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()

    def test_overwriting_what_was_not_saved_is_fine(self):
        x = leaf()
        y = x * 2
        z = y + 1
        y.add_(1)
        (z + y).sum().backward()
        assert x.grad.tolist() == [4, 4, 4]

    def test_a_factor_is_saved_only_for_the_gradient_of_the_other(self):
        x = leaf()
        y = x * 1
        z = y * 2 + y / 4 + y * ones(3) + y**1 * 0
        y.fill_(0)
        with pytest.raises(RuntimeError, match="is output 0 of FillBackward0"):
            z.sum().backward()
        y = x * 1
        z = y * 2 + y / 4 + y * ones(3)
        y.fill_(0)
        z.sum().backward()
        assert x.grad.tolist() == [3.25, 3.25, 3.25]


class TestViews:
    def test_writing_into_part_of_a_tensor_without_history(self):
        x, y = leaf(), zeros(4)
        y[1:] = x * 2
        (y * tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
        assert x.grad.tolist() == [4, 6, 8]

    def test_the_overwritten_part_loses_its_gradient(self):
        x = leaf()
        y = x * 1
        y[0] = 7
        y.sum().backward()
        assert x.grad.tolist() == [0, 1, 1]

    def test_views_made_before_follow_the_base(self):
        x, y = leaf(), zeros(2, 3)
        first = y[0]
        y[1] = x
        again = y[0]
        y.mul_(2)
        ((first * first).sum() + y.sum() + again.sum()).backward()
        assert x.grad.tolist() == [2, 2, 2]
        assert first.requires_grad

    def test_overlapping_views(self):
        x = leaf()
        y = x * 1
        a, b = y[:2], y[1:]
        a.mul_(3)
        b.mul_(x[:2])
        (y * y).sum().backward()
        assert x.grad.tolist() == [90, 72, 24]

    def test_views_of_a_tensor_changed_as_a_whole(self):
        x = leaf()
        y = x * 2
        column, every_second = y.view(3, 1).expand(3, 2), y[::2]
        y.mul_(x)
        (column.sum() + (every_second * every_second).sum()).backward()
        assert x.grad.tolist() == [24, 16, 456]

    def test_a_base_that_is_a_transpose_in_memory(self):
        x = leaf()
        y = arange(9.0).reshape(3, 3).t() * 1
        y[1] = x
        y.t()[0].mul_(2)
        (y * arange(9.0).reshape(3, 3)).sum().backward()
        assert x.grad.tolist() == [6, 4, 5]

    def test_chains_of_views(self):
        x, y = leaf(), zeros(3, 3)
        y.select(0, 1).copy_(x)
        y.view(9)[3:5].sigmoid_()
        (y * arange(9.0).reshape(3, 3)).sum().backward()
        assert [round(g, 4) for g in x.grad.tolist()] == [0.5898, 0.42, 5.0]

    def test_filling_a_buffer_step_by_step(self):
        x, steps = leaf(), zeros(4, 3)
        h = x
        for t in range(4):
            h = h * 2
            steps[t] = h
        steps.sum().backward()
        assert x.grad.tolist() == [30, 30, 30]

    def test_writing_by_index_and_by_mask(self):
        x, y = leaf(), ones(3) * 1
        y[tensor([0, 2])] = x[:2] * 3
        y[tensor([False, True, False])] = x[2]
        (y * tensor([1.0, 10.0, 100.0])).sum().backward()
        assert x.grad.tolist() == [3, 300, 10]


def test_a_view_made_before_its_base_got_a_history_requires_grad():
    w, base = tensor([1.0, 2.0], requires_grad=True), tensor([0.0, 0.0])
    view = base.view(2, 1)
    assert not view.requires_grad and view.is_leaf
    base.copy_(w)
    assert view.requires_grad and not view.is_leaf
    view.sum().backward()
    assert w.grad.tolist() == [1.0, 1.0]


def test_a_window_of_a_plain_tensor_may_be_multiplied_in_place():
    w, base = tensor([3.0], requires_grad=True), tensor([1.0, 2.0])
    base[1:].mul_(w)
    base.sum().backward()
    assert w.grad.tolist() == [2.0]


def test_a_write_to_data_is_no_new_version():
    x, w = tensor([1.0, 2.0], requires_grad=True), tensor([3.0, 4.0], requires_grad=True)
    y = x * 1
    product = y * w
    data = y.data
    data[0].mul_(10)
    assert y.tolist() == [10, 2] and (data._version, y._version) == (1, 0)
    product.sum().backward()  # with the value that y has now, as in PyTorch
    assert w.grad.tolist() == [10, 2]


def test_data_shares_memory_and_so_does_what_it_is_assigned_to():
    x, other = tensor([1.0, 2.0], requires_grad=True), tensor([3.0, 4.0])
    other.add_(1)
    x.data = other.data
    other.mul_(2)
    assert x.tolist() == [8, 10] and x._version == 0 and x.is_leaf and x.requires_grad
    assert x.untyped_storage() == other.untyped_storage() and x.data.is_set_to(other)


def test_a_layer_that_masks_its_weight_may_run_twice_before_backward():
    weight, x = tensor([[1.0, 2.0]], requires_grad=True), tensor([[1.0], [1.0]])
    total = zeros(1, 1)
    for _ in range(2):
        weight.data *= tensor([[1.0, 0.0]])
        total = total + (weight @ x) ** 2
    total.backward()
    assert weight.tolist() == [[1, 0]] and weight.grad.tolist() == [[4, 4]]


class TestAViewMadeBeforeItsBaseBecameALeaf:
    """It requires grad as the base does; operations on it are recorded, but gradients end there, as in PyTorch."""

    @staticmethod
    def made() -> tuple[torch.Tensor, torch.Tensor]:
        base = torch.zeros(2, 3)
        view = base[0]
        return base.requires_grad_(), view

    def test_operations_are_recorded_and_no_gradient_arrives(self):
        base, view = self.made()
        doubled = view * 2
        assert (view.requires_grad, view.is_leaf, doubled.requires_grad, doubled.is_leaf) == (True, True, True, False)
        (doubled.sum() + base.sum()).backward()
        assert view.grad is None and base.grad.tolist() == [[1, 1, 1]] * 2
        view.retain_grad()
        assert torch.autograd.grad((view * 2).sum(), view, allow_unused=True) == (None,)

    def test_the_base_may_stop_again(self):
        base, view = self.made()
        base.requires_grad_(False)
        assert not view.requires_grad and not (view * 2).requires_grad

    @pytest.mark.parametrize("backend", ["eager", "aot_eager"])
    def test_compiled(self, backend):
        def step(view, base):
            (view * 2 + base.sum()).sum().backward()
            return view.requires_grad

        def seen(function):
            results = []
            for own in (True, False):
                base, view = self.made()
                view.requires_grad_(own) if own else None
                results += [function(view, base), view.grad, base.grad]
            return repr(results)

        assert seen(torch.compile(step, backend=backend)) == seen(step)
