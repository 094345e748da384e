"""Calling a module with other tensors in the place of its parameters and buffers.

>>> from minitorch_compile import nn, ones
>>> layer = nn.Linear(2, 1)
>>> functional_call(layer, {"weight": ones(1, 2), "bias": ones(1)}, ones(1, 2))
tensor([[3.]])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from minitorch_compile.nn.module import Module

Tensors = dict[str, Any]


def functional_call(
    module: Module,
    parameters_and_buffers: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs) with the tensors of a dict, or of several, in the place of those of the same names.

    `args`: a tuple, or the one argument. A buffer that forward replaces is replaced in the dict; the module stays as it
    was. `tie_weights`: a parameter that has several names is replaced under all of them. `strict`: names have to be
    those of the module, all of them; otherwise those of others are ignored.
    """
    given = _merged(parameters_and_buffers)
    positional = args if isinstance(args, tuple) else () if args is None else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def _merged(dicts: Any) -> Tensors:
    if isinstance(dicts, Mapping):
        return dicts  # type: ignore[return-value]  # written into, so that the caller sees new buffers
    if not isinstance(dicts, (list, tuple)) or not all(isinstance(d, Mapping) for d in dicts):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    repeated = [key for i, d in enumerate(dicts) for key in d if any(key in other for other in dicts[:i])]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {key: value for d in dicts for key, value in d.items()}


def _places(module: Module) -> dict[str, tuple[dict[str, Any], str]]:
    """Where the tensor of each dotted name lies: in which dict, under which name."""
    places = {}
    for path, owner in module.named_modules(remove_duplicate=False):
        for registered in (owner._parameters, owner._buffers):
            for name, value in registered.items():
                if value is not None:
                    places[f"{path}.{name}" if path else name] = registered, name
    return places


def _tied(places: dict[str, tuple[dict[str, Any], str]], given: Tensors) -> Tensors:
    """The tensors with those for the other names of the same parameter. ValueError if these are given as well."""
    names: dict[Any, list[str]] = {}  # by the parameter itself, which is hashed by identity
    for key, (registered, name) in places.items():
        names.setdefault(registered[name], []).append(key)
    everywhere = dict(given)
    for key in given:
        registered, name = places.get(key, ({}, ""))
        same = names.get(registered.get(name), [key])
        if len({given[other] for other in same if other in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {same}, which are tied. Consider using tie_weights=False"
            )
        everywhere |= dict.fromkeys(same, given[key])
    return everywhere


@contextmanager
def _replaced(module: Module, given: Tensors, tie_weights: bool, strict: bool) -> Iterator[None]:
    places = _places(module)
    tensors = _tied(places, given) if tie_weights else dict(given)
    if strict:
        _check_names(module, places, tensors)
    before = {key: registered[name] for key, (registered, name) in places.items()}
    for key, (registered, name) in places.items():
        if key in tensors:
            registered[name] = tensors[key]
    try:
        yield
    finally:
        for key, (registered, name) in places.items():
            if key in given:
                given[key] = registered[name]
            if key in tensors:
                registered[name] = before[key]


def _check_names(module: Module, places: Mapping[str, Any], tensors: Tensors) -> None:
    unexpected = sorted(key for key in tensors if key not in places)
    missing = sorted(key for key in places if key not in tensors)
    if unexpected or missing:
        text = f"Error(s) in reparametrizing for {type(module).__name__}:"
        for what, keys in (("Unexpected", unexpected), ("Missing", missing)):
            if keys:
                text += f"\n\t{what} key(s): {', '.join(map(repr, keys))}."
        raise RuntimeError(text)
