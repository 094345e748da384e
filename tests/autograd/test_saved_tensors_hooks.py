"""Hooks on saved tensors, on nodes, and anomaly mode: who looks at the recorded graph from outside."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.autograd import Function, detect_anomaly, grad, graph, set_detect_anomaly


def assert_close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5)


def leaf():
    return torch.tensor([1.0, 2.0], requires_grad=True)


class TestSavedTensors:
    def test_each_saved_tensor_is_packed_once_and_unpacked_when_needed(self):
        log = []

        def pack(x):
            log.append("pack")
            return x.clone()

        def unpack(x):
            log.append("unpack")
            return x

        x = leaf()
        with graph.saved_tensors_hooks(pack, unpack):
            y = (x * x).exp()
        assert log == ["pack", "pack", "pack"]  # both factors of x * x are the same tensor, kept twice
        y.sum().backward()
        assert log[3:] == ["unpack", "unpack", "unpack"]
        assert_close(x.grad, (2 * x * (x * x).exp()).detach())

    def test_in_the_order_of_their_names_and_with_their_history(self):
        """As PyTorch 2.13 calls the hooks: `other` comes before `self`, and what the tensors were made by is seen."""
        log = []

        def noted(x):
            log.append((x.tolist(), None if x.grad_fn is None else type(x.grad_fn).__name__, torch.is_grad_enabled()))
            return x

        x = leaf()
        doubled = x * 2
        with graph.saved_tensors_hooks(noted, noted):
            y = x * doubled
            z = y.sqrt()
        assert type(z.grad_fn).__name__ == "SqrtBackward0"
        inputs = [([2.0, 4.0], "MulBackward0", False), ([1.0, 2.0], None, False)]
        result = [(z.tolist(), "SqrtBackward0", False)]
        assert log == inputs + result
        log.clear()
        z.sum().backward()
        assert log == result + inputs

    def test_a_pack_hook_may_not_write(self):
        x = leaf() * 1
        with graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t), pytest.raises(RuntimeError, match="in place"):
            x.exp()

    def test_a_second_derivative_finds_its_way_through_them(self):
        x = leaf()
        with graph.saved_tensors_hooks(lambda t: [t.clone()], lambda packed: packed[0]):
            y = (x.exp() * x).sum()
        (first,) = grad(y, x, create_graph=True)
        (second,) = grad(first.sum(), x)
        assert_close(second, ((x + 2) * x.exp()).detach())

    def test_what_was_packed_may_be_overwritten(self):
        x = leaf()
        with graph.save_on_cpu():
            y = x * 1
            z = y.exp()
        z.detach().zero_()
        z.sum().backward()
        assert_close(x.grad, x.detach().exp())

    def test_a_function_s_saved_tensors_too(self):
        class Cube(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x**3

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 3 * x * x * g

        x = leaf()
        with graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t / 10):
            y = Cube.apply(x)
        y.sum().backward()
        assert_close(x.grad, (3 * x * x).detach())

    def test_of_nested_hooks_the_innermost_pack(self):
        x = leaf()
        with graph.saved_tensors_hooks(lambda t: t * 0, lambda t: t):
            with graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t / 10):
                y = x.exp()
        y.sum().backward()
        assert_close(x.grad, x.exp())

    def test_the_graph_is_freed_as_ever(self):
        x = leaf()
        with graph.save_on_cpu():
            y = x.exp().sum()
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()

    def test_unpack_must_give_a_tensor(self):
        x = leaf()
        with graph.saved_tensors_hooks(lambda t: t, lambda packed: 3):
            y = x.exp().sum()
        with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
            y.backward()

    def test_they_can_be_forbidden(self):
        with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
            with graph.save_on_cpu():
                pass


class TestNodeHooks:
    def test_before_and_after_a_node(self):
        x = leaf()
        y = x * 3
        y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
        seen = []
        handle = y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0], outputs[0])))
        y.sum().backward()
        assert x.grad.tolist() == [30.0, 30.0]
        assert [g.tolist() for g in seen[0]] == [[30.0, 30.0], [10.0, 10.0]]
        handle.remove()
        (x * 3).sum().backward()
        assert len(seen) == 1

    def test_a_hook_may_replace_what_the_node_gives(self):
        x = leaf()
        y = x * 3
        y.grad_fn.register_hook(lambda inputs, outputs: tuple(None if g is None else g * 0 for g in inputs))
        y.sum().backward()
        assert x.grad.tolist() == [0.0, 0.0]

    @pytest.mark.parametrize(("mode", "calls"), [("all", 1), ("any", 1)])
    def test_several_gradients_together(self, mode, calls):
        x, y = leaf(), leaf()
        seen = []
        graph.register_multi_grad_hook([x, y], seen.append, mode=mode)
        (x * y).sum().backward()
        assert len(seen) == calls


class TestAnomalyMode:
    def nan_in_backward(self):
        x = torch.zeros(1, requires_grad=True)
        y = torch.sqrt(x) * 0  # the line to blame
        y.sum().backward()

    def test_it_names_the_line_that_gave_nan(self):
        with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
            manager = detect_anomaly()
        with manager, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th output"):
                self.nan_in_backward()
        assert "the line to blame" in str(said[-1].message)
        assert "Error detected in SqrtBackward0" in str(said[-1].message)
        self.nan_in_backward()  # it is off again

    def test_errors_of_a_backward_are_traced_back(self):
        x = leaf()
        with set_detect_anomaly(True, check_nan=False), pytest.warns(UserWarning, match="y = x.exp"):
            y = x.exp()
            y.add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.sum().backward()

    def test_without_a_forward_in_the_mode_there_is_no_line(self):
        x = torch.zeros(1, requires_grad=True)
        y = (torch.sqrt(x) * 0).sum()
        with set_detect_anomaly(True), pytest.warns(UserWarning, match="No forward pass information"):
            with pytest.raises(RuntimeError, match="nan"):
                y.backward()

    def test_nan_is_looked_for_only_if_asked(self):
        with set_detect_anomaly(True, check_nan=False):
            self.nan_in_backward()


class TestBackwardsArguments:
    def test_inputs_that_are_not_leaves_get_gradients(self):
        x = leaf()
        y = x * 2
        (y * 3).sum().backward(inputs=[y])
        assert y.grad.tolist() == [3.0, 3.0]
        assert x.grad is None

    def test_a_gradient_of_another_dtype_is_converted(self):
        x = leaf()
        (x * 2).backward(torch.ones(2, dtype=torch.float64))
        assert x.grad.dtype is torch.float32

    def test_batched_gradients_are_those_of_each_row(self):
        x, rows = leaf(), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        batched = grad(x * x, x, rows, is_grads_batched=True)[0]
        assert torch.equal(batched, torch.stack([grad(x * x, x, row)[0] for row in rows]))

    def test_materialize_grads_and_allow_unused_disagree(self):
        x, y = leaf(), leaf()
        assert grad(x.sum(), [x, y], materialize_grads=True)[1].tolist() == [0.0, 0.0]
        with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed"):
            grad(x.sum(), [x, y], allow_unused=False, materialize_grads=True)

    def test_a_function_s_gradient_is_converted_and_summed_to_its_argument(self):
        class Sum(Function):
            @staticmethod
            def forward(ctx, x):
                return x.sum()

            @staticmethod
            def backward(ctx, g):
                return g.expand(3, 2).double()

        x = leaf()
        Sum.apply(x).backward()
        assert x.grad.tolist() == [3.0, 3.0]
        assert x.grad.dtype is torch.float32
