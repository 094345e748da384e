"""What ops with several results return: tuples whose items have names. `torch.return_types` has them.

>>> from minitorch_compile.tensor import tensor
>>> tensor([1.0, 3.0]).max(0)
torch.return_types.max(
values=tensor(3.),
indices=tensor(1))
>>> values, indices = tensor([3.0, 1.0]).sort()
>>> tensor([3.0, 1.0]).sort().values
tensor([1., 3.])
>>> max((1, 2)).indices, max.n_fields
(2, 2)
"""

from __future__ import annotations

from collections import namedtuple
from inspect import Parameter, Signature
from typing import Any

_tuple_new = tuple.__new__  # by which the tracer knows that making one is making a tuple

# What they are made of, as PyTorch says it; of named tuples, the items one by one are taken, too.
ITERABLE = Signature([Parameter("iterable", Parameter.POSITIONAL_ONLY, default=())])
WITHOUT_OUT = ("histogramdd",)

all_return_types: list[type] = []


def return_type(name: str, *fields: str) -> Any:
    """A class of named tuples that print as PyTorch's do. Results that `out=` stores are of another, `name_out`."""
    made = _class(name, fields)
    if name not in WITHOUT_OUT:
        made.of_out = globals()[f"{name}_out"] = _class(f"{name}_out", fields)
    return made


def _class(name: str, fields: tuple[str, ...]) -> Any:
    made = namedtuple(name, fields, module=__name__)  # type: ignore[misc]  # the name is that of the op
    made.__new__, made.__repr__ = _new, _text  # type: ignore[method-assign,assignment]
    made.__signature__ = ITERABLE  # type: ignore[attr-defined]
    made.n_fields = made.n_sequence_fields = len(fields)  # type: ignore[attr-defined]
    made.n_unnamed_fields = 0  # type: ignore[attr-defined]
    all_return_types.append(made)
    return made


def _new(cls: Any, *items: Any) -> Any:
    """Of an iterable, as PyTorch has it, or of the items. TypeError unless there are as many as fields."""
    values = tuple(items[0]) if len(items) == 1 and cls.n_fields > 1 else items
    if len(values) != cls.n_fields:
        raise TypeError(
            f"torch.return_types.{cls.__name__}() takes a {cls.n_fields}-sequence ({len(values)}-sequence given)"
        )
    return _tuple_new(cls, values)


def _text(result: Any) -> str:
    items = ",\n".join(f"{field}={value!r}" for field, value in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n{items})"


def pytree_register_structseq(cls: type) -> None:
    """Makes a class of such tuples known to pytrees: named tuples are."""


aminmax = return_type("aminmax", "min", "max")
cummax = return_type("cummax", "values", "indices")
cummin = return_type("cummin", "values", "indices")
frexp = return_type("frexp", "mantissa", "exponent")
geqrf = return_type("geqrf", "a", "tau")
histogram = return_type("histogram", "hist", "bin_edges")
histogramdd = return_type("histogramdd", "hist", "bin_edges")
kthvalue = return_type("kthvalue", "values", "indices")
linalg_cholesky_ex = return_type("linalg_cholesky_ex", "L", "info")
linalg_eig = return_type("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_inv_ex = return_type("linalg_inv_ex", "inverse", "info")
linalg_ldl_factor = return_type("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = return_type("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lstsq = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = return_type("linalg_lu", "P", "L", "U")
linalg_lu_factor = return_type("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = return_type("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_qr = return_type("linalg_qr", "Q", "R")
lu_unpack = return_type("lu_unpack", "P", "L", "U")
linalg_slogdet = return_type("linalg_slogdet", "sign", "logabsdet")
linalg_solve_ex = return_type("linalg_solve_ex", "result", "info")
linalg_svd = return_type("linalg_svd", "U", "S", "Vh")
max = return_type("max", "values", "indices")
median = return_type("median", "values", "indices")
min = return_type("min", "values", "indices")
mode = return_type("mode", "values", "indices")
nanmedian = return_type("nanmedian", "values", "indices")
qr = return_type("qr", "Q", "R")
slogdet = return_type("slogdet", "sign", "logabsdet")
sort = return_type("sort", "values", "indices")
svd = return_type("svd", "U", "S", "V")
topk = return_type("topk", "values", "indices")
triangular_solve = return_type("triangular_solve", "solution", "cloned_coefficient")
