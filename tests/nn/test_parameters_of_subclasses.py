"""Parameters and buffers made of tensors of a program's own class: they keep it, as recorded from PyTorch 2.13."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile import pytree as tree


class Own(torch.Tensor):
    pass


class Scaled(nn.Parameter):
    def __new__(cls, data: Any, requires_grad: bool = True, scale: float = 1.0) -> Any:
        made = super().__new__(cls, data, requires_grad)
        made.scale = scale
        return made


class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, strides=inner.stride())

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree.tree_map(lambda x: x.inner if isinstance(x, cls) else x, (args, kwargs or {}))
        return tree.tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, func(*args, **kwargs))


def own(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float32).as_subclass(Own)


def test_they_keep_their_class() -> None:
    x = own(1, 2)
    p = nn.Parameter(x)
    assert type(p) is Own and isinstance(p, nn.Parameter) and p.requires_grad and p.is_leaf and vars(p)["_is_param"]
    assert not isinstance(x, nn.Parameter) and not issubclass(Own, nn.Parameter)
    assert p.data_ptr() == x.data_ptr() and not nn.Parameter(x, requires_grad=False).requires_grad
    assert repr(p) == "Parameter(Own([1., 2.], requires_grad=True))"
    assert type(nn.Parameter(nn.Parameter(torch.ones(1)))) is nn.Parameter


def test_modules_register_them() -> None:
    module = nn.Linear(2, 1, bias=False)
    module.weight = nn.Parameter(own(1, 1).reshape(1, 2))
    module.register_parameter("other", nn.Parameter(own(1)))
    assert [(name, type(p)) for name, p in module.named_parameters()] == [("weight", Own), ("other", Own)]
    weight, result = module.weight, module(torch.ones(2))
    result.sum().backward()
    torch.optim.SGD(module.parameters(), 0.5).step()
    assert type(result) is Own and weight.tolist() == [[0.5, 0.5]]
    module.double()
    assert type(module.weight) is Own and module.weight.dtype is torch.float64 and isinstance(weight, nn.Parameter)
    module.load_state_dict({"weight": torch.zeros(1, 2), "other": torch.zeros(1)})
    assert type(module.weight) is Own and module.weight.tolist() == [[0.0, 0.0]]
    assert type(module.state_dict()["weight"]) is Own


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_parameters(twin: Any) -> None:
    made = twin(nn.Parameter(own(1, 2)))
    assert type(made) is Own and isinstance(made, nn.Parameter) and made.requires_grad and made.tolist() == [1.0, 2.0]


def test_wrappers() -> None:
    p = nn.Parameter(Wrapped(torch.tensor([1.0, 2.0])))
    assert type(p) is Wrapped and isinstance(p, nn.Parameter) and p.requires_grad and type(p.inner) is torch.Tensor
    (p * 3).sum().backward()
    assert type(p.grad) is Wrapped and p.grad.inner.tolist() == [3.0, 3.0]
    assert p.data_ptr() == 0
    for method in ("numpy", "tolist"):
        with pytest.raises(RuntimeError, match=rf"\.{method}\(\) is not supported for tensor subclasses"):
            getattr(p.detach(), method)()


def test_wrappers_without_what_they_need() -> None:
    make = torch.Tensor._make_wrapper_subclass
    for cls in (Own, torch.Tensor):
        with pytest.raises(TypeError, match=f"{cls.__name__} must define __torch_dispatch__"):
            make(cls, (2,))
    with pytest.raises(ValueError, match="Unknown sizes_strides_policy: foo"):
        make(Wrapped, (2,), dispatch_sizes_strides_policy="foo")
    with pytest.raises(NotImplementedError, match="is not asked for them"):
        make(Wrapped, (2,), dispatch_sizes_strides_policy="sizes")


def test_subclasses_of_parameter() -> None:
    p = Scaled(torch.ones(1), scale=5.0)
    assert type(p) is Scaled and isinstance(p, nn.Parameter) and vars(p) == {"scale": 5.0}
    assert repr(p) == "Parameter containing:\nParameter(Scaled([1.], requires_grad=True))"
    assert type(Scaled(own(1))) is Own
    with pytest.raises(RuntimeError, match="Creating a Parameter from an instance of type Scaled requires that detach"):
        nn.Parameter(p)


def test_a_class_that_loses_itself_is_no_parameter() -> None:
    class Lost(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    with pytest.raises(RuntimeError, match="return type Tensor was found instead"):
        nn.Parameter(Lost([1.0, 2.0]))


def test_buffers() -> None:
    b = nn.Buffer(own(1), persistent=False)
    assert type(b) is Own and isinstance(b, nn.Buffer) and not isinstance(b, nn.Parameter) and not b.persistent
    module = nn.Module()
    module.b = b
    assert [*dict(module.named_buffers())] == ["b"] and not module.state_dict()
    assert isinstance(nn.Buffer(Wrapped(torch.ones(2))), nn.Buffer)


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_compiled_code_takes_them(backend: str) -> None:
    module = nn.Linear(2, 1, bias=False)
    module.weight = nn.Parameter(own(1, 2).reshape(1, 2))
    result = torch.compile(module, backend=backend)(torch.ones(2))
    result.sum().backward()
    assert result.tolist() == [3.0] and module.weight.grad.tolist() == [[1.0, 1.0]]
