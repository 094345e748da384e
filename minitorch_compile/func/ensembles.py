"""Several models of one architecture as one: their parameters stacked, for vmap over functional_call.

>>> import minitorch_compile as torch
>>> from minitorch_compile import nn
>>> models = [nn.Linear(2, 1) for _ in range(3)]
>>> parameters, buffers = stack_module_state(models)
>>> parameters["weight"].shape
torch.Size([3, 1, 2])
>>> def predict(parameters, buffers, x):
...     return torch.func.functional_call(models[0], (parameters, buffers), (x,))
>>> torch.func.vmap(predict, in_dims=(0, 0, None))(parameters, buffers, torch.ones(5, 2)).shape
torch.Size([3, 5, 1])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.batchnorm import _BatchNorm
from minitorch_compile.tensor import ops

Stacked = dict[str, Any]


def stack_module_state(models: Sequence[Module]) -> tuple[Stacked, Stacked]:
    """(parameters, buffers) of the models, each stacked along a new first dimension; the parameters are new leaves.

    RuntimeError for no models, models of different classes, or both training and evaluating ones.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: expected at least one model, got none")
    if len({type(model) for model in models}) > 1:
        kinds = sorted({type(model).__name__ for model in models})
        raise RuntimeError(f"stack_module_state: the models must be of one class, but they are {', '.join(kinds)}")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: the models must all be training, or all be evaluating")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return {name: _leaf([p[name] for p in parameters]) for name in parameters[0]}, {
        name: ops.stack([b[name] for b in buffers]) for name in buffers[0]
    }


def _leaf(tensors: list[Any]) -> Any:
    needs_gradient = tensors[0].requires_grad
    if any(x.requires_grad != needs_gradient for x in tensors):
        raise RuntimeError("stack_module_state: a parameter must require grad in all of the models or in none")
    return ops.stack([x.detach() for x in tensors]).requires_grad_(needs_gradient)


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Makes all batch norms of a module, `root`, forget their running statistics, so that it changes nothing when it
    is called, as vmap needs it; returns it.

    >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    >>> torch.func.replace_all_batch_norm_modules_(model)[0].running_mean is None
    True
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
