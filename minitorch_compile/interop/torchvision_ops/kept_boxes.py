"""Non-maximum suppression: of boxes that say the same, the best one.

>>> from minitorch_compile import tensor
>>> nms(tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.0]]), tensor([0.5, 0.9]), 0.4)
tensor([1])
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.tensor import Tensor, from_numpy


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Which boxes (x1, y1, x2, y2) to keep, the best first: none that shares more than `iou_threshold` with a better
    one. RuntimeError for other sizes."""
    if dets.dim() != 2 or dets.size(1) != 4:
        raise RuntimeError(f"nms: dets must be boxes of 4 numbers each, (N, 4), but got sizes {list(dets.sizes)}")
    if scores.dim() != 1 or scores.size(0) != dets.size(0):
        raise RuntimeError(
            f"nms: scores must have a number for each of the {dets.size(0)} boxes, but got sizes {list(scores.sizes)}"
        )
    boxes = dets.numpy()
    left = np.argsort(-scores.numpy(), kind="stable")
    kept = []
    while left.size:
        best, left = left[0], left[1:]
        kept.append(best)
        left = left[~(_shared(boxes[best], boxes[left]) > iou_threshold)]
    return from_numpy(np.array(kept, np.int64))


def _shared(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of a box with others."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.maximum(sides, 0).prod(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return common / (_area(box) + _area(others) - common)


def _area(boxes: np.ndarray) -> np.ndarray:
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
