"""The methods by which an ordinary tensor becomes a sparse one, and those that only sparse ones have.

>>> from minitorch_compile import ones, tensor
>>> tensor([0.0, 2.0]).to_sparse().values(), ones(2).to_dense()
(tensor([2.]), tensor([1., 1.]))
>>> ones(2).coalesce()
Traceback (most recent call last):
RuntimeError: coalesce expected sparse coordinate tensor layout but got Strided
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.nn.functional import sparse_slot
from minitorch_compile.sparse import creation
from minitorch_compile.sparse.embedding import sparse_rows
from minitorch_compile.sparse.sparse_tensor import CooTensor
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.tensor_base import wrap

COORDINATE = ("indices", "coalesce", "is_coalesced")
OTHERS = {"values": "sparse", "crow_indices": "sparse row compressed", "col_indices": "sparse row compressed"}


def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """The tensor itself, or in another `dtype`; of a sparse tensor, one with all of its zeros. `masked_grad`: whether
    its gradient is wanted only where elements are stored.

    >>> torch.eye(2).to_sparse().to_dense()
    tensor([[1., 0.],
            [0., 1.]])
    """
    return self if dtype is None else self.to(dtype)


def sparse_mask(self: Any, mask: Any) -> Any:
    """The elements at the places of a sparse tensor."""
    if self.sizes != mask.sizes:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.sizes)} but mask has size"
            f" {list(mask.sizes)}"
        )
    places = mask.coalesce() if isinstance(mask, CooTensor) else mask.to_sparse()
    values = ops.index(self.to_dense(), [wrap(row.copy()) for row in places._indices().array])
    made = places.like(values)
    return made if isinstance(mask, CooTensor) else made.to_sparse_csr()


def _refusing(name: str, wanted: str) -> Callable[..., Any]:
    def method(self: Any) -> Any:
        raise RuntimeError(f"{name} expected {wanted} tensor layout but got Strided")

    method.__name__ = name
    return method


def _give_methods() -> None:
    """Puts the methods on Tensor; the sparse classes have their own."""
    made: dict[str, Any] = {name: _refusing(name, "sparse coordinate") for name in COORDINATE}
    made |= {name: _refusing(name, wanted) for name, wanted in OTHERS.items()}
    made |= {"to_sparse": creation.to_sparse, "to_sparse_coo": creation.to_sparse_coo}
    made |= {"to_sparse_csr": creation.to_sparse_csr, "to_dense": to_dense, "sparse_mask": sparse_mask}
    made |= {"sparse_dim": lambda self: 0, "dense_dim": lambda self: len(self.sizes)}
    for name, method in made.items():
        setattr(Tensor, name, method)


_give_methods()
sparse_slot.rows = sparse_rows
