"""Functions that run before or after a module's forward, and with its gradients.

>>> from minitorch_compile import nn, ones
>>> layer = nn.Identity()
>>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
>>> layer(ones(1)), handle.remove(), layer(ones(1))
(tensor([2.]), None, tensor([1.]))
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.hooks import RemovableHandle
from minitorch_compile.nn.backward_hooks import GradientWatch
from minitorch_compile.user_warnings import warn_user

Args = tuple[Any, ...]


Hooks = OrderedDict[int, Callable[..., Any]]  # by their handles' numbers, in the order they run


class ModuleHooks:
    """All hooks of a module that take part in calling it."""

    def __init__(self) -> None:
        self.forward_pre: Hooks = OrderedDict()
        self.forward: Hooks = OrderedDict()
        self.backward_pre: Hooks = OrderedDict()
        self.backward: Hooks = OrderedDict()
        self.with_kwargs: dict[int, bool] = {}  # the numbers of those that get the keyword arguments, too
        self.always_called: dict[int, bool] = {}  # and of those that run even if forward fails

    def add(
        self,
        hooks: Hooks,
        hook: Callable[..., Any],
        prepend: bool,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Registers a hook of one kind, in front of the others if `prepend`."""
        handle = RemovableHandle(hooks, extra_dict=[self.with_kwargs, self.always_called])
        hooks[handle.id] = hook
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        if with_kwargs:
            self.with_kwargs[handle.id] = True
        if always_call:
            self.always_called[handle.id] = True
        return handle

    def any(self) -> bool:
        """Whether one is registered."""
        return bool(self.forward_pre or self.forward or self.backward_pre or self.backward)

    def call(self, module: Any, args: Args, kwargs: dict[str, Any]) -> Any:
        """module.forward with everything that belongs before and after it."""
        if self.always_called:
            return self._call_surely(module, args, kwargs)
        return self._call(module, args, kwargs, set())

    def _call(self, module: Any, args: Args, kwargs: dict[str, Any], ran: set[int]) -> Any:
        args, kwargs = self._before(module, args, kwargs)
        if not (self.backward or self.backward_pre):
            return self._after(module, args, kwargs, module.forward(*args, **kwargs), ran)
        watch = GradientWatch(module, list(self.backward.values()), list(self.backward_pre.values()))
        args = watch.inputs(args)
        return watch.outputs(self._after(module, args, kwargs, module.forward(*args, **kwargs), ran))

    def _before(self, module: Any, args: Args, kwargs: dict[str, Any]) -> tuple[Args, dict[str, Any]]:
        """The arguments, as the hooks leave them."""
        for key, hook in list(self.forward_pre.items()):
            with_kwargs = key in self.with_kwargs
            result = hook(module, args, kwargs) if with_kwargs else hook(module, args)
            if result is None:
                continue
            if with_kwargs:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            else:
                args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def _after(self, module: Any, args: Args, kwargs: dict[str, Any], output: Any, ran: set[int]) -> Any:
        """The output, as the hooks leave it. `ran` collects the hooks that were called."""
        for key, hook in list(self.forward.items()):
            ran.add(key)
            result = hook(module, args, kwargs, output) if key in self.with_kwargs else hook(module, args, output)
            if result is not None:
                output = result
        return output

    def _call_surely(self, module: Any, args: Args, kwargs: dict[str, Any]) -> Any:
        """If an exception is on its way out, the hooks that are to run always run still, with None for the output."""
        ran: set[int] = set()
        try:
            return self._call(module, args, kwargs, ran)
        except Exception:
            for key, hook in list(self.forward.items()):
                if key in self.always_called and key not in ran:
                    _last_word(hook, (module, args, kwargs, None) if key in self.with_kwargs else (module, args, None))
            raise


def _last_word(hook: Callable[..., Any], args: Args) -> None:
    """Calls a hook while another exception is being raised, which is the one that counts."""
    try:
        hook(*args)
    except Exception as error:  # noqa: BLE001  # any: the first exception must come through
        warn_user(
            "module forward hook with ``always_call=True`` raised an exception that was silenced as another error"
            f" was raised in forward: {error}"
        )
