"""A custom op: a function of the program's own that compilers treat as one operation.

It is an `Op` like those of the table, so each storey that a call goes through knows what to do with it: the tape
records it (`custom_node.py`), vmap asks its rule, fake tensors ask `register_fake`, the tracers of dynamo and aot write
one node, and the code generator runs it as it is between its kernels. If it has a decomposition
(`prims.register_decomposition`), compiled graphs have that in its place, fused with what is around it.

>>> from minitorch_compile.library import custom_op
>>> from minitorch_compile.tensor import Tensor, ones
>>> @custom_op("docs::triple", mutates_args=())
... def triple(x: Tensor) -> Tensor:
...     return x * 3
>>> triple(ones(2)), triple
(tensor([3., 3.]), docs.triple)

An op that writes to its arguments is, to a compiler, one that gives their new values (`functional`), and stores.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, Signature
from typing import Any

from minitorch_compile.amp import autocast_state
from minitorch_compile.amp.autocast_mode import autocast
from minitorch_compile.autograd.derivative_table import DERIVATIVES
from minitorch_compile.func.batching.batch import Batch, Unbatched
from minitorch_compile.func.batching.rules import RULES
from minitorch_compile.library.custom_node import CustomDerivative
from minitorch_compile.library.namespaces import registry
from minitorch_compile.library.schema import NOTHING, Argument, Schema
from minitorch_compile.library.vmap_info import VmapInfo
from minitorch_compile.prims.decomposition_table import refuses
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.argument_devices import all_tensors
from minitorch_compile.tensor.dispatch.number_arguments import NEVER
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.modes.fake_tensor_mode import ShapesOnly
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

ALIASES = (
    "The output of this custom operator (1) must not also be an input to this custom operator and (2) may not alias any"
    " inputs to this custom operator or other returns. The most common way to trigger this error is if we have y ="
    " custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending output tensor(s)"
    " (e.g. return x.clone()) or refactor the custom operator to not return y."
)
ANY_DEVICE = "default"
AUTOCAST_DEVICES = ("cpu", "cuda", "mps", "xpu")


class CustomOpDef(Op):
    """An op that a program defined. The schema says what it takes; the kernels, by type of device, what it computes."""

    kind = "custom"

    def __init__(self, schema: Schema) -> None:
        def kernel(*arguments: Any) -> Any:
            raise NotImplementedError

        kernel.__signature__ = _signature(schema.arguments)  # type: ignore[attr-defined]
        namespace, _, name = schema.qualname.partition("::")
        super().__init__(kernel, namespaces=[namespace], name=f"{namespace}.{name}")
        self.numbers, self.fine_keywords, self.first_number = (), {}, NEVER  # the schema says what is taken
        self.schema = schema
        self._qualname = schema.qualname
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.is_composite = False
        self.autocasts: dict[str, Callable[..., Any]] = {}  # what a call is under autocast, by type of device
        self._fake: Callable[..., Any] | None = None
        if not schema.writes:
            DERIVATIVES[self] = CustomDerivative(self, None, None)
        refuses(self, because="it is a program's own op; register_decomposition says how it is written in others")

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return find, (self._qualname,)

    @property
    def default(self) -> CustomOpDef:
        """The overload that there is; PyTorch names it so."""
        return self

    @property
    def _schema(self) -> Schema:
        return self.schema

    # ------------------------------------------------------------------------------------------ what it consists of

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """What computes it on devices of these types, None for all. Also a decorator."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            types = [ANY_DEVICE] if device_types is None else device_types
            for each in [types] if isinstance(types, str) else types:
                self.kernels[each] = function
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """What its result looks like, computed without data: for tracers, fake tensors and the meta device."""
        self._fake = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Its gradient: `backward(ctx, *grads)` gives one for each argument; `setup_context(ctx, inputs, output)` keeps
        what that needs. RuntimeError for an op that writes to its arguments."""
        if self.schema.writes:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self.name}.default with schema"
                f" {self.schema}. Please create a functional operator and register an autograd formula for that."
            )
        DERIVATIVES[self] = CustomDerivative(self, backward, setup_context)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """What it is on a batch: `func(info, in_dims, *args)` gives the result and where its batch is. Also a
        decorator."""
        if func is None:
            return self.register_vmap
        RULES[self] = functools.partial(_batched, func)
        return func

    def register_autocast(self, device_type: str, cast_inputs: dtype) -> None:
        """Under autocast, its arguments are cast to `cast_inputs`. ValueError for a device that has no autocast."""
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in AUTOCAST_DEVICES:
            raise ValueError(f"Device type '{device_type}' does not support autocast.")

        def with_casts(*args: Any, **kwargs: Any) -> Any:
            given = autocast_state.cast(args, cast_inputs, device_type)
            named = {name: autocast_state.cast(value, cast_inputs, device_type) for name, value in kwargs.items()}
            with autocast(device_type, enabled=False):
                return self(*given, **named)

        self.autocasts[device_type] = with_casts

    # ------------------------------------------------------------------------------------------ calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for name in self.autocasts if autocast_state.users else ():
            if autocast_state.is_cast_on(name, (*args, *kwargs.values())):
                return self.autocasts[name](*args, **kwargs)
        bound = self.bind(args, kwargs)
        if self.is_composite:
            return self._kernel_for(bound)(*self._as_called(bound)[0], **self._as_called(bound)[1])
        if self.schema.writes and dispatch.contexts:
            return self._stored(bound)
        result = dispatch.dispatch(self, bound, {})
        return list(result) if self.gives_list and isinstance(result, tuple) else result

    @property
    def gives_list(self) -> bool:
        return len(self.schema.returns) == 1 and self.schema.returns[0].endswith("[]")

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in order. RuntimeError for one that the schema doesn't take."""
        name = self._qualname
        if len(args) > len(self.parameters):
            raise RuntimeError(
                f"{name}() expected at most {len(self.parameters)} argument(s) but received {len(args)} argument(s)."
                f" Declaration: {self.schema}"
            )
        unknown = kwargs.keys() - set(self.parameters[len(args) :])
        if unknown:
            raise RuntimeError(
                f"Unknown keyword argument '{min(unknown)}' for operator '{name}'. Schema: {self.schema}"
            )
        bound = (*args, *(kwargs.get(key, default) for key, default in self._after(len(args))))
        missing = [a.name for a, value in zip(self.schema.arguments, bound, strict=True) if value is NOTHING]
        if missing:
            raise RuntimeError(f"{name}() is missing value for argument '{missing[0]}'. Declaration: {self.schema}")
        for position, (argument, value) in enumerate(zip(self.schema.arguments, bound, strict=True)):
            if not argument.takes(value):
                raise RuntimeError(
                    f"{name}() Expected a value of type '{argument.type}' for argument '{argument.name}' but instead"
                    f" found type '{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\n"
                    f"Declaration: {self.schema}"
                )
        return bound

    def _after(self, count: int) -> Iterator[tuple[str, Any]]:
        return ((argument.name, argument.default) for argument in self.schema.arguments[count:])

    def run_bound(self, bound: tuple[Any, ...]) -> Any:
        """The kernel, unrecorded; the fake implementation for tensors without data."""
        if any(x.is_fake for x in all_tensors(bound)):
            return self.meta(*bound)
        args, kwargs = self._as_called(bound)
        with no_grad():
            result = self._kernel_for(bound)(*args, **kwargs)
        for position in self.schema.writes:
            for x in tensors_in(bound[position]):
                x.storage.version += 1
        self._refuse_aliases(bound, result)
        return tuple(result) if isinstance(result, list) else result

    def _as_called(self, bound: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as the program's function takes them: some by keyword only."""
        pairs = list(zip(self.schema.arguments, bound, strict=True))
        return [v for a, v in pairs if not a.kwarg_only], {a.name: v for a, v in pairs if a.kwarg_only}

    def _kernel_for(self, bound: Sequence[Any]) -> Callable[..., Any]:
        found = next((x.device.type for x in tensors_in(bound)), "cpu")
        kernel = self.kernels.get(found) or self.kernels.get(ANY_DEVICE)
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self._qualname}' with arguments from the '{found.upper()}' backend. It is only"
                f" available for these backends: {[each.upper() for each in self.kernels]}; register_kernel adds one."
            )
        return kernel

    def _refuse_aliases(self, bound: Sequence[Any], result: Any) -> None:
        """RuntimeError if a result shares its memory with an argument or another result."""
        seen = {id(x.storage.memory) for x in tensors_in(bound)}
        for x in tensors_in(result):
            if id(x.storage.memory) in seen:
                raise RuntimeError(f"{self.__name__} (with implementation in {self.__module__}): {ALIASES}")
            seen.add(id(x.storage.memory))

    def meta_rule(self, *bound: Any) -> Any:
        if self._fake is None:
            if self.schema.writes and not self.schema.returns:
                return None
            raise RuntimeError(
                f"There was no fake impl registered for <CustomOpDef({self._qualname})>. This is necessary for"
                f" torch.compile/export/fx tracing to work. Please use `{self.__name__}.register_fake` to add an fake"
                " impl."
            )
        args, kwargs = self._as_called(bound)
        with dispatch.mode(ShapesOnly()), no_grad():
            result = self._fake(*args, **kwargs)
        return tuple(result) if isinstance(result, list) else result

    # -------------------------------------------------------------------------------------- as compilers see a write

    @functools.cached_property
    def functional(self) -> CustomOpDef:
        """The op that gives its results and, after them, the new values of what this op writes to."""
        arguments = tuple(Argument(a.name, a.type, a.default, a.kwarg_only) for a in self.schema.arguments)
        new_values = tuple(arguments[position].type for position in self.schema.writes)
        twin = CustomOpDef(Schema(f"{self._qualname}_functional", arguments, (*self.schema.returns, *new_values)))

        def values(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
            bound = list(twin.bind(args, kwargs))
            for position in self.schema.writes:
                bound[position] = _copied(bound[position])
            result = self.run_bound(tuple(bound))
            return (*_as_tuple(result), *(x for position in self.schema.writes for x in tensors_in(bound[position])))

        twin.register_kernel(None, values)
        twin.register_fake(values)
        return twin

    def _stored(self, bound: tuple[Any, ...]) -> Any:
        targets = [x for position in self.schema.writes for x in tensors_in(bound[position])]
        with no_grad():
            values = self.functional(*bound)
            count = len(values) - len(targets)
            for target, value in zip(targets, values[count:], strict=True):
                target.copy_(value)
        results = values[:count]
        if self.gives_list:
            return list(results)
        return results if len(self.schema.returns) > 1 else results[0] if results else None


def _signature(arguments: Sequence[Argument]) -> Signature:
    """The parameters as `Op` reads them. All may be given by position, as a graph gives them."""
    return Signature(
        [
            Parameter(
                argument.name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=None if argument.default is NOTHING else argument.default,
                annotation="Tensor" if argument.base == "Tensor" else "Any",
            )
            for argument in arguments
        ],
        __validate_parameters__=False,
    )


def _copied(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copied, value))
    return None if value is None else ops.clone(value)


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _batched(func: Callable[..., Any], batch: Batch, op: CustomOpDef, *bound: Any) -> Any:
    """The batching rule of an op whose `func` says what it is on a batch."""
    dims = tuple(
        [0 if batch.holds(x) else None for x in v] if isinstance(v, list) else 0 if batch.holds(v) else None
        for v in bound
    )
    values = [[batch.value(x) for x in v] if isinstance(v, list) else batch.value(v) for v in bound]
    args, kwargs = op._as_called(values)
    result, places = func(VmapInfo(batch.size, batch.randomness), dims[: len(args)], *args, **kwargs)
    if isinstance(result, (tuple, list)):
        where = places if isinstance(places, (tuple, list)) else [places] * len(result)
        return tuple(_with_batch_first(x, place) for x, place in zip(result, where, strict=True))
    return _with_batch_first(result, places)


def _with_batch_first(x: Any, place: int | None) -> Any:
    return Unbatched(x) if place is None else ops.movedim(x, place, 0) if place else x


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors among arguments, also in lists."""
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def find(qualname: str) -> CustomOpDef:
    """The op of that name. RuntimeError if there is none."""
    if qualname not in registry:
        raise RuntimeError(f"operator {qualname} does not exist")
    found: CustomOpDef = registry[qualname]
    return found
