"""The other families of ops: reductions, views, ops with a kernel of their own kind, factories, composites, in-place.

>>> from minitorch_compile.tensor import ops
>>> ops.sum.kind, ops.permute.kind, ops.mm.kind, ops.full.kind, ops.linear.kind, ops.table["add_"].kind
('reduction', 'view', 'contraction', 'creation', 'composite', 'inplace')
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch_compile.tensor.cpu.numpy_errstate import quietly
from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.accelerators import accelerators, in_use, located, run_again
from minitorch_compile.tensor.dispatch.argument_devices import (
    MixedDevicesError,
    all_tensors,
    device_of,
    is_elsewhere,
)
from minitorch_compile.tensor.dispatch.dispatch import any_requires_grad, contexts, stacks
from minitorch_compile.tensor.dispatch.keyword_arguments import in_torch_names
from minitorch_compile.tensor.dispatch.number_arguments import plain
from minitorch_compile.tensor.dispatch.one_operation import NODE_NAMES
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.out_argument import call_with_out
from minitorch_compile.tensor.dispatch.overrides import MISSING, VALUES, overridden, watching
from minitorch_compile.tensor.dispatch.stored_only import refuse_kernel, refuse_stored
from minitorch_compile.tensor.dispatch.strided_results import wrap_as
from minitorch_compile.tensor.dispatch.tape_slot import slot as tape
from minitorch_compile.tensor.dispatch.tensor_options import TENSOR_OPTIONS, with_options
from minitorch_compile.tensor.dispatch.torch_dispatch import SEEN_WHOLE, dispatched, dispatching
from minitorch_compile.tensor.dispatch.wrong_arguments import MISTAKEN, answered
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.memory.device import META, NO_DATA, entered, no_default_device
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.dimensions import wrap_dims
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype
from minitorch_compile.tensor.numerics.element_conversion import castable
from minitorch_compile.tensor.numerics.rounding import TELLS_APART, WIDE_FORMS, computes_in, rounded, widened
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, wrap, wrap_row_major

# As far from the margin as the docstring's other lines, which Python moves there itself from 3.13 on.
MARGIN = "" if sys.version_info >= (3, 13) else "    "
IN_PLACE = f"\n\n{MARGIN}In place: the result is stored in the tensor itself, which is returned."
INFERENCE_WRITTEN = (
    "Inplace update to inference tensor outside InferenceMode is not allowed."
    "You can make a clone to get a normal tensor before doing inplace update."
    "See https://github.com/pytorch/rfcs/pull/17 for more details."
)
UNTRACKED_VIEW_WRITTEN = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case"
    " is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace"
    " either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want"
    " the inplace to be tracked)."
)


Ints = tuple[int, ...]


class ReductionOp(Op):
    """Collapses dimensions. The row's parameters start with `input, dim, keepdim`; the kernel gets `dim` as a tuple.

    `dtype_rule` maps the input's dtype (and the `dtype` argument, if the op has one) to the result's.
    """

    kind = "reduction"

    def __init__(
        self,
        kernel: Callable[..., Any],
        *,
        dtype_rule: Callable[[dtype], dtype],
        empty: bool = True,
        no_dims_mean_all: bool = True,
        floats_asked: bool = False,
        **row: Any,
    ) -> None:
        super().__init__(kernel, **row)
        self.dtype_rule = dtype_rule
        self.no_dims_mean_all = no_dims_mean_all
        self.floats_asked = floats_asked
        self.empty = empty  # whether the reduction of no elements has a value
        self._dtype_at = self.positions.get("dtype")

    def _result_dtype(self, bound: Sequence[Any]) -> dtype:
        if bound[0].dtype.is_complex and self.name not in complex_support.REDUCTIONS:
            raise complex_support.unsupported(self.name, bound[0].dtype)
        asked = bound[self._dtype_at] if self._dtype_at is not None else None
        if not bound[0].dtype.by_numpy:
            refuse_stored(self.name, asked or bound[0].dtype)
        if self.floats_asked and asked is not None and asked.category < FLOATING:
            raise RuntimeError(f"{self.name}: the dtype asked for must be floating point or complex, got {asked}")
        return asked or self.dtype_rule(bound[0].dtype)

    def _dims(self, bound: Sequence[Any]) -> tuple[int, ...]:
        input = self.tensor_argument(bound, 0)
        dims = self.dims_of(bound[1], len(input.sizes))
        if not self.empty and any(input.sizes[d] == 0 for d in dims):
            raise (RuntimeError if bound[1] is None else IndexError)(
                f"{self.name}(): Expected reduction dim to have non-zero size, got sizes {list(input.sizes)} and dim"
                f" {bound[1]}"
            )
        return dims

    def dims_of(self, dim: Any, ndim: int) -> tuple[int, ...]:
        """The dimensions to collapse; those of the frequent cases are worked out once."""
        if not self.no_dims_mean_all and isinstance(dim, list | tuple) and not dim:
            return ()
        if dim is not None and type(dim) not in (int, tuple):
            return wrap_dims(dim, ndim)
        try:
            return _known_dims(dim, ndim)
        except TypeError:  # a dimension that is an unknown number
            return wrap_dims(dim, ndim)

    def eager(self, *bound: Any) -> TensorBase:
        dims, result = self._dims(bound), self._result_dtype(bound)
        array = widened(bound[0].array)
        if result is not bound[0].dtype and self._dtype_at is not None:
            array = castable(array, result.numpy).astype(computes_in(result), copy=False)
        value = quietly(self.kernel, array, dims, *bound[2:])
        if value.dtype != result.numpy:
            value = value.astype(result.numpy)
        if type(value) is not np.ndarray:  # NumPy makes a scalar of what is 0-d
            value = np.asarray(value)
        return wrap(value if value.flags.c_contiguous else np.ascontiguousarray(value))

    def meta_rule(self, *bound: Any) -> TensorBase:
        dims, keepdim = self._dims(bound), bound[self.positions["keepdim"]]
        sizes = tuple(1 if d in dims else n for d, n in enumerate(bound[0].sizes) if keepdim or d not in dims)
        return empty_fake(sizes, None, self._result_dtype(bound))


_known_dims = lru_cache(1024)(wrap_dims)


class ViewOp(Op):
    """Looks at the same storage in another way. The decorated rule maps (input, ...) to (sizes, strides, offset)."""

    kind = "view"
    gives_views = True

    def __init__(self, rule: Callable[..., Any], *, differentiable: bool = True, **row: Any) -> None:
        super().__init__(rule, **row)
        self.differentiable = differentiable  # whether writing into the view changes the history of its base
        self.remembered = lru_cache(4096)(self._layout_from_zero)

    def _layout_from_zero(self, sizes: Size, strides: Ints, *arguments: Any) -> tuple[Size, Ints, int]:
        new_sizes, new_strides, offset = self.kernel(empty_fake(sizes, strides), *arguments)
        return Size(new_sizes), tuple(new_strides), offset

    def layout(self, input: TensorBase, arguments: tuple[Any, ...]) -> tuple[Sequence[int], Sequence[int], int]:
        """What the rule says. A program asks for the same views of the same sizes again and again, so it is remembered,
        as offsets from where the input starts."""
        if self.name == "as_strided":  # its offset is that of the storage
            return self.kernel(input, *arguments)
        try:
            sizes, strides, offset = self.remembered(input.sizes, input.strides, *arguments)
        except TypeError:  # a list can't be remembered
            return self.kernel(input, *arguments)
        return sizes, strides, input.offset + offset

    def run_plain(self, args: tuple[Any, ...]) -> Any:
        return self.run_bound(self.bind(args, {}))

    def run_bound(self, bound: tuple[Any, ...]) -> Any:
        """As Op.run_bound; what has data is seen in the same way in any memory."""
        input = bound[0]
        if getattr(input, "_array", None) is not None or not is_elsewhere(input) or input.storage.block is not None:
            return self.eager(*bound)
        return super().run_bound(bound)

    def eager(self, *bound: Any) -> TensorBase:
        input = self.tensor_argument(bound, 0)
        view = input.as_view(*self.layout(input, bound[1:]))
        if not self.differentiable:
            view.base, view._requires_grad = None, False
        return view

    def meta_rule(self, *bound: Any) -> TensorBase:
        return self.eager(*bound)


class KernelOp(Op):
    """Any other op with a kernel; its shape rule is written beside it: `@matmul.shape_rule`.

    The kernel's tensors are NumPy arrays (a list of arrays for a list of tensors); it returns an array or a tuple of
    arrays.
    """

    def __init__(self, kernel: Callable[..., Any], *, kind: str, rows: bool = False, **row: Any) -> None:
        super().__init__(kernel, **row)
        self.kind = kind
        self.rows = rows
        self.shape_depends_on_data = False  # such an op can't be traced; its rule only checks the arguments
        self._rule: Callable[..., Any] | None = None
        self._remembered = lru_cache(4096, typed=True)(self._rule_of_looks)

    def shape_rule(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the rule: parameters as the kernel's, tensors in, one fake tensor or a tuple of them out."""
        self._rule = rule
        return rule

    def run_bound(self, bound: tuple[Any, ...]) -> Any:
        if in_use and (known := run_again(self, bound)) is not None:
            return known
        promised = self._promised(bound)
        arrays = list(bound)
        for i in self.tensor_parameters:
            value = bound[i]
            array = getattr(value, "_array", None)
            if array is None and is_elsewhere(value):
                return self.run_elsewhere(bound, promised)
            arrays[i] = _to_arrays(value, self, i) if array is None or not value.dtype.by_numpy else array
        result = quietly(self.kernel, *arrays)
        if self.shape_depends_on_data:
            element = bound[0].dtype
            return (
                tuple(wrap(_narrowed(r, element)) for r in result)
                if isinstance(result, tuple)
                else wrap(_narrowed(result, element))
            )
        if isinstance(result, tuple):
            return tuple(as_promised(r, p) for r, p in zip(result, promised, strict=True))
        return as_promised(result, promised)

    def _promised(self, bound: tuple[Any, ...]) -> Any:
        """What the rule says, which also checks the arguments, for real tensors too. A program asks for the same sizes
        again and again, so it is remembered."""
        looks = None if self.shape_depends_on_data else looks_of(bound)
        return self.meta_rule(*bound) if looks is None else self._remembered(*looks)

    def _rule_of_looks(self, *looks: Any) -> Any:
        """What the rule says of tensors that look so; other arguments stand for themselves."""
        return self.meta_rule(*map(_stand_in, looks))

    def meta_rule(self, *bound: Any) -> Any:
        if self._rule is None:
            raise NotImplementedError(f"{self.name}: declare its @{self.name}.shape_rule")
        return self._rule(*bound)


