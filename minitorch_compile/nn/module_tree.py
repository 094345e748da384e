"""The tree of modules: what an assignment registers, and the walks over everything registered.

>>> from minitorch_compile import nn
>>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
>>> [name for name, _ in net.named_parameters()], [name for name, _ in net.named_modules()]
(['0.weight', '0.bias'], ['', '0', '1'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from minitorch_compile.nn import global_hooks
from minitorch_compile.nn.parameter import Buffer, Parameter
from minitorch_compile.tensor import Tensor

NOT_INITIALISED = "cannot assign {what} before Module.__init__() call"


class ModuleTree:
    """Parameters, buffers and child modules by name, with PyTorch's rules for assigning to them."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        object.__setattr__(self, "training", True)
        object.__setattr__(self, "_parameters", {})
        object.__setattr__(self, "_buffers", {})
        object.__setattr__(self, "_non_persistent_buffers_set", set())
        object.__setattr__(self, "_modules", {})

    # -------------------------------------------------------------------------------------------- registration

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, `param`, under a `name`; None reserves the name. TypeError for another type, KeyError for a
        name that won't do.

        >>> module = torch.nn.Module()
        >>> module.register_parameter("scale", torch.nn.Parameter(torch.ones(1)))
        >>> module.scale
        Parameter containing:
        tensor([1.], requires_grad=True)
        """
        self._check_name(name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (torch.nn.Parameter or None"
                " required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created"
                f" explicitly. To express '{name}' as a"
                " function of another Tensor, compute the value in the forward() method."
            )
        self._keep("_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a `tensor` under a `name`, which is not trained but moves with the module; it is part of state_dict if
        `persistent`. KeyError for a name that is taken or has a dot, TypeError for what is no tensor.

        >>> module = torch.nn.Module()
        >>> module.register_buffer("steps", torch.zeros(1))
        >>> module.steps, list(module.state_dict())
        (tensor([0.]), ['steps'])
        """
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._keep("_buffers", name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Any) -> None:
        """Adds a child module; None reserves the name."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Any) -> None:
        """Adds a child, `module`, under a `name`; None reserves the name. TypeError for what is no module, KeyError for
        a name that is taken or has a dot.

        >>> model = torch.nn.Module()
        >>> model.add_module("layer", torch.nn.ReLU())
        >>> model.layer
        ReLU()
        """
        if not isinstance(module, ModuleTree) and module is not None:
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name(name, "module", "_modules")
        self._keep("_modules", name, module)

    def _keep(self, kind: str, name: str, value: Any) -> None:
        if global_hooks.at_registrations and (value is not None or kind != "_parameters"):
            value = global_hooks.registered(self, kind, name, value)
        self.__dict__[kind][name] = value

    def _check_name(self, name: str, what: str, kind: str) -> None:
        if kind not in self.__dict__:
            raise AttributeError(NOT_INITIALISED.format(what=what))
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"attribute '{name}' already exists")

    # -------------------------------------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> Any:
        for kind in ("_parameters", "_buffers", "_modules"):
            registered = self.__dict__.get(kind)
            if registered is not None and name in registered:
                return registered[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        is_tensor = isinstance(value, Tensor)  # as most values are not, which is known at once
        if is_tensor and isinstance(value, Parameter):
            self._forget(name, "parameters", "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, ModuleTree):
            self._forget(name, "module", "_modules")
            self._keep("_modules", name, value)
        elif is_tensor and isinstance(value, Buffer):
            self._forget(name, "buffer", "_buffers")
            self.register_buffer(name, value, value.persistent)
        elif not self._assign_registered(name, value):
            object.__setattr__(self, name, value)

    def _assign_registered(self, name: str, value: Any) -> bool:
        """Assigns to a name that is registered already; only None, or a tensor for a buffer, may take its place."""
        for kind, expected in (
            ("_parameters", "parameter '{}' (torch.nn.Parameter or None expected)"),
            ("_modules", "child module '{}' (torch.nn.Module or None expected)"),
            ("_buffers", "buffer '{}' (torch.nn.Buffer, torch.Tensor or None expected)"),
        ):
            registered = self.__dict__.get(kind)
            if registered is not None and name in registered:
                if value is not None and not (kind == "_buffers" and isinstance(value, Tensor)):
                    raise TypeError(f"cannot assign '{type(value).__name__}' as {expected.format(name)}")
                self._keep(kind, name, value)
                return True
        return False

    def _forget(self, name: str, what: str, keep: str) -> None:
        """Takes `name` out of every place but the one it is about to be registered in."""
        if keep not in self.__dict__:
            raise AttributeError(NOT_INITIALISED.format(what=what))
        self.__dict__.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind != keep:
                self.__dict__[kind].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        return sorted({name for name in names if not name[0].isdigit()})

    # -------------------------------------------------------------------------------------------- walks

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all below it, each with its dotted name, begun with `prefix`; a module that appears twice
        comes once, unless `remove_duplicate` is False. `memo` has those that are not to come.

        >>> [name for name, _ in torch.nn.Sequential(torch.nn.ReLU()).named_modules()]
        ['', '0']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def _named_members(
        self, members: Callable[[Any], Any], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen: set[Any] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in members(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters of this module and, if `recurse`, those below, each with its dotted name, begun with `prefix`.
        What has several names comes once, unless `remove_duplicate` is False.

        >>> [name for name, _ in torch.nn.Linear(2, 1).named_parameters()]
        ['weight', 'bias']
        """
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers of this module and those below, each with its dotted name."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The child modules with their names, those of one level.

        >>> [name for name, _ in torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).named_children()]
        ['0', '1']
        """
        seen: set[Any] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, if `recurse`, those below, each once: what an optimizer is given.

        >>> sum(p.numel() for p in torch.nn.Linear(3, 2).parameters())
        8
        """
        return (value for _, value in self.named_parameters(recurse=recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and those below."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it, each once, unless `remove_duplicate` is False.

        >>> list(torch.nn.Sequential(torch.nn.ReLU()).modules())
        [Sequential(
          (0): ReLU()
        ), ReLU()]
        """
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def children(self) -> Iterator[Any]:
        """The child modules, those of one level.

        >>> list(torch.nn.Sequential(torch.nn.ReLU()).children())
        [ReLU()]
        """
        return (module for _, module in self.named_children())

    # -------------------------------------------------------------------------------------------- by dotted name

    def get_submodule(self, target: str) -> Any:
        """The module of a dotted name. AttributeError if there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, ModuleTree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Puts a module in the place of the one of a dotted name; `strict`: there has to be one already."""
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, ModuleTree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), ModuleTree):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name. AttributeError if there is none."""
        owner, name = self._owner_of(target)
        param = getattr(owner, name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name. AttributeError if there is none."""
        owner, name = self._owner_of(target)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return owner._buffers[name]

    def _owner_of(self, target: str) -> tuple[Any, str]:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        return owner, name
