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
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from minitorch_compile.autograd.hooks import RemovableHandle
from minitorch_compile.nn.module_tree import ModuleTree
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.nn.uninitialized import is_lazy
from minitorch_compile.tensor import Tensor, no_grad

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What load_state_dict found to differ in names."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class StateHooks:
    """The hooks of a module that take part in saving and loading."""

    def __init__(self) -> None:
        self.before_save: dict[int, Callable[..., Any]] = {}
        self.after_save: dict[int, Callable[..., Any]] = {}
        self.before_load: dict[int, Callable[..., Any]] = {}
        self.after_load: dict[int, Callable[..., Any]] = {}


class ModuleState(ModuleTree):
    """What a module remembers between runs."""

    _version: int = 1  # a class that saves differently than before counts it up
    _state_hooks: StateHooks | None = None

    # -------------------------------------------------------------------------------------------- saving

    def get_extra_state(self) -> Any:
        """What else is to be saved; a subclass that has such a thing overrides this and `set_extra_state`."""
        raise RuntimeError("get_extra_state: this module has no extra state; a subclass may define it")

    def set_extra_state(self, state: Any) -> None:
        """Takes back what get_extra_state gave."""
        raise RuntimeError("set_extra_state: this module has no extra state; a subclass may define it")

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
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Every parameter and persistent buffer by dotted name: detached, unless `keep_vars`, but sharing storage with
        the module. `prefix` begins each name; `destination` is the dict that they are added to. (As positional
        arguments, `args`, both are deprecated.)

        >>> list(torch.nn.Sequential(torch.nn.Linear(2, 1)).state_dict())
        ['0.weight', '0.bias']
        """
        given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))  # in this order, in old programs
        destination = given.get("destination", destination)
        prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # for each module's path the version of what it saved
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._registered("before_save"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._registered("after_save"):
            result = hook(self, destination, prefix, metadata)
            destination = destination if result is None else result
        return destination

    # -------------------------------------------------------------------------------------------- loading

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copies values in by name, from a `state_dict` such as the method of that name gives. RuntimeError that lists
        every missing, unexpected or misshapen one.

        Not `strict`: only sizes have to agree, and the names that don't are returned. `assign`: takes the tensors
        themselves instead of copying their values.

        >>> layer = torch.nn.Linear(1, 1)
        >>> layer.load_state_dict({"weight": torch.ones(1, 1)}, strict=False)
        _IncompatibleKeys(missing_keys=['bias'], unexpected_keys=[])
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        found = _IncompatibleKeys([], [])
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        copy: Any = OrderedDict(state_dict)  # an overridden _load_from_state_dict may rename keys in it
        if metadata is not None:
            copy._metadata = metadata
        self._load_below(copy, "", {} if metadata is None else metadata, assign, found, errors)
        if strict:
            if found.unexpected_keys:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(found.unexpected_keys)}. ")
            if found.missing_keys:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(found.missing_keys)}. ")
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors))
            )
        return found

    def _load_below(
        self,
        state_dict: Any,
        prefix: str,
        metadata: Mapping[str, Any],
        assign: bool,
        found: _IncompatibleKeys,
        errors: list[str],
    ) -> None:
        """Loads this module and those below it."""
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        self._load_from_state_dict(state_dict, prefix, local, True, *found, errors)
        for name, module in self._modules.items():
            if module is not None:
                module._load_below(state_dict, f"{prefix}{name}.", metadata, assign, found, errors)
        for hook in self._registered("after_load"):
            if hook(self, found) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new"
                    " values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module's own tensors, not those of its children. Subclasses may override it to rename old keys."""
        for hook in self._registered("before_load"):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own: dict[str, Any] = dict(self._persistent_tensors())  # lazy ones have methods of their own
        for name, tensor in own.items():
            if prefix + name not in state_dict:
                missing_keys.append(prefix + name)
                continue
            value = state_dict[prefix + name]
            if is_lazy(value) and is_lazy(tensor):
                continue
            if is_lazy(tensor) and isinstance(value, Tensor):
                tensor.materialize(value.shape)
            problem = _mismatch(prefix + name, tensor, value)
            if problem:
                error_msgs.append(problem)
            elif local_metadata.get("assign_to_params_buffers"):
                setattr(self, name, _assignable(value, tensor))
            else:
                with no_grad():
                    tensor.copy_(value.reshape(tensor.shape))
        self._load_extra_state(state_dict, prefix, missing_keys, unexpected_keys)
        for key in state_dict:
            rest = key[len(prefix) :].split(".", 1)
            if (
                key.startswith(prefix)
                and rest != [_EXTRA_STATE_KEY_SUFFIX]
                and rest[0] not in (own if len(rest) == 1 else self._modules)
            ):
                unexpected_keys.append(key)

    def _load_extra_state(self, state_dict: Any, prefix: str, missing: list[str], unexpected: list[str]) -> None:
        key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not ModuleState.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            else:
                missing.append(key)
        elif key in state_dict:
            unexpected.append(key)

    # -------------------------------------------------------------------------------------------- hooks

    def _registered(self, when: str) -> list[Callable[..., Any]]:
        return [] if self._state_hooks is None else list(getattr(self._state_hooks, when).values())

    def _register(self, when: str, hook: Callable[..., Any]) -> RemovableHandle:
        if self._state_hooks is None:
            object.__setattr__(self, "_state_hooks", StateHooks())
        hooks = getattr(self._state_hooks, when)
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, prefix, keep_vars)` runs before this module is saved."""
        return self._register("before_save", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata)` runs after it was saved and may change the dict."""
        return self._register("after_save", hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same; the hook may also return another dict."""
        return self._register("after_save", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)` runs
        before this module is loaded."""
        return self._register("before_load", _Bound(hook, self))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """The same; without the module unless `with_module`."""
        return self._register("before_load", _Bound(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, incompatible_keys)` runs after it was loaded and may change the lists of keys in place."""
        return self._register("after_load", hook)


class _Bound:
    """A hook that gets its module first. A class, so that it is copied with the module."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook = hook
        self.module = module

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module, *args)


def _assignable(value: Any, old: Tensor) -> Any:
    """What takes the place of a tensor: of a parameter a parameter, trained as the old one was."""
    if not isinstance(old, Parameter):
        return value
    return (value if isinstance(value, Parameter) else Parameter(value)).requires_grad_(old.requires_grad)


def _mismatch(key: str, tensor: Tensor, value: Any) -> str | None:
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint'
            f" but received {type(value)}"
        )
    old_scalar = not tensor.shape and tuple(value.shape) == (1,)  # scalars were saved with one element once
    if value.shape != tensor.shape and not old_scalar:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in current"
            f" model is {tensor.shape}."
        )
    return None


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
