"""state_dict and load_state_dict: a module's tensors by dotted name, out and in again.

>>> from minitorch_compile import nn
>>> a, b = nn.Linear(1, 2), nn.Linear(1, 2)
>>> list(a.state_dict()), b.load_state_dict(a.state_dict())
(['weight', 'bias'], <All keys matched successfully>)
>>> bool((a.weight == b.weight).all())
True
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from minitorch_compile.nn.module_tree import ModuleTree
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, no_grad


class IncompatibleKeys(NamedTuple):
    """What load_state_dict found to differ in names."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class ModuleState(ModuleTree):
    """What a module remembers between runs."""

    def _persistent_tensors(self) -> Iterator[tuple[str, Tensor]]:
        """This module's own parameters and persistent buffers."""
        for name, param in self._parameters.items():
            if param is not None:
                yield name, param
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                yield name, buffer

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._persistent_tensors():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Every parameter and persistent buffer by dotted name: detached, but sharing storage with the module."""
        destination = OrderedDict() if destination is None else destination
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies values in by name. RuntimeError that lists every missing, unexpected or misshapen one.

        Not `strict`: only sizes have to agree. `assign`: takes the tensors themselves instead of copying their values.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        for path, module in self.named_modules(remove_duplicate=False):
            prefix = f"{path}." if path else ""
            module._load_from_state_dict(
                state_dict, prefix, {"assign_to_params_buffers": assign}, strict, missing, unexpected, errors
            )
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors))
            )
        return IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module's own tensors, not those of its children. Subclasses may override it to rename old keys."""
        own = dict(self._persistent_tensors())
        for name, tensor in own.items():
            if prefix + name not in state_dict:
                missing_keys.append(prefix + name)
                continue
            value = state_dict[prefix + name]
            problem = _mismatch(prefix + name, tensor, value)
            if problem:
                error_msgs.append(problem)
            elif local_metadata.get("assign_to_params_buffers"):
                setattr(self, name, Parameter(value, tensor.requires_grad) if isinstance(tensor, Parameter) else value)
            else:
                with no_grad():
                    tensor.copy_(value)
        for key in state_dict:
            rest = key[len(prefix) :].split(".", 1)
            if key.startswith(prefix) and rest[0] not in (own if len(rest) == 1 else self._modules):
                unexpected_keys.append(key)


def _mismatch(key: str, tensor: Tensor, value: Any) -> str | None:
    if not isinstance(value, Tensor):
        return f'While copying the parameter named "{key}", expected torch.Tensor from checkpoint but got {type(value)}'
    if value.shape != tensor.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in current"
            f" model is {tensor.shape}."
        )
    return None


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
