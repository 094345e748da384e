"""Parametrizations: a parameter that is computed from others, each time it is read.

>>> from minitorch_compile import nn, ones
>>> class Positive(nn.Module):
...     def forward(self, x):
...         return x.exp()
>>> layer = register_parametrization(nn.Linear(1, 1, bias=False), "weight", Positive())
>>> bool(layer.weight > 0), list(layer.state_dict())
(True, ['parametrizations.weight.original'])
>>> layer
ParametrizedLinear(
  in_features=1, out_features=1, bias=False
  (parametrizations): ModuleDict(
    (weight): ParametrizationList(
      (0): Positive()
    )
  )
)
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.container import ModuleDict, ModuleList
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, no_grad


class _Cache:
    """While depth > 0, computed tensors are kept by (id of the module, name)."""

    depth = 0
    values: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Inside, each parametrized tensor is computed once: for a network that uses one weight many times."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.values.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after another to `original`.

    A first one that takes several tensors has them as original0, original1, ...; its `right_inverse` gives them.
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach()  # with its sizes, which the inverse may change
        with no_grad():
            values = self._inverse(original)
        _check_originals(values, original)
        self.is_tensor = isinstance(values, Tensor)
        self.ntensors = 1 if self.is_tensor else len(values)
        if self.is_tensor:
            # The original itself goes on being the parameter, so that an optimizer that has it goes on training it.
            if values is not original:
                _set(original, values)
            _register(self, "original", original)
        else:
            for i, value in enumerate(values):
                _register(self, f"original{i}", _like(original, value))
        if not unsafe:
            _check_alike("parametrized", self(), "unparametrized", before)

    def _inverse(self, value: Any) -> Any:
        """The originals that give a value; the value itself where no inverse is defined, or it can't be computed."""
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with contextlib.suppress(NotImplementedError):
                    value = module.right_inverse(value)
        return value

    def _originals(self) -> list[Any]:
        return [getattr(self, name) for name in self._original_names()]

    def _original_names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parametrized tensor becomes `value`. RuntimeError if there is no inverse."""
        for module in self:
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
        with no_grad():
            values: Any = value
            for module in reversed(list(self)):
                values = module.right_inverse(values)
            for original, new in zip(self._originals(), [values] if self.is_tensor else values, strict=True):
                _set(original, new)

    def forward(self) -> Any:
        modules = iter(self)
        value = next(modules)(*self._originals())
        for module in modules:
            value = module(value)
        return value


@no_grad()
def _set(tensor: Any, value: Any) -> None:
    """Gives a tensor other values, of other sizes too."""
    if tensor.shape == value.shape and tensor.dtype is value.dtype:
        tensor.copy_(value)
    else:
        tensor.data = value.detach()


def _like(original: Any, value: Any) -> Any:
    """A parameter, if the original was one."""
    value = value.detach().clone()
    return Parameter(value, original.requires_grad) if isinstance(original, Parameter) else value


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_originals(values: Any, original: Any) -> None:
    """ValueError unless `right_inverse` of a first parametrization gave a tensor of the dtype, or several tensors."""
    if isinstance(values, Tensor):
        if values.dtype != original.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {values.dtype}"
            )
        return
    expected = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...)."
    if not isinstance(values, Sequence):
        raise ValueError(f"{expected} Got {type(values).__name__}")
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise ValueError(f"{expected} Got element {i} of the sequence with type {type(value).__name__}.")


def _check_inverse(parametrization: Module, value: Any) -> None:
    """ValueError unless `right_inverse` of a later parametrization, if it can be computed, gives such a tensor."""
    try:
        inverse = parametrization.right_inverse(value)
    except NotImplementedError:
        return
    if not isinstance(inverse, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}")
    for what in ("dtype", "shape"):
        if getattr(inverse, what) != getattr(value, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as its argument,"
                f" unless the `unsafe` flag is enabled: {getattr(inverse, what)} != {getattr(value, what)}"
            )


def _check_alike(after: str, new: Any, before: str, old: Any) -> None:
    if not isinstance(new, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(new).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(new, what) != getattr(old, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is"
                f" enabled.\n{before} {what}: {getattr(old, what)}\n{after} {what}: {getattr(new, what)}"
            )


# ---------------------------------------------------------------------------------------- on a module


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """From now on `module.<tensor_name>` is `parametrization` of the parameter or buffer that it was. Returns module.

    A second one is applied to the result of the first. If the parametrization has `right_inverse`, the tensor may be
    assigned to. `unsafe`: sizes and dtype may change. ValueError for a name that isn't there.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _add(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _change_class(module)
            module.parametrizations = ModuleDict()
        _add_property(type(module), tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name"
            f" '{tensor_name}'"
        )
    return module


def _add(module: Any, tensor_name: str, parametrization: Module, unsafe: bool) -> None:
    """One more parametrization of a tensor that has some, applied to the value that it has."""
    parametrizations = module.parametrizations[tensor_name]
    if not unsafe:
        before = getattr(module, tensor_name)
        after = parametrization(before)
        _check_alike("parametrized", after, "unparametrized", before)
        if hasattr(parametrization, "right_inverse"):
            _check_inverse(parametrization, after)
    parametrizations.append(parametrization)
    parametrizations.unsafe |= unsafe


def _change_class(module: Any) -> None:
    """Gives the module a class of its own below its class, for the properties that compute its tensors."""

    def refuse_to_pickle(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See the notes on saving"
            " and loading state dicts"
        )

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        twin = memo.get(id(self))
        if twin is None:
            twin = memo[id(self)] = object.__new__(type(self))
            twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    parent = type(module)
    body = {"__getstate__": refuse_to_pickle, "__deepcopy__": deepcopy, "__module__": parent.__module__}
    module.__class__ = type(f"Parametrized{parent.__name__}", (parent,), body)


def _add_property(cls: Any, tensor_name: str) -> None:
    def get(self: Any) -> Any:
        if not _Cache.depth:
            return self.parametrizations[tensor_name]()
        key = (id(self), tensor_name)
        if key not in _Cache.values:
            _Cache.values[key] = self.parametrizations[tensor_name]()
        return _Cache.values[key]

    def set(self: Any, value: Any) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(cls, tensor_name, property(get, set))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of that tensor."""
    parametrizations = module._modules.get("parametrizations")
    if not isinstance(parametrizations, ModuleDict):
        return False
    return tensor_name in parametrizations if tensor_name is not None else len(parametrizations) > 0


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes the tensor a plain parameter or buffer again: with the value it has now, or with that of the original."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        tensor = parametrizations.original
        if leave_parametrized:
            with no_grad():
                _set(tensor, getattr(module, tensor_name))
    elif leave_parametrized:
        tensor = _like(parametrizations.original0, getattr(module, tensor_name))
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a"
            " sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    _register(module, tensor_name, tensor)
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that the module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Registers the parametrizations of one module, or of one of its tensors, on another, and gives it their originals.
    Returns `to_module`, which gets the tensor as well if it has none of the name."""
    if not is_parametrized(from_module):
        return to_module
    source: Any = from_module.parametrizations
    for name in [*source] if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in source[name]:
            register_parametrization(to_module, name, parametrization)
        transferred = to_module.parametrizations[name]
        for original in source[name]._original_names():
            setattr(transferred, original, getattr(source[name], original))
    return to_module
