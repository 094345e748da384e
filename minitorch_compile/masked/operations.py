"""What an operation means for MaskedTensors, in tables by its name.

`PASSING` operations move elements: they are applied to data and mask. `UNARY` ones keep the mask, `BINARY` ones want
two masks that are the same. Reductions, `where` and `softmax` are decided above autograd (`FUNCTIONS`), all else below
it.

>>> from minitorch_compile import tensor
>>> from minitorch_compile.masked import masked_tensor
>>> masked_tensor(tensor([1, 2]), tensor([True, False])) + masked_tensor(tensor([1, 2]), tensor([False, True]))
Traceback (most recent call last):
ValueError: Input masks must match. If you need support for this, please open an issue on Github.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile import masked
from minitorch_compile.autograd import Function
from minitorch_compile.masked.masked_tensor import MaskedTensor, as_masked_tensor, is_masked_tensor, same
from minitorch_compile.pytree import tree_map
from minitorch_compile.sparse.creation import sparse_coo_tensor, sparse_csr_tensor
from minitorch_compile.tensor import Tensor, bool_, ops
from minitorch_compile.tensor.memory.memory_format import sparse_coo, sparse_csr, strided
from minitorch_compile.user_warnings import warn_user


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNARY = _words(
    "abs absolute acos acosh angle asin asinh atan atanh bitwise_not ceil clamp clip conj_physical cos cosh deg2rad"
    " detach digamma erf erfc erfinv exp exp2 expm1 fix floor fmod frac gammaln lgamma log log10 log1p log2 logit i0"
    " isnan logical_not nan_to_num neg negative positive pow rad2deg reciprocal remainder round rsqrt sgn sigmoid sign"
    " signbit sin sinc sinh sqrt square tan tanh trunc"
)
BINARY = _words(
    "add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div divide"
    " floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub subtract true_divide eq ne le ge"
    " greater greater_equal gt less_equal lt less maximum minimum fmax fmin not_equal"
)
PASSING = _words(
    "select transpose split t slice slice_backward select_backward index expand view _unsafe_view reshape cat unsqueeze"
    " squeeze permute unfold unfold_backward im2col col2im stack getitem index_select as_strided alias"
)
REDUCTIONS = ("sum", "mean", "amin", "amax", "argmin", "argmax", "prod", "all", "norm", "var", "std")
NOT_IMPLEMENTED = (
    "{} is not implemented in __torch_dispatch__ for MaskedTensor.\nIf you would like this operator to be supported,"
    " please file an issue for a feature request at https://github.com/pytorch/maskedtensor/issues with a minimal"
    " reproducible code snippet.\nIn the case that the semantics for the operator are not trivial, it would be"
    " appreciated to also include a proposal for the semantics."
)


def _data(value: Any) -> Any:
    return value._masked_data if is_masked_tensor(value) else value


def _mask(value: Any) -> Any:
    return value._masked_mask if is_masked_tensor(value) else value


def _together(data: Any, mask: Any) -> Any:
    """MaskedTensors of results, of which there may be several."""
    if isinstance(data, (list, tuple)):
        return type(data)(_together(x, m) for x, m in zip(data, mask))
    return MaskedTensor(data, mask.to(bool_)) if isinstance(data, Tensor) else NotImplemented  # gradients add masks


# ------------------------------------------------------------------------------------------------ below autograd


def dispatched(func: Any, args: Any, kwargs: Any) -> Any:
    """The result of an operation on MaskedTensors; NotImplemented, with a warning, if it has none."""
    name = func.__name__.partition(".")[0]
    base = name[:-1] if name.endswith("_") else name
    if name in OTHERS:
        return OTHERS[name](func, *args, **kwargs)
    if name in PASSING:
        data, mask = (tree_map(part, (args, kwargs)) for part in (_data, _mask))
        return _together(func(*data[0], **data[1]), func(*mask[0], **mask[1]))
    several = sum(isinstance(arg, Tensor) for arg in args[:2]) == 2
    if base in BINARY and (several or base not in UNARY):
        return _binary(func, args, kwargs, inplace=base != name)
    if base in UNARY:
        return _unary(func, args, kwargs, inplace=base != name)
    warn_user(NOT_IMPLEMENTED.format(name))
    return NotImplemented


def _on_values(func: Callable[..., Any], data: Any, others: list[Any], kwargs: Any) -> Any:
    """The operation on the data; on its values, if it is sparse."""
    layout = getattr(data, "layout", strided)  # there may be a number on the left
    if layout is sparse_coo:
        return sparse_coo_tensor(data.indices(), func(data.values(), *others, **kwargs), data.size())
    if layout is sparse_csr:
        values = func(data.values(), *others, **kwargs)
        return sparse_csr_tensor(data.crow_indices(), data.col_indices(), values, data.size())
    return func(data, *others, **kwargs)


def _finish(first: Any, data: Any, mask: Any, inplace: bool) -> Any:
    if not inplace:
        return MaskedTensor(data, mask)
    first._masked_data, first._masked_mask = data, mask
    return first


def _unary(func: Any, args: Any, kwargs: Any, inplace: bool) -> Any:
    for value in args[1:]:
        if isinstance(value, Tensor):
            raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    first = args[0]
    return _finish(first, _on_values(func, _data(first), list(args[1:]), kwargs), _mask(first), inplace)


def _binary(func: Any, args: Any, kwargs: Any, inplace: bool) -> Any:
    first, second, *rest = args
    for value in rest:
        if isinstance(value, Tensor):
            raise TypeError("MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs")
    masks = [x._masked_mask for x in (first, second) if is_masked_tensor(x)]
    if len(masks) == 2 and not (masks[0].layout is masks[1].layout and _masks_match(*masks)):
        raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    data, other = _data(first), _data(second)
    if getattr(data, "layout", strided) is not strided and getattr(other, "layout", None) is data.layout:
        if data.layout is sparse_coo and not same(data.indices(), other.indices()):
            raise ValueError(
                "sparse_coo indices must match. If you need support for this, please open an issue on Github."
            )
        other = other.values()
    result = _on_values(func, data, [other, *rest], kwargs)
    mask = masks[0].expand(result.shape) if result.layout is strided else masks[0]
    return _finish(first, result, mask, inplace)


def _masks_match(first: Any, second: Any) -> bool:
    return first.dim() == second.dim() and same(first, second)


def _on_data(func: Any, first: Any, *args: Any, **kwargs: Any) -> Any:
    return MaskedTensor(func(_data(first), *args, **kwargs), _mask(first))


def _copied_to(func: Any, first: Any, *args: Any, **kwargs: Any) -> Any:
    return MaskedTensor(func(_data(first), *args, **kwargs), func(_mask(first), *args, **kwargs).to(bool_))


def _where(func: Any, condition: Any, first: Any, second: Any) -> Any:
    first, second = (
        x if is_masked_tensor(x) else MaskedTensor(x, ops.ones_like(x, dtype=bool_)) for x in (first, second)
    )
    return MaskedTensor(func(condition, _data(first), _data(second)), func(condition, _mask(first), _mask(second)))


def _sum_to(func: Any, first: Any, *args: Any, **kwargs: Any) -> Any:
    """Sums that gradients ask for where the program has repeated something."""
    zeros = ops.where(_mask(first), _data(first), ops.scalar_tensor(0, dtype=first.dtype))
    return MaskedTensor(func(zeros, *args, **kwargs), func(_mask(first), *args, **kwargs).to(bool_))


OTHERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("clone", "detach", "ones_like", "zeros_like", "contiguous"), _on_data),
    "_to_copy": _copied_to,
    "where": _where,
    "sum": _sum_to,
}

# ------------------------------------------------------------------------------------------------ above autograd


class _Where(Function):
    """The gradient of each side counts where that side was taken."""

    @staticmethod
    def forward(ctx: Any, condition: Any, first: Any, second: Any) -> Any:
        ctx.condition = condition
        return _where(ops.where, condition, first, second)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        nothing = MaskedTensor(_data(grad), ops.zeros_like(_data(grad), dtype=bool_))
        return (
            None,
            _where(ops.where, ctx.condition, grad, nothing),
            _where(ops.where, ctx.condition, nothing, grad),
        )


class _Softmax(Function):
    """exp(x) / sum(exp(x)) of what counts, 0 elsewhere."""

    @staticmethod
    def forward(ctx: Any, masked: Any, dim: int) -> Any:
        mask = _mask(masked)
        found = ops.softmax(ops.where(mask, _data(masked), float("-inf")), dim)
        ctx.result, ctx.dim = ops.where(mask, found, 0.0), dim
        return MaskedTensor(ctx.result, mask)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        weighted = ctx.result * ops.where(_mask(grad), _data(grad), 0.0)
        return MaskedTensor(weighted - ctx.result * ops.sum(weighted, ctx.dim, True), _mask(grad)), None


class _ToLayout(Function):
    """The same elements in another layout; the gradient comes back in the one before."""

    @staticmethod
    def forward(ctx: Any, masked: Any, convert: Callable[[Any, Any], Any]) -> Any:
        return MaskedTensor(*convert(masked._masked_data, masked._masked_mask))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return MaskedTensor(grad._masked_data.to_dense(), grad._masked_mask.to_dense()), None


def _coo(data: Any, mask: Any) -> Any:
    chosen = mask.to_sparse().coalesce()
    return data.sparse_mask(chosen), chosen


def _csr(data: Any, mask: Any) -> Any:
    chosen = mask.to_sparse_csr()
    values = data[_rows(chosen), chosen.col_indices()]
    return sparse_csr_tensor(chosen.crow_indices(), chosen.col_indices(), values, data.size()), chosen


def _rows(chosen: Any) -> Any:
    counts = ops.diff(chosen.crow_indices())
    return ops.repeat_interleave(ops.arange(len(counts)), counts)


def _dense(data: Any, mask: Any) -> Any:
    return data.to_dense(), mask.to_dense()


def _to(convert: Callable[[Any, Any], Any], already: Any) -> Callable[..., Any]:
    def converted(masked: Any) -> Any:
        if convert is _csr and masked.dim() != 2:
            raise ValueError(f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {masked.size()}")
        return masked if masked.layout is already else _ToLayout.apply(masked, convert)

    return converted


def _reduce(name: str) -> Callable[..., Any]:
    """A reduction of a MaskedTensor: the function of that name, with a mask of where anything counts."""

    def reduced(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_masked_tensor(input):
            raise TypeError(f"Input to {name} must be a MaskedTensor")
        if input.layout is not strided:
            return _sparse_reduced(name, input, args, kwargs)
        options = dict(zip(("dim", "keepdim", "dtype"), args)) | kwargs
        dim, keepdim = options.get("dim"), bool(options.get("keepdim", False))
        mask = input.get_mask()
        if name == "all":
            filled = input.get_data().masked_fill(~mask, True)
            result = filled.all() if dim is None else ops.all(filled, dim, keepdim)
        else:
            result = getattr(masked, name)(input, mask=mask, **options)
        return as_masked_tensor(result, mask.any() if dim is None else _any(mask, dim, keepdim))

    return reduced


def _any(mask: Any, dim: Any, keepdim: bool) -> Any:
    for d in sorted([dim] if isinstance(dim, int) else dim, reverse=True):
        mask = ops.any(mask, d, keepdim)
    return mask


def _sparse_reduced(name: str, input: Any, args: Any, kwargs: Any) -> Any:
    if args or kwargs or name in ("argmin", "argmax"):
        raise TypeError(
            f"The sparse version of {name} is not implemented in reductions of one dimension; take to_dense() first"
        )
    data, mask = input._masked_data.values(), input._masked_mask.values()
    return _reduce(name)(MaskedTensor(data, mask))


LAYOUTS: dict[str, Callable[..., Any]] = {
    "to_sparse": _to(_coo, sparse_coo),
    "to_sparse_csr": _to(_csr, sparse_csr),
    "to_dense": _to(_dense, strided),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _reduce(name) for name in REDUCTIONS},
    "where": lambda condition, first, second: _Where.apply(condition, first, second),
    "softmax": lambda input, dim, *options, **named: _Softmax.apply(input, dim),
}
