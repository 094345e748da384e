"""How far a result is from the truth, in units of the last place.

>>> import minitorch_compile as torch
>>> worst(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0], dtype=torch.float64))
(0.0, 0)
>>> off, place = worst(torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0], dtype=torch.float64))
>>> off, place
(inf, 1)
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.tensor import Tensor


def worst(result: Tensor, truth: Tensor) -> tuple[float, int]:
    """By how many ulps of float32 the worst element is off, and its place in row-major order.

    Equal infinities and NaN for NaN are right; a wrong infinity or NaN is infinitely far off.
    """
    got = result.detach().double().numpy().ravel()
    wanted = truth.detach().double().numpy().ravel()
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
        off = np.abs(got - wanted) / unit
    off = np.where((got == wanted) | (np.isnan(got) & np.isnan(wanted)), 0.0, np.where(np.isfinite(off), off, np.inf))
    place = int(off.argmax()) if off.size else 0
    return (float(off[place]) if off.size else 0.0), place
