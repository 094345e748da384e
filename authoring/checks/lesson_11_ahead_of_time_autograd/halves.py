"""What the judges of the partition share: a joint graph of a small program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def joint_of(mini: Any, f: Any) -> Any:
    """x of (2, 3) wants no gradient, w of (3, 2) does."""
    x, w = mini.tensor.fake((2, 3), np.float64), mini.tensor.fake((3, 2), np.float64)
    w.requires_grad = True
    return mini.aot.joint_graph(mini.aot.Functional(mini.graph.trace(f, x, w)))


def listed(nodes: Iterable[Any]) -> str:
    return ", ".join(sorted(map(str, nodes)))
