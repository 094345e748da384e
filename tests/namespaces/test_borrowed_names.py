"""Names of PyTorch's own workings that libraries borrow; answers recorded from torch 2.13."""

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.as_torch import installed
from minitorch_compile.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_state_dict,
)
from minitorch_compile.fx.experimental import symbolic_shapes
from minitorch_compile.symbolic import ShapeEnv
from minitorch_compile.utils.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
    offload_wrapper,
)


@pytest.mark.parametrize(
    "line",
    [
        "from torch._utils import _flatten_dense_tensors, _rebuild_parameter, ExceptionWrapper",
        "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper",
        "from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict",
        "from torch.fx.experimental.proxy_tensor import get_proxy_mode",
        "from torch.fx.experimental.symbolic_shapes import free_symbols, guard_or_false, statically_known_true",
        "from torch.optim.optimizer import _default_to_fused_or_foreach, _use_grad_for_differentiable",
        "from torch._dynamo.exc import TorchRuntimeError, TensorifyScalarRestartAnalysis",
        "from torch import SymInt, SymFloat, SymBool, sym_max, sym_min, Stream, Event, mtia, jagged",
        "import torch; torch.sparse.FloatTensor, torch._C._LinAlgError, torch.backends.opt_einsum.enabled",
    ],
)
def test_they_are_where_libraries_look(line):
    with installed():
        exec(line, {})


def test_whether_a_transform_or_a_tracer_is_at_work():
    from minitorch_compile.aot.make_fx import get_proxy_mode, make_fx

    seen = []

    def look(x):
        seen.append((torch._C._are_functorch_transforms_active(), get_proxy_mode() is not None))
        return x * 2

    look(torch.ones(2)), torch.vmap(look)(torch.ones(2)), make_fx(look)(torch.ones(2))
    assert seen == [(False, False), (True, False), (False, True)]


def test_tensors_in_one_and_apart_again():
    given = [torch.arange(4).view(2, 2), torch.arange(3)]
    flat = torch._utils._flatten_dense_tensors(given)
    assert flat.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert all(map(torch.equal, torch._utils._unflatten_dense_tensors(flat, given), given))
    made = torch._utils._rebuild_tensor_v2(torch.arange(6.0).storage(), 1, (2, 2), (2, 1), True, {})
    assert made.tolist() == [[1, 2], [3, 4]] and made.requires_grad


def test_an_exception_of_another_thread_is_raised_here():
    try:
        raise KeyError("no")
    except KeyError:
        wrapped = torch._utils.ExceptionWrapper(where="in worker 1")
    with pytest.raises(KeyError, match="Caught KeyError in worker 1"):
        wrapped.reraise()


def test_helpers_of_optimizers():
    names = torch.optim.optimizer
    params = [torch.ones(2), torch.ones(2, dtype=torch.float64), torch.zeros(1)]
    assert names._default_to_fused_or_foreach(params, False, use_fused=True) == (True, False)
    assert names._default_to_fused_or_foreach(params, True) == (False, False)
    groups = torch.optim.Optimizer._group_tensors_by_device_and_dtype([params, [1, 2, 3]])
    assert [(lists[1], places) for lists, places in groups.values()] == [([1, 3], [0, 2]), ([2], [1])]
    assert names._get_value(torch.tensor(2.0)) == 2 and names._get_scalar_dtype() is torch.float32

    class Halving(torch.optim.Optimizer):
        @names._use_grad_for_differentiable
        def step(self):
            assert not torch.is_grad_enabled()
            for p in self.param_groups[0]["params"]:
                p.mul_(0.5)

    weight = nn.Parameter(torch.ones(1))
    Halving([weight], {"differentiable": False}).step()
    assert weight.item() == 0.5


def test_numbers_that_may_be_sizes():
    assert (torch.sym_int(2.9), torch.sym_max(1, 2.0), torch.sym_min(1, 2), torch.sym_not(1)) == (2, 2.0, 1, False)
    env = ShapeEnv()
    n = env.create(8)
    assert isinstance(n, torch.SymInt) and torch.sym_int(n) is n
    assert symbolic_shapes.has_free_symbols(n + 1) and not symbolic_shapes.has_free_unbacked_symbols(n)
    assert symbolic_shapes.sym_eq((1, 2), [1, 2]) and not symbolic_shapes.sym_or(False, False)
    assert symbolic_shapes.guard_int(n) == 8


def test_old_names():
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]
    x = torch.tensor([[1.0, 2.0, 0.5]], requires_grad=True)
    output, grad = x.softmax(-1), torch.tensor([[1.0, 0.0, 2.0]])
    output.backward(grad)
    torch.testing.assert_close(torch._softmax_backward_data(grad, output.detach(), -1, torch.float32), x.grad)
    with pytest.raises(RuntimeError, match="removed"):
        torch.solve(torch.ones(2, 1), torch.eye(2))


