"""functorch's first way to make functions of modules; `torch.func.functional_call` is the newer one.

>>> import minitorch_compile as torch
>>> func, params, buffers = make_functional_with_buffers(torch.nn.Linear(2, 1))
>>> func([torch.ones_like(p) for p in params], buffers, torch.ones(1, 2))
tensor([[3.]])
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from minitorch_compile.func import functional_call, stack_module_state
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter

Params = tuple[Parameter, ...]


class FunctionalModuleWithBuffers(Module):
    """A module as a function of its parameters, its buffers, and what it is called with."""

    def __init__(self, stateless_model: Module) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = tuple(name for name, _ in stateless_model.named_parameters())
        self.buffer_names = tuple(name for name, _ in stateless_model.named_buffers())

    def forward(self, params: Sequence[Any], buffers: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        state = dict(zip((*self.param_names, *self.buffer_names), (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """The same for a module without buffers."""

    def forward(self, params: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        return super().forward(params, (), *args, **kwargs)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Params, tuple[Any, ...]]:
    """(a function of parameters, buffers and inputs, the parameters, the buffers), all of a copy of the model.

    `disable_autograd_tracking`: the parameters don't require grad.
    """
    own = copy.deepcopy(model)
    return FunctionalModuleWithBuffers(own), _parameters(own, disable_autograd_tracking), tuple(own.buffers())


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, Params]:
    """(a function of parameters and inputs, the parameters). RuntimeError for a model with buffers."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    own = copy.deepcopy(model)
    return FunctionalModule(own), _parameters(own, disable_autograd_tracking)


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    """The function of one of several models of one class, and their parameters and buffers, stacked."""
    params, buffers = stack_module_state(list(models))
    return make_functional_with_buffers(models[0])[0], tuple(params.values()), tuple(buffers.values())


def _parameters(model: Module, without_grad: bool) -> Params:
    parameters = tuple(model.parameters())
    for p in parameters if without_grad else ():
        p.requires_grad_(False)
    return parameters
