"""The slot for rows whose gradient is sparse: what `sparse/` registers, which this floor can't import.

>>> import minitorch_compile as torch
>>> rows
<function sparse_rows at ...>
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

rows: Callable[[Any, Any, int | None], Any]  # (input, weight, padding_idx) -> rows