def test_old_names_of_conversions():
    names = {"Byte": "uint8", "Char": "int8", "Double": "float64", "Float": "float32", "Half": "float16"}
    for name, wanted in {**names, "Int": "int32", "Long": "int64", "Short": "int16"}.items():
        cast = getattr(torch, f"_cast_{name}")
        assert cast(torch.tensor([1.5]), non_blocking=True).dtype == getattr(torch, wanted) == cast(torch.eye(2)).dtype
    x = torch.ones(2, requires_grad=True)
    assert torch._cast_Float(x) is x
    torch.compile(lambda x: torch._cast_Double(x) * 2, backend="eager", fullgraph=True)(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch._cast_Long(3)


def test_old_names_are_traced():
    def program(x):
        output = torch.softmax(x, -1)
        return torch._shape_as_tensor(x), torch._softmax_backward_data(x, output, -1, torch.float32)

    x = torch.tensor([[1.0, 2.0, 0.5]])
    assert all(map(torch.equal, torch.compile(program, backend="eager")(x), program(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.rest = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.ReLU())

    def forward(self, x, *, scale=1.0):
        return self.rest(self.first(x)) * scale


@pytest.mark.parametrize("kind", [Block, nn.Linear, nn.Module])
def test_wrapped_layers_have_the_names_and_gradients_of_plain_ones(kind):
    model = nn.Sequential(Block(), Block())
    x, names = torch.ones(1, 2), list(model.state_dict())
    model(x).sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    apply_activation_checkpointing(model, check_fn=lambda layer: isinstance(layer, kind))
    assert sorted(model.state_dict()) == sorted(names) and "CheckpointWrapper" in repr(model)
    model.load_state_dict(model.state_dict())
    model(x).sum().backward()
    assert all(map(torch.equal, expected, [parameter.grad for parameter in model.parameters()]))


def test_wrapped_layers_take_keywords_and_give_attributes():
    x, block = torch.ones(1, 2, requires_grad=True), Block()
    for wrapped in (
        checkpoint_wrapper(block, CheckpointImpl.REENTRANT),
        checkpoint_wrapper(block),
        offload_wrapper(block),
    ):
        assert torch.equal(wrapped(x, scale=2.0), block(x, scale=2.0)) and wrapped.first is block.first


def test_a_policy_chooses_layers():
    model, asked = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), []

    def policy(module, recurse, nonwrapped_numel):
        asked.append((type(module).__name__, recurse, nonwrapped_numel))
        return recurse or nonwrapped_numel > 5

    apply_activation_checkpointing(model, auto_wrap_policy=policy)
    assert [type(layer).__name__ for layer in model] == ["CheckpointWrapper", "ReLU"]
    assert asked == [("Linear", True, 6), ("Linear", False, 6), ("ReLU", True, 0), ("ReLU", False, 0)]


def test_state_dicts_by_the_names_of_parameters():
    def make():
        model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        model[0].bias.requires_grad_(False)
        groups = [{"params": [model[0].weight]}, {"params": list(model[1].parameters()), "lr": 0.5}]
        return model, torch.optim.Adam(groups, lr=0.1)

    model, adam = make()
    model(torch.ones(3, 2)).sum().backward(), adam.step()
    of_model, of_adam = get_state_dict(model, adam)
    assert [group["params"] for group in of_adam["param_groups"]] == [["0.weight"], ["1.weight", "1.bias"]]
    assert sorted(of_adam["state"]["1.bias"]) == ["exp_avg", "exp_avg_sq", "step"]
    assert "0.bias" not in get_model_state_dict(model, options=StateDictOptions(ignore_frozen_params=True))
    assert list(get_model_state_dict(torch.compile(model, backend="eager"))) == list(of_model)
    other, others = make()
    set_state_dict(other, others, model_state_dict=of_model, optim_state_dict=of_adam)
    assert all(map(torch.equal, model.state_dict().values(), other.state_dict().values()))
    torch.testing.assert_close(others.state[other[1].bias]["exp_avg"], adam.state[model[1].bias]["exp_avg"])
    with pytest.raises(NotImplementedError, match="submodules="):
        get_model_state_dict(model, submodules={model[0]})


def test_what_only_aten_names_is_called_by_that_name():
    aten, x = torch.ops.aten, torch.ones(2, 2)
    assert aten.alias.default(x).data_ptr() == x.data_ptr() and aten._unsafe_view.default(x, [4]).shape == (4,)
    assert aten._is_all_true(x == 1).item() and aten._local_scalar_dense.default(x[0, 0]) == 1
    assert torch.equal(aten._sparse_addmm.default(x, x.to_sparse(), x, beta=2), x * 4)
    assert aten.detach_.default(torch.ones(1, requires_grad=True) * 2).grad_fn is None
    with pytest.raises(NotImplementedError, match="scatter_reduce"):
        aten._sparse_mm_reduce_impl.default(x, x, "max")
    assert repr(torch.TensorType.get()) == "Tensor"
