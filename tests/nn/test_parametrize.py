"""Weights that are computed: weight norm, spectral norm, parametrizations; and layers fused with a norm."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.nn.utils import parametrizations, parametrize
from minitorch_compile.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

pytestmark = pytest.mark.filterwarnings("ignore:.torch.nn.utils.weight_norm. is deprecated:FutureWarning")

X = torch.tensor(np.random.default_rng(0).normal(size=(4, 3)))


def layer():
    torch.manual_seed(0)
    return nn.Linear(3, 2).double()


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2


class TestWeightNorm:
    @pytest.mark.parametrize("normalise", [nn.utils.weight_norm, parametrizations.weight_norm])
    def test_the_output_stays_and_the_length_is_of_each_row(self, normalise):
        plain, normalised = layer(), normalise(layer())
        close(normalised(X), plain(X))
        length = dict(normalised.named_parameters()).get("weight_g")
        length = normalised.parametrizations.weight.original0 if length is None else length
        np.testing.assert_allclose(
            length.detach().numpy().ravel(), np.linalg.norm(plain.weight.detach().numpy(), axis=1)
        )
        length.data.mul_(2)
        close(normalised(X) - normalised.bias, 2 * (plain(X) - plain.bias))

    def test_both_kinds_have_the_same_gradients(self):
        old, new = nn.utils.weight_norm(layer()), parametrizations.weight_norm(layer())
        for module in (old, new):
            module(X).pow(2).sum().backward()
        close(old.weight_g.grad, new.parametrizations.weight.original0.grad)
        close(old.weight_v.grad, new.parametrizations.weight.original1.grad)

    def test_the_new_kind_loads_what_the_old_one_saved(self):
        old, new = nn.utils.weight_norm(layer()), parametrizations.weight_norm(nn.Linear(3, 2).double())
        new.load_state_dict(old.state_dict())
        close(new(X), old(X))

    def test_removing_and_errors(self):
        module = nn.utils.weight_norm(layer())
        with pytest.raises(RuntimeError, match="two weight_norm hooks on the same parameter weight"):
            nn.utils.weight_norm(module)
        close(nn.utils.remove_weight_norm(module)(X), layer()(X))
        assert isinstance(module.weight, nn.Parameter) and list(module.state_dict()) == ["bias", "weight"]
        with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
            nn.utils.remove_weight_norm(module)

    @pytest.mark.parametrize("normalise", [nn.utils.weight_norm, parametrizations.weight_norm])
    def test_is_one_graph(self, normalise):
        module, counter = normalise(layer()), CompileCounter()
        close(optimize(module, counter)(X), module(X))
        assert counter.frame_count == 1


class TestSpectralNorm:
    @pytest.mark.parametrize("normalise", [nn.utils.spectral_norm, parametrizations.spectral_norm])
    def test_the_largest_singular_value_is_one(self, normalise):
        weight = layer().weight.detach().numpy()
        module = normalise(layer(), n_power_iterations=40)
        module(X)
        expected = weight / np.linalg.svd(weight)[1][0]
        np.testing.assert_allclose(module.eval().weight.detach().numpy(), expected, rtol=1e-6)
        module(X).sum().backward()

    def test_names_of_the_state(self):
        assert list(nn.utils.spectral_norm(layer()).state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
        new = list(parametrizations.spectral_norm(layer()).state_dict())
        assert new[1:] == [f"parametrizations.weight.{name}" for name in ("original", "0._u", "0._v")]
        transposed = nn.utils.spectral_norm(nn.ConvTranspose2d(2, 3, 2))
        assert transposed.weight_u.shape == (3,) and transposed.weight_v.shape == (8,)

    def test_evaluation_leaves_the_vectors_as_they_are(self):
        module = nn.utils.spectral_norm(layer()).eval()
        before = module.weight_u.clone()
        module(X)
        assert (module.weight_u == before).all()
        assert list(nn.utils.remove_spectral_norm(module).state_dict()) == ["bias", "weight"]


class TestParametrize:
    def test_a_computed_weight(self):
        module = nn.Linear(3, 3)
        weight = module.weight
        parametrize.register_parametrization(module, "weight", Symmetric())
        assert type(module).__name__ == "ParametrizedLinear" and isinstance(module, nn.Linear)
        assert (module.weight == module.weight.mT).all()
        assert module.parametrizations.weight.original is weight  # an optimizer that has it goes on training it
        assert parametrize.is_parametrized(module, "weight") and not parametrize.is_parametrized(module, "bias")
        assert list(module.state_dict()) == ["bias", "parametrizations.weight.original"]

    def test_assigning_and_stacking(self):
        module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
        module.weight = torch.tensor([[1.0, 2.0], [9.0, 4.0]])
        assert module.weight.tolist() == [[1, 2], [2, 4]]
        parametrize.register_parametrization(module, "weight", Doubled())
        assert module.weight.tolist() == [[2, 4], [4, 8]]
        with pytest.raises(RuntimeError, match="parametrization Doubled does not implement right_inverse"):
            module.weight = torch.ones(2, 2)

    @pytest.mark.parametrize("leave", [True, False])
    def test_removing(self, leave):
        module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
        expected = module.weight if leave else module.parametrizations.weight.original
        expected = expected.tolist()
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=leave)
        assert type(module) is nn.Linear and isinstance(module.weight, nn.Parameter)
        assert module.weight.tolist() == expected and list(module.state_dict()) == ["bias", "weight"]

    def test_inside_cached_it_is_computed_once(self):
        module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
        with parametrize.cached():
            assert module.weight is module.weight
        assert module.weight is not module.weight

    def test_copies(self):
        module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
        other = copy.deepcopy(module)
        assert (other.weight == module.weight).all()
        assert other.parametrizations.weight.original is not module.parametrizations.weight.original
        with pytest.raises(RuntimeError, match="only supported through state_dict"):
            pickle.dumps(module)

    def test_errors(self):
        class First(nn.Module):
            def forward(self, x):
                return x[:1]

        with pytest.raises(ValueError, match="may not change the shape of the tensor"):
            parametrize.register_parametrization(nn.Linear(2, 2), "weight", First())
        assert parametrize.register_parametrization(nn.Linear(2, 2), "weight", First(), unsafe=True).weight.shape == (
            1,
            2,
        )
        with pytest.raises(ValueError, match="or a parametrized element with name 'w'"):
            parametrize.register_parametrization(nn.Linear(2, 2), "w", First())
        with pytest.raises(ValueError, match="does not have a parametrization on weight"):
            parametrize.remove_parametrizations(nn.Linear(2, 2), "weight")

    def test_compiled_it_does_what_it_does_plainly(self):
        module = parametrize.register_parametrization(nn.Linear(3, 3).double(), "weight", Symmetric())
        compiled = optimize(module, CompileCounter())
        close(compiled(X), module(X))
        assert not region_of(compiled).breaks


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (4, 2)])
def test_orthogonal(kind, sizes):
    module = parametrizations.orthogonal(nn.Linear(*sizes[::-1], bias=False).double(), orthogonal_map=kind)
    original = module.parametrizations.weight.original
    original.data.add_(torch.randn(*sizes).double() / 3)
    weight = module.weight.detach().numpy()
    gram = weight @ weight.T if sizes[0] < sizes[1] else weight.T @ weight
    np.testing.assert_allclose(gram, np.eye(min(sizes)), atol=1e-6)
    rotated = np.linalg.qr(np.random.default_rng(1).normal(size=(max(sizes), min(sizes))))[0]
    module.weight = torch.tensor(rotated.T.copy() if sizes[0] < sizes[1] else rotated)
    np.testing.assert_allclose(module.weight.detach().numpy(), rotated.T if sizes[0] < sizes[1] else rotated, atol=1e-6)


class TestFusion:
    def norm(self, norm, x):
        norm.double()(x * 3 + 1)
        return norm.eval()

    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("transpose", [True, False])
    def test_convolution(self, bias, transpose):
        cls = nn.ConvTranspose2d if transpose else nn.Conv2d
        conv, x = cls(2, 3, 2, bias=bias).double().eval(), torch.randn(2, 2, 4, 4).double()
        norm = self.norm(nn.BatchNorm2d(3), conv(x))
        close(fuse_conv_bn_eval(conv, norm, transpose)(x), norm(conv(x)))

    def test_linear(self):
        linear = layer().eval()
        norm = self.norm(nn.BatchNorm1d(2), linear(X))
        close(fuse_linear_bn_eval(linear, norm)(X), norm(linear(X)))
        with pytest.raises(AssertionError, match="Fusion only for eval"):
            fuse_linear_bn_eval(linear.train(), norm)


def test_skip_init_leaves_the_random_stream_alone():
    torch.manual_seed(0)
    expected = torch.rand(3).tolist()
    torch.manual_seed(0)
    assert nn.utils.skip_init(nn.Linear, 2, 3).weight.shape == (3, 2)
    assert torch.rand(3).tolist() == expected
    with pytest.raises(RuntimeError, match="Expected a Module; got"):
        nn.utils.skip_init(dict)


class Halves(nn.Module):
    def forward(self, x):
        return 2.0 * x

    def right_inverse(self, x):
        return 0.5 * x


class Outer(nn.Module):
    """A matrix of rank one from two vectors."""

    def forward(self, x, y):
        return x.unsqueeze(-1) @ y.unsqueeze(-2)

    def right_inverse(self, matrix):
        return matrix.sum(1), matrix[0]


def test_a_later_parametrization_changes_the_value_though_it_has_an_inverse():
    module = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Outer())
    before = module.weight.clone()
    parametrize.register_parametrization(module, "weight", Halves())
    assert torch.equal(module.weight, 2.0 * before)


def test_an_inverse_that_is_not_there_is_asked_for_at_an_assignment_only():
    class Unknown(Halves):
        def right_inverse(self, x):
            raise NotImplementedError("no")

    module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Unknown())
    with pytest.raises(NotImplementedError):
        module.weight = torch.ones(2, 2)


@pytest.mark.parametrize(
    ("inverse", "first", "later"),
    [
        (lambda x: None, "must return a Tensor or a Sequence", "right_inverse must return a tensor"),
        (lambda x: (x, 2), "element 1 of the sequence with type int", "right_inverse must return a tensor"),
        (lambda x: x.bool(), "may not change the dtype", "must have the same dtype"),
        (lambda x: x[:1], "may not change the shape", "must have the same shape"),
    ],
)
def test_what_an_inverse_gives_is_checked(inverse, first, later):
    class Wrong(nn.Module):
        def forward(self, x):
            return x

        def right_inverse(self, x):
            return inverse(x)

    with pytest.raises(ValueError, match=first):
        parametrize.register_parametrization(nn.Linear(3, 2), "weight", Wrong())
    module = parametrize.register_parametrization(nn.Linear(3, 2), "weight", Halves())
    with pytest.raises(ValueError, match=later):
        parametrize.register_parametrization(module, "weight", Wrong())


def test_an_orthogonal_weight_may_be_assigned_one_of_its_shape():
    module = nn.utils.parametrizations.orthogonal(nn.Linear(3, 4))
    with pytest.raises(ValueError, match="matrices of shape"):
        module.weight = torch.ones(5, 5)
    fixed = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3), use_trivialization=False)
    torch.testing.assert_close(fixed.weight @ fixed.weight.T, torch.eye(3))


@pytest.mark.parametrize("parametrization", [Halves(), Outer()])
def test_parametrizations_move_to_another_module_with_what_they_hold(parametrization):
    source = parametrize.register_parametrization(nn.Linear(3, 3), "weight", parametrization)
    target = parametrize.transfer_parametrizations_and_params(source, nn.Linear(3, 3))
    assert torch.equal(target.weight, source.weight)
    assert [*target.state_dict()] == [*source.state_dict()]
    bare = nn.Linear(3, 3)
    assert parametrize.transfer_parametrizations_and_params(bare, target) is target