def looks_of(values: Sequence[Any]) -> list[Any] | None:
    """Of each tensor in main memory its sizes, strides and dtype, of a list those of its tensors; of another argument
    itself. None if a tensor is elsewhere, or one of the arguments can't be remembered."""
    looks: list[Any] = []
    for value in values:
        if isinstance(value, TensorBase):
            if value._array is None and is_elsewhere(value):
                return None
            looks.append((value.sizes, value.strides, value.dtype))
        elif type(value) in VALUES and type(value) is not slice:  # which has a hash in newer Pythons only
            looks.append(value)
        elif type(value) in (list, tuple) and value and isinstance(value[0], TensorBase):
            inner = looks_of(value)
            if inner is None:
                return None
            looks.append((list, *inner))
        else:
            return None
    return looks


def _stand_in(look: Any) -> Any:
    """What looks so, and has no data."""
    if type(look) is not tuple:
        return look
    return list(map(_stand_in, look[1:])) if look[0] is list else empty_fake(*look)


def _narrowed(result: Any, element: dtype) -> np.ndarray:
    """A result among whose elements are those of an argument: they get back its dtype."""
    array = np.asarray(result)
    return rounded(array, element) if array.dtype == WIDE_FORMS.get(element.numpy) else array


def as_promised(result: Any, promised: TensorBase) -> TensorBase:
    """What a kernel gives, as the tensor that the rule has said."""
    sizes, strides, element = promised.sizes, promised.strides, promised.dtype
    if type(result) is np.ndarray and result.flags.c_contiguous and result.dtype is element.numpy:
        if result.shape == sizes and strides == contiguous_strides(sizes):  # nearly always
            return wrap_row_major(result, sizes, strides, element)
    return wrap_as(rounded(result, element), strides)


