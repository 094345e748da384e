"""A tensor with a mask: which of its elements count.

>>> from minitorch_compile import tensor
>>> x = masked_tensor(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([[True, False], [True, True]]), requires_grad=True)
>>> x.exp().sum(0)
MaskedTensor(
  [ 22.8038,  54.5981]
)
>>> x.exp().sum().backward()
>>> x.grad
MaskedTensor(
  [
    [  2.7183,       --],
    [ 20.0855,  54.5981]
  ]
)

It has no data of its own: each operation that reaches it, those of its gradients too, is one on its data and, where it
moves elements, one on its mask (`operations.py`).
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd import Function
from minitorch_compile.tensor import Tensor, bool_, float16, float32, float64, int8, int16, int32, int64, ops
from minitorch_compile.tensor.dispatch.overrides import watching
from minitorch_compile.tensor.dispatch.torch_dispatch import dispatching
from minitorch_compile.tensor.memory.memory_format import layout as Layout
from minitorch_compile.tensor.memory.memory_format import sparse_coo, sparse_csr, strided
from minitorch_compile.user_warnings import warn_user

DTYPES = (float16, float32, float64, bool_, int8, int16, int32, int64)
PROTOTYPE = (
    "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. Please open a Github"
    " issue for features requests and see our documentation on the torch.masked module for further information about"
    " the project."
)


def _ask_from_now_on() -> None:
    """Operations ask whether their arguments are masked once there is such a tensor: before, it would only cost."""
    for classes in (watching, dispatching):
        if MaskedTensor not in classes:
            classes.append(MaskedTensor)


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether it is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


class MaskedTensor(Tensor):
    """`data` with `mask`, both copied. TypeError or ValueError for what doesn't fit together."""

    _masked_data: Any
    _masked_mask: Any

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        for name, value in (("data", data), ("mask", mask)):
            if is_masked_tensor(value) or not isinstance(value, Tensor):
                raise TypeError(f"{name} must be a Tensor")
        warn_user(PROTOTYPE)
        _ask_from_now_on()
        if data.requires_grad:
            warn_user(
                "It is not recommended to create a MaskedTensor with a tensor that requires_grad. To avoid this, you"
                " can use data.detach().clone()"
            )
        return Tensor._make_wrapper_subclass(
            cls, data.size(), dtype=data.dtype, device=data.device, requires_grad=requires_grad
        )

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        if data.layout is not mask.layout:
            raise TypeError("data and mask must have the same layout.")
        if data.layout is sparse_coo:
            data, mask = data.coalesce(), mask.coalesce()
            if len(data.values()) != len(mask.values()):
                data = data.sparse_mask(mask)
        _check(data, mask)
        self._masked_data, self._masked_mask = data.detach().clone(), mask.clone()

    @property
    def layout(self) -> Layout:
        """That of the data."""
        return self._masked_data.layout

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether the data is COO or CSR."""
        return self.layout is not strided

    def is_sparse_coo(self) -> bool:
        """Whether the data is COO."""
        return self.layout is sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether the data is CSR."""
        return self.layout is sparse_csr

    def get_mask(self) -> Any:
        """Which elements count."""
        return self._masked_mask

    def get_data(self) -> Any:
        """All elements, also those that don't count."""
        return _GetData.apply(self)

    def to_tensor(self, value: Any) -> Any:
        """A tensor with `value` where nothing counts."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    def item(self) -> Any:
        """The only element as a number. ValueError if it doesn't count."""
        if not self._masked_mask:
            raise ValueError("__torch_dispatch__, aten._local_scalar_dense: expected a mask tensor")
        return self._masked_data.item()

    def to_sparse(self, *args: Any, **kwargs: Any) -> Any:
        """The same elements as COO."""
        return self._in_layout("to_sparse")

    def to_sparse_coo(self) -> Any:
        """The same elements as COO."""
        return self._in_layout("to_sparse")

    def to_sparse_csr(self, dense_dim: int | None = None) -> Any:
        """The same elements as CSR. ValueError unless it has two dimensions."""
        return self._in_layout("to_sparse_csr")

    def to_dense(self, *args: Any, **kwargs: Any) -> Any:
        """The same elements, strided."""
        return self._in_layout("to_dense")

    def _in_layout(self, name: str) -> Any:
        from minitorch_compile.masked.operations import LAYOUTS

        return LAYOUTS[name](self)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from minitorch_compile.masked.operations import FUNCTIONS

        rule = FUNCTIONS.get(getattr(func, "__name__", ""))
        if rule is not None:
            return rule(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from minitorch_compile.masked.operations import dispatched

        return dispatched(func, args, kwargs or {})

    def __repr__(self, **options: Any) -> str:
        data, mask = self._masked_data, self._masked_mask
        if data.layout is not strided:
            data, mask = data.to_dense(), mask.to_dense()
        if not self.dim():
            return f"MaskedTensor({_element(data.item()) if mask.item() else '--'}, {mask.item()})"
        return f"MaskedTensor(\n{_indented(_text(data, mask))}\n)"

    __str__ = __repr__


for _classes in (watching, dispatching):  # as the class was entered when it was made
    _classes.remove(MaskedTensor)


class _GetData(Function):
    @staticmethod
    def forward(ctx: Any, masked: Any) -> Any:
        ctx.mask = masked.get_mask()
        return masked._masked_data.detach()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad if is_masked_tensor(grad) else MaskedTensor(grad, ctx.mask)


class _FromValues(Function):
    @staticmethod
    def forward(ctx: Any, data: Any, mask: Any) -> Any:
        return MaskedTensor(data, mask)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, None


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A MaskedTensor that is a leaf: gradients stop at it."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """A MaskedTensor through which gradients reach the data."""
    made: MaskedTensor = _FromValues.apply(data, mask)
    return made


def same(first: Any, second: Any) -> bool:
    """Whether two tensors have the same elements, and sparse ones the same indices."""
    if first.layout is sparse_coo:
        return same(first.indices(), second.indices()) and same(first.values(), second.values())
    if first.layout is sparse_csr:
        parts = ((x.crow_indices(), x.col_indices(), x.values()) for x in (first, second))
        return all(same(x, y) for x, y in zip(*parts))
    return first.dim() == second.dim() and bool(ops.eq(first, second).all())


def _check(data: Any, mask: Any) -> None:
    """TypeError or ValueError unless they can be a MaskedTensor."""
    if data.layout is sparse_coo and not _same_places(data.indices(), mask.indices()):
        raise ValueError("data and mask are both sparse COO tensors but do not have the same indices.")
    if data.layout is sparse_csr:
        crow, col = data.crow_indices(), data.col_indices()
        if not (_same_places(crow, mask.crow_indices()) and _same_places(col, mask.col_indices())):
            raise ValueError("data and mask are both sparse CSR tensors but do not share either crow or col indices.")
    if mask.dtype is not bool_:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.size() != mask.size():
        raise ValueError("data.size() must equal mask.size()")


def _same_places(first: Any, second: Any) -> bool:
    return first.shape == second.shape and same(first, second)


def _element(value: Any) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _text(data: Any, mask: Any) -> str:
    """The elements in brackets, a line for each row."""
    if data.dim() == 1:
        known = mask.tolist()
        texts = [_element(value) for value in data.tolist()]
        width = max((len(text) if counts else 8 for text, counts in zip(texts, known)), default=0)
        return f"[{', '.join(text if counts else '--'.rjust(width) for text, counts in zip(texts, known))}]"
    rows = [_indented(_text(*pair)) for pair in zip(data, mask)]
    return "[\n" + ",\n".join(rows) + "\n]"


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))
