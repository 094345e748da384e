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
max = return_type("max", "values", "indices")
median = return_type("median", "values", "indices")
min = return_type("min", "values", "indices")
mode = return_type("mode", "values", "indices")
nanmedian = return_type("nanmedian", "values", "indices")
sort = return_type("sort", "values", "indices")
topk = return_type("topk", "values", "indices")
