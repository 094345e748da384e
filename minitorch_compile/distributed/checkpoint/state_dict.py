"""torch.distributed.checkpoint.state_dict: what a model and its optimizers have to keep, by the names of parameters.

>>> from minitorch_compile import nn, optim
>>> model = nn.Linear(2, 1)
>>> adam = optim.Adam(model.parameters(), lr=0.1)
>>> state = get_optimizer_state_dict(model, adam)
>>> state["param_groups"][0]["params"]
['weight', 'bias']
>>> set_optimizer_state_dict(model, adam, state)

In one process these are the model's own state dict, and the optimizer's with names instead of numbers. Names are those
of the plain model, whatever it is wrapped in: `_orig_mod.`, `module.` and `_checkpoint_wrapped_module.` are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from minitorch_compile.tensor import Tensor

WRAPPERS = ("_orig_mod.", "_checkpoint_wrapped_module.", "module.")


@dataclass
class StateDictOptions:
    """full_state_dict, cpu_offload, broadcast_from_rank0: as things are in one process on the CPU.
    ignore_frozen_params: leave out parameters that need no gradient. strict: of load_state_dict.
    keep_submodule_prefixes: must be True."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _plain(name: str) -> str:
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "") if wrapper != "module." else name.removeprefix(wrapper)
    return name


def _checked(options: StateDictOptions | None, submodules: Any) -> StateDictOptions:
    options = options or StateDictOptions()
    if submodules is not None or not options.keep_submodule_prefixes or options.flatten_optimizer_state_dict:
        raise NotImplementedError(
            "distributed.checkpoint.state_dict: submodules=, keep_submodule_prefixes=False and"
            " flatten_optimizer_state_dict=True aren't implemented; take what you need from the whole state dict"
        )
    return options


def _copied(value: Any, options: StateDictOptions) -> Any:
    return value.detach().clone() if options.cpu_offload and isinstance(value, Tensor) else value


def get_model_state_dict(
    model: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The model's state dict, by plain names."""
    options = _checked(options, submodules)
    frozen = {id(p) for p in model.parameters() if not p.requires_grad} if options.ignore_frozen_params else set()
    kept = {name: value for name, value in model.state_dict(keep_vars=True).items() if id(value) not in frozen}
    return {
        _plain(name): _copied(value.detach() if isinstance(value, Tensor) else value, options)
        for name, value in kept.items()
    }


def set_model_state_dict(
    model: Any, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Loads it; what load_state_dict gives."""
    options = _checked(options, None)
    names = {_plain(name): name for name in model.state_dict()}
    return model.load_state_dict(
        {names.get(name, name): value for name, value in model_state_dict.items()}, strict=options.strict
    )


def _optimizers(optimizers: Any) -> list[Any]:
    return list(optimizers) if isinstance(optimizers, Iterable) else [optimizers]


def _names(model: Any) -> dict[int, str]:
    return {id(parameter): _plain(name) for name, parameter in model.named_parameters()}


def get_optimizer_state_dict(
    model: Any, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """{"state": {name: ...}, "param_groups": [{"params": [name, ...], ...}]} of one optimizer or several."""
    options = _checked(options, submodules)
    names, state, groups = _names(model), {}, []
    for optimizer in _optimizers(optimizers):
        for group in optimizer.param_groups:
            of_group = [names[id(p)] for p in group["params"]]
            groups.append({**{key: value for key, value in group.items() if key != "params"}, "params": of_group})
        for parameter, kept in optimizer.state.items():
            state[names[id(parameter)]] = {key: _copied(value, options) for key, value in kept.items()}
    return {"state": state, "param_groups": groups}


def set_optimizer_state_dict(
    model: Any, optimizers: Any, optim_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> None:
    """Loads it. KeyError for a parameter that it doesn't have."""
    _checked(options, None)
    names, groups = _names(model), optim_state_dict["param_groups"]
    for optimizer in _optimizers(optimizers):
        numbered: dict[str, Any] = {"state": {}, "param_groups": []}
        for group in optimizer.param_groups:
            first = len([n for made in numbered["param_groups"] for n in made["params"]])
            of_group = [names[id(parameter)] for parameter in group["params"]]
            found = next(given for given in groups if set(of_group) <= set(given["params"]))
            numbers = list(range(first, first + len(of_group)))
            numbered["param_groups"].append({**found, "params": numbers})
            known = {n: optim_state_dict["state"].get(name) for n, name in zip(numbers, of_group)}
            numbered["state"] |= {n: kept for n, kept in known.items() if kept is not None}
        optimizer.load_state_dict(numbered)


def get_state_dict(
    model: Any, optimizers: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the model and of its optimizers."""
    model_state = get_model_state_dict(model, submodules=submodules, options=options)
    return model_state, get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options)


def set_state_dict(
    model: Any,
    optimizers: Any,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Loads both; what load_state_dict of the model gives."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
