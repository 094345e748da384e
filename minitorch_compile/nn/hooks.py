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
from minitorch_compile.nn.node_hooks import hook_first_node
from minitorch_compile.user_warnings import warn_user

Args = tuple[Any, ...]


Hooks = OrderedDict[int, Callable[..., Any]]  # by their handles' numbers, in the order they run


class _Call:
    """One call of a module, as far as it has come."""

    def __init__(self, module: Any, args: Args, kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.output: Any = None
        self.ran: set[int] = set()  # the numbers of the hooks that saw the output


class ModuleHooks:
    """All hooks of a module that take part in calling it."""

    def __init__(self) -> None:
        self.forward_pre: Hooks = OrderedDict()
        self.forward: Hooks = OrderedDict()
        self.backward_pre: Hooks = OrderedDict()
        self.backward: Hooks = OrderedDict()
        self.of_node: Hooks = OrderedDict()  # the older kind of these (`node_hooks.py`)
        self.is_full: bool | None = None  # whether `backward` was filled, or `of_node`: never both
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

    def add_backward(self, hook: Callable[..., Any], full: bool, prepend: bool, whose: str) -> RemovableHandle:
        """Registers one of `backward`, or of the older kind. RuntimeError if there was one of the other kind."""
        if self.is_full is not None and self.is_full is not full:
            raise RuntimeError(
                f"Cannot use both regular backward hooks and full backward hooks {whose}. Please use only one of them."
            )
        self.is_full = full
        return self.add(self.backward if full else self.of_node, hook, prepend)

    @property
    def of_gradients(self) -> Hooks:
        """The backward hooks, of whichever kind."""
        return self.of_node if self.is_full is False else self.backward

    def followed_by(self, others: ModuleHooks) -> ModuleHooks:
        """These hooks, and then the others."""
        both = ModuleHooks()
        for kind, hooks in vars(both).items():
            if kind != "is_full":
                hooks.update(getattr(self, kind))
                hooks.update(getattr(others, kind))
        return both

    def any(self) -> bool:
        """Whether one is registered."""
        return bool(self.forward_pre or self.forward or self.backward_pre or self.backward or self.of_node)

    def call(self, module: Any, args: Args, kwargs: dict[str, Any]) -> Any:
        """module.forward with everything that belongs before and after it."""
        call = _Call(module, args, kwargs)
        return self._surely(call) if self.always_called else self._run(call)

    def _run(self, call: _Call) -> Any:
        self._before(call)
        result = self._watched(call)
        if self.of_node:
            hook_first_node(call.module, list(self.of_node.values()), call.args, result)
        return result

    def _watched(self, call: _Call) -> Any:
        if not (self.backward or self.backward_pre):
            call.output = call.module.forward(*call.args, **call.kwargs)
            self._after(call)
            return call.output
        watch = GradientWatch(call.module, list(self.backward.values()), list(self.backward_pre.values()))
        call.args = watch.inputs(call.args)
        call.output = call.module.forward(*call.args, **call.kwargs)
        self._after(call)
        return watch.outputs(call.output)

    def _before(self, call: _Call) -> None:
        """Leaves the arguments as the hooks want them."""
        for key, hook in list(self.forward_pre.items()):
            with_kwargs = key in self.with_kwargs
            result = hook(call.module, call.args, call.kwargs) if with_kwargs else hook(call.module, call.args)
            if result is None:
                continue
            if with_kwargs:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                call.args, call.kwargs = result
            else:
                call.args = result if isinstance(result, tuple) else (result,)

    def _after(self, call: _Call) -> None:
        """Leaves the output as the hooks want it."""
        for key, hook in list(self.forward.items()):
            call.ran.add(key)
            self._shown_the_output(key, hook, call)

    def _shown_the_output(self, key: int, hook: Callable[..., Any], call: _Call) -> None:
        if key in self.with_kwargs:
            result = hook(call.module, call.args, call.kwargs, call.output)
        else:
            result = hook(call.module, call.args, call.output)
        if result is not None:
            call.output = result

    def _surely(self, call: _Call) -> Any:
        """If an exception is on its way out, the hooks that are to run always run still, with the output so far: None,
        if forward raised it."""
        try:
            return self._run(call)
        except Exception:
            for key, hook in list(self.forward.items()):
                if key in self.always_called and key not in call.ran:
                    self._last_word(key, hook, call)
            raise

    def _last_word(self, key: int, hook: Callable[..., Any], call: _Call) -> None:
        """Calls a hook while another exception is being raised, which is the one that counts."""
        try:
            self._shown_the_output(key, hook, call)
        except Exception as error:  # noqa: BLE001  # any: the first exception must come through
            warn_user(
                "module forward hook with ``always_call=True`` raised an exception that was silenced as another error"
                f" was raised in forward: {error}"
            )
