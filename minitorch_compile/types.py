"""torch.types: names for annotations.

>>> isinstance(2.5, Number), isinstance("cpu", Device)
(True, True)
"""

import os
from collections.abc import Sequence

from minitorch_compile.tensor import Tensor, device, dtype

Number = int | float | bool
Device = device | str | int | None
_dtype, _device = dtype, device
_int, _float, _bool = int, float, bool
_size = Sequence[int]
FileLike = str | os.PathLike[str]
TensorOrTensors = Tensor | Sequence[Tensor]