def _to_arrays(value: Any, op: Op, position: int) -> Any:
    if isinstance(value, TensorBase):
        if value.dtype.by_numpy:
            return value.array
        refuse_kernel(op.name, op.kind, value.dtype)
        return value.array if op.name in TELLS_APART else widened(value.array)
    if isinstance(value, (list, tuple)):
        return [_to_arrays(item, op, position) for item in value]
    if value is None:
        return None
    raise TypeError(
        f"{op.name}(): argument '{op.parameters[position]}' (position {position + 1}) must be Tensor, not"
        f" {type(value).__name__}"
    )


class FactoryOp(Op):
    """Makes a tensor out of no tensor. The kernel returns an array; the rule gives (sizes, dtype) from the same
    parameters."""

    kind = "creation"

    def __init__(self, kernel: Callable[..., Any], *, kind: str = "creation", **row: Any) -> None:
        super().__init__(kernel, **row)
        self.kind = kind
        self._rule: Callable[..., tuple[Any, ...]] | None = None

    def shape_rule(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the rule: the kernel's parameters in, (sizes, dtype) out; and strides, unless row-major."""
        self._rule = rule
        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Also takes device, layout, pin_memory and requires_grad, and 0-d tensors for numbers."""
        if watching and (answer := overridden(self, args, kwargs)) is not MISSING:
            return answer
        options = {name: kwargs.pop(name) for name in TENSOR_OPTIONS & kwargs.keys()} if kwargs else {}
        if entered.devices:
            if options.get("device") is None:
                options["device"] = entered.devices[-1]
            with no_default_device():  # it has had its say: a mode may call this op again
                return self(*args, **kwargs, **options)
        if any(isinstance(value, TensorBase) for value in (*args, *kwargs.values())):
            out = {"out": kwargs.pop("out")} if "out" in kwargs else {}
            args, kwargs = self.bind(args, kwargs), out
        if options and options.get("device") is not None and Device(options["device"]).type == "meta":
            return with_options(self.meta(*args, **kwargs), **options)
        if options and options.get("device") is not None and Device(options["device"]).type in accelerators:
            return with_options(self._made_on(located(Device(options["device"])), args, kwargs), **options)
        result = super().__call__(*args, **kwargs)
        return with_options(result, **options) if options else result

    def _made_on(self, where: Device, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call, whose elements are computed on a device, unless nothing is computed at all."""
        before, entered.making = entered.making, where
        try:
            return super().__call__(*args, **kwargs)
        finally:
            entered.making = before

    def eager(self, *bound: Any) -> TensorBase:
        where = entered.making
        if where is not None:
            entered.making = None
            with where:  # the device's own generator is the one that is asked
                made: TensorBase = accelerators[where.type].make(self, bound, where)
            return made
        result = np.asarray(self.kernel(*bound))
        return wrap_as(result, self.meta_rule(*bound).strides) if "stride" in self.parameters else wrap(result)

    def meta_rule(self, *bound: Any) -> TensorBase:
        assert self._rule is not None
        sizes, element, *strides = self._rule(*bound)
        return empty_fake(sizes, strides[0] if strides else None, element)


class CompositeOp(Op):
    """Written in other ops. It has no kernel, derivative or lowering of its own: its body has them."""

    kind = "composite"
    recorded = False

    def __init__(self, kernel: Callable[..., Any], **row: Any) -> None:
        super().__init__(kernel, **row)
        self.node_name: Any = NODE_NAMES.get(self.name)

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if kwargs:
            kwargs = self._plain_keywords(in_torch_names(self, kwargs))
        if len(args) > self.first_number:
            args = plain(args, self.positional_numbers, self.name, self.parameters)
        if entered.devices and "options" not in self.parameters:
            tensors = all_tensors((*args, *kwargs.values()))
            if tensors and (where := device_of(tensors)) != entered.devices[-1]:
                with where:  # the body's own numbers belong to the tensors; the program's default is for the program's
                    return self.run(args, kwargs)
        try:
            result = self.kernel(*args, **kwargs)
        except MixedDevicesError:
            where = device_of(all_tensors((*args, *kwargs.values())))
            if where in entered.devices:
                raise
            with where:  # perhaps it was the body that made constants, in main memory
                result = self.kernel(*args, **kwargs)
        except MISTAKEN as error:
            return answered(self, args, kwargs, error)
        if isinstance(result, TensorBase):
            if result.base is not None:
                release_internal(result, args, kwargs)
        elif isinstance(result, tuple):
            for part in result:
                if isinstance(part, TensorBase) and part.base is not None:
                    release_internal(part, args, kwargs, result)
        if self.node_name is not None and grad_state.enabled:
            self._show_as_one(result, args, kwargs)
        return result

    def _show_as_one(self, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Lets the recorded graph have one node for this call; while it is traced or transformed, it is its body."""
        results = result if isinstance(result, tuple) else (result,)
        if tape and any(x.grad_fn is not None for x in results) and not (stacks.modes or stacks.transforms):
            name = self.node_name if isinstance(self.node_name, str) else self.node_name(*args, **kwargs)
            if name:
                tape[0].stand_before(name, results, (*args, *kwargs.values()))

    def run_plain(self, args: tuple[Any, ...]) -> Any:
        return self.run(args, {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs and "out" in kwargs:
            return call_with_out(self, args, kwargs, kwargs.pop("out"))
        if watching and (answer := overridden(self, args, kwargs)) is not MISSING:
            return answer
        if dispatching and self.name in SEEN_WHOLE and (answer := dispatched(self, args, kwargs)) is not MISSING:
            return answer
        return self.run(args, kwargs)

    def _plain_keywords(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords, with numbers where tensors stand for them."""
        fine = self.fine_keywords
        for name, value in kwargs.items():
            if name in fine and type(value) not in fine[name]:
                break
        else:
            return kwargs
        read = {}
        for position, reader, types in self.numbers:
            name = self.parameters[position]
            if name in kwargs:
                read[name] = plain((kwargs[name],), ((0, reader, types),), self.name, (name,))[0]
        return kwargs | read

    def meta_rule(self, *bound: Any) -> Any:
        return self.kernel(*bound)


def release_internal(
    result: TensorBase, args: tuple[Any, ...], kwargs: dict[str, Any], results: tuple[Any, ...] = ()
) -> None:
    """A result that its op's body made as a view of something that nobody else can see is no view for its user."""
    first = args[0] if args else None
    if isinstance(first, TensorBase) and (first is result.base or first.base is result.base):  # nearly always
        return
    if _holds((*args, *kwargs.values(), *(x for x in results if x is not result)), result.storage):
        return
    result.base, result.untracked = None, False
    for interpreter in stacks.modes if contexts else ():
        release = getattr(interpreter, "release", None)
        if release is not None:
            release(result)


def _holds(values: Iterable[Any], storage: Any) -> bool:
    """Whether one of the values, or of those in their lists, is a tensor with this storage."""
    for value in values:
        if isinstance(value, TensorBase):
            if value.storage == storage:
                return True
        elif isinstance(value, (list, tuple)) and _holds(value, storage):
            return True
    return False


class AliasOp(CompositeOp):
    """Another name for an op: absolute for abs."""

    def __init__(self, name: str, of: Op) -> None:
        super().__init__(of.kernel, name=name, namespaces=tuple(of.namespaces), gather_dims=of.gather_dims)
        self.of = of

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.of(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.of(*args, **kwargs)

    def meta_rule(self, *bound: Any) -> Any:
        return self.of.meta(*bound)


class InplaceCompositeOp(CompositeOp):
    """`x.clip_(0, 1)` where clip is composite: computes, then stores the result in the first argument."""

    def __init__(self, functional: CompositeOp, **row: Any) -> None:
        super().__init__(functional.kernel, name=f"{functional.name}_", **row)
        self.__doc__ = f"{self.__doc__}{IN_PLACE}"
        self.functional = functional

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result is computed from a copy where derivatives may need the old value after it is overwritten."""
        bound = self.bind(args, kwargs)
        target: Any = self.tensor_argument(bound, 0)
        traced = bool(contexts and stacks.modes)  # then it is not known who will require grad
        old = target.clone() if traced or any_requires_grad(bound, {}) else target
        try:
            result = self.functional(old, *args[1:], **kwargs)
        except TypeError as error:
            name_in_place(error, self)
            raise
        check_storable(self.name, target, result)
        return target.copy_(result)

    def meta_rule(self, *bound: Any) -> Any:
        return self(*bound)


class InplaceOp(Op):
    """`x.add_(y)`: stores the result of the functional op in its first argument, and counts the storage's version
    up."""

    kind = "inplace"

    def __init__(self, functional: Op, **row: Any) -> None:
        super().__init__(functional.kernel, name=f"{functional.name}_", **row)
        self.__doc__ = f"{self.__doc__}{IN_PLACE}"
        self.functional = functional
        self.gather_dims = functional.gather_dims

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        target = self.tensor_argument(args, 0)
        if target.storage.version < 0 and not grad_state.inference:
            raise RuntimeError(INFERENCE_WRITTEN)
        # A recorded operation arrives here without grad mode: this view is no part of what its base belongs to.
        if target.base is not None and grad_state.enabled and target.base.requires_grad:
            raise RuntimeError(UNTRACKED_VIEW_WRITTEN if target.untracked else leaf_written(self.name, target))
        if target.device is META:  # what has no data may be overwritten by anything, as in PyTorch
            result = self.functional.meta(*args, **kwargs)
        else:
            try:
                result = self.functional.run(args, kwargs)
            except TypeError as error:
                name_in_place(error, self)
                raise
        check_storable(self.name, target, result)
        if not (result.is_fake or target.is_fake):
            if result._array is None:
                target.store_result(result)
            else:
                target.store(result._array)
        elif not target.is_fake and result.device is META:
            raise NotImplementedError(f"{self.name}: {NO_DATA}")
        target.storage.version += 1
        return target

    def run_plain(self, args: tuple[Any, ...]) -> Any:
        return self.run(args, {})

    def meta_rule(self, *bound: Any) -> TensorBase:
        check_storable(self.name, bound[0], self.functional.meta_rule(*bound))
        return bound[0]


def name_in_place(error: TypeError, op: Any) -> None:
    """Makes an error say the name that was called: `mul_()`, where it says `mul()`."""
    meant = f"{op.functional.name}("
    error.args = tuple(
        f"{op.name}({said.removeprefix(meant)}" if isinstance(said, str) and said.startswith(meant) else said
        for said in error.args
    )


def leaf_written(name: str, target: TensorBase) -> str:
    """What a write is refused with that autograd would have to record on a leaf."""
    what = "a leaf Variable" if target.base is None else "a view of a leaf Variable"
    return (
        f"{what} that requires grad is being used in an in-place operation. ({name}; put it under torch.no_grad(), as"
        " optimizers do, or use the operation without the underscore.)"
    )


def check_storable(name: str, target: TensorBase, result: TensorBase) -> None:
    """RuntimeError, in PyTorch's words, unless `result` may be written into `target` in place."""
    if result.sizes != target.sizes:
        raise RuntimeError(
            f"{name}: output with shape {list(target.sizes)} doesn't match the broadcast shape {list(result.sizes)}"
        )
    if result.dtype.category > target.dtype.category:
        raise RuntimeError(
            f"{name}: result type {result.dtype} can't be cast to the desired output type {target.dtype}"
        )
    repeated = any(n > 1 and s == 0 for n, s in zip(target.sizes, target.strides, strict=True))
    if (
        repeated and 0 not in target.sizes and name != "fill_"
    ):  # one value everywhere can be stored in repeated elements, too
        raise RuntimeError(
            f"{name}: unsupported operation: more than one element of the written-to tensor refers to a single"
            " memory location. Please clone() it first."
        )
