"""What ops with several results return: tuples whose items have names. `torch.return_types` has them.

>>> from minitorch_compile.tensor import tensor
>>> tensor([1.0, 3.0]).max(0)
torch.return_types.max(
values=tensor(3.),
indices=tensor(1))
>>> values, indices = tensor([3.0, 1.0]).sort()
>>> tensor([3.0, 1.0]).sort().values
tensor([1., 3.])
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def return_type(name: str, *fields: str) -> Any:
    """A class of named tuples that print as PyTorch's do."""
    made = namedtuple(name, fields, module=__name__)  # type: ignore[misc]  # the name is that of the op
    made.__repr__ = _text  # type: ignore[method-assign]
    return made


def _text(result: Any) -> str:
    items = ",\n".join(f"{field}={value!r}" for field, value in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n{items})"


aminmax = return_type("aminmax", "min", "max")
cummax = return_type("cummax", "values", "indices")
cummin = return_type("cummin", "values", "indices")
frexp = return_type("frexp", "mantissa", "exponent")
histogram = return_type("histogram", "hist", "bin_edges")
kthvalue = return_type("kthvalue", "values", "indices")
linalg_cholesky_ex = return_type("linalg_cholesky_ex", "L", "info")
linalg_eig = return_type("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_inv_ex = return_type("linalg_inv_ex", "inverse", "info")
linalg_lstsq = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = return_type("linalg_lu", "P", "L", "U")
linalg_lu_factor = return_type("linalg_lu_factor", "LU", "pivots")
linalg_qr = return_type("linalg_qr", "Q", "R")
lu_unpack = return_type("lu_unpack", "P", "L", "U")
linalg_slogdet = return_type("linalg_slogdet", "sign", "logabsdet")
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
