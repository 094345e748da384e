"""The ops of torchvision's compiled library, beside what they mean: sample by sample, bin by bin, in plain loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.interop import torchvision_ops
from minitorch_compile.nn import functional as F

torchvision_ops.define()
vision = torch.ops.torchvision

ROIS = torch.tensor([[0, 1.3, 2.0, 7.5, 6.1], [1, 0.2, 0.3, 13.9, 20.0], [1, 3.0, 3.0, 3.2, 3.1]], dtype=torch.float64)
SCALE, BINS = 0.7, (3, 2)


def images(seed: int = 0) -> torch.Tensor:
    return torch.tensor(np.random.default_rng(seed).standard_normal((2, 12, 9, 7)))


def between_pixels(image: np.ndarray, y: float, x: float) -> float:
    """A sample of one channel: the four pixels around, none beyond the edge."""
    height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    pixels = ((i, j) for i in range(height) for j in range(width) if abs(i - y) < 1 and abs(j - x) < 1)
    return sum(image[i, j] * (1 - abs(i - y)) * (1 - abs(j - x)) for i, j in pixels)


def aligned_bin(image: np.ndarray, roi: np.ndarray, at: tuple[int, int], ratio: int, aligned: bool) -> float:
    x1, y1, x2, y2 = roi[1:] * SCALE - (0.5 if aligned else 0)
    height, width = (y2 - y1, x2 - x1) if aligned else (max(y2 - y1, 1), max(x2 - x1, 1))
    step_h, step_w = height / BINS[0], width / BINS[1]
    rows, columns = (ratio, ratio) if ratio > 0 else (math.ceil(step_h), math.ceil(step_w))
    samples = [
        between_pixels(image, y1 + (at[0] + (i + 0.5) / rows) * step_h, x1 + (at[1] + (j + 0.5) / columns) * step_w)
        for i in range(rows)
        for j in range(columns)
    ]
    return sum(samples) / max(len(samples), 1)


def whole_pixels(image: np.ndarray, roi: np.ndarray, at: tuple[int, int], wider: int) -> np.ndarray:
    x1, y1, x2, y2 = (int(math.floor(v * SCALE + 0.5)) for v in roi[1:])
    step_h, step_w = max(y2 - y1 + wider, 1) / BINS[0], max(x2 - x1 + wider, 1) / BINS[1]
    last = 1 - wider  # of averages, torchvision leaves out the last row and column
    top, bottom = (np.clip(v + y1, 0, image.shape[0] - last) for v in bounds(at[0], step_h))
    left, right = (np.clip(v + x1, 0, image.shape[1] - last) for v in bounds(at[1], step_w))
    return image[top:bottom, left:right]


def bounds(index: int, step: float) -> tuple[int, int]:
    return math.floor(index * step), math.ceil((index + 1) * step)


def by_loops(channels: int, bin_of: Callable[[int, np.ndarray, int, tuple[int, int]], float]) -> torch.Tensor:
    """What a function of image, region, channel and bin gives for all of them."""
    result = np.empty((len(ROIS), channels, *BINS))
    for k, c, i, j in itertools.product(*map(range, result.shape)):
        roi = ROIS.numpy()[k]
        result[k, c, i, j] = bin_of(int(roi[0]), roi, c, (i, j))
    return torch.tensor(result)


@pytest.mark.parametrize(("ratio", "aligned"), [(-1, True), (-1, False), (2, True), (2, False)])
def test_roi_align_averages_samples_between_pixels(ratio: int, aligned: bool) -> None:
    x = images()
    found = vision.roi_align(x, ROIS, SCALE, *BINS, ratio, aligned)
    expected = by_loops(12, lambda n, roi, c, at: aligned_bin(x.numpy()[n, c], roi, at, ratio, aligned))
    assert torch.allclose(found, expected)


def test_ps_roi_align_has_channels_for_each_bin() -> None:
    x = images()
    found, channels = vision.ps_roi_align(x, ROIS, SCALE, *BINS, 2)
    expected = by_loops(
        2,
        lambda n, roi, c, at: aligned_bin(x.numpy()[n, c * 6 + at[0] * 2 + at[1]], roi, at, 2, aligned=True),
    )
    assert torch.allclose(found, expected)
    assert channels.dtype is torch.int32 and channels[1].flatten().tolist() == list(range(12))


def test_roi_pool_takes_the_largest_pixel_of_a_bin() -> None:
    x = images()
    found, places = vision.roi_pool(x, ROIS, SCALE, *BINS)
    expected = by_loops(12, lambda n, roi, c, at: whole_pixels(x.numpy()[n, c], roi, at, 1).max(initial=-1e9))
    expected[expected == -1e9] = 0  # an empty bin
    assert torch.equal(found, expected)
    of_regions = x[ROIS[:, 0].long()].flatten(2)
    there = of_regions.gather(2, places.long().clamp(min=0).flatten(2)).reshape(found.shape)
    assert torch.equal(torch.where(places >= 0, there, torch.zeros_like(there)), found)


def test_ps_roi_pool_averages_whole_pixels() -> None:
    x = images()

    def average(n: int, roi: np.ndarray, c: int, at: tuple[int, int]) -> float:
        pixels = whole_pixels(x.numpy()[n, c * 6 + at[0] * 2 + at[1]], roi, at, 0)
        return float(pixels.mean()) if pixels.size else 0.0

    assert torch.allclose(vision.ps_roi_pool(x, ROIS, SCALE, *BINS)[0], by_loops(2, average))


def test_there_may_be_no_regions() -> None:
    x, none = images(), ROIS[:0]
    assert vision.roi_align(x, none, SCALE, *BINS, 2, True).shape == (0, 12, 3, 2)
    assert [y.shape for y in vision.ps_roi_align(x, none, SCALE, *BINS, 2)] == [(0, 2, 3, 2)] * 2
    assert [y.shape for y in vision.roi_pool(x, none, SCALE, *BINS)] == [(0, 12, 3, 2)] * 2
    nothing = torch.zeros(0, 12, 3, 2, dtype=torch.float64)
    assert vision._roi_align_backward(nothing, none, SCALE, *BINS, *x.shape, 2, True).abs().sum() == 0


@pytest.mark.parametrize("op", ["roi_align", "ps_roi_align", "roi_pool"])
def test_gradients_are_what_a_small_change_does(op: str) -> None:
    ratio = {"roi_align": (2, True), "ps_roi_align": (2,), "roi_pool": ()}[op]
    x, change = images(), images(1)
    found = getattr(vision, op)(x, ROIS, SCALE, *BINS, *ratio)
    result, *kept = [found] if op == "roi_align" else found
    grad = torch.linspace(-1, 1, result.numel(), dtype=torch.float64).reshape(result.shape)
    sizes, ratio_behind = x.shape, op == "roi_align"
    numbers = [*sizes, *ratio] if ratio_behind else [*ratio, *sizes]
    of_x = getattr(vision, f"_{op}_backward")(grad, ROIS, *(kept[:1]), SCALE, *BINS, *numbers)
    moved = getattr(vision, op)(x + 1e-6 * change, ROIS, SCALE, *BINS, *ratio)
    measured = (((moved if op == "roi_align" else moved[0]) - result) * grad).sum() / 1e-6
    assert torch.allclose((of_x * change).sum(), measured, rtol=1e-4)


def test_a_deformed_convolution_without_offsets_is_a_convolution() -> None:
    rng = np.random.default_rng(0)
    x, weight, bias = (torch.tensor(rng.standard_normal(s)) for s in ((2, 4, 8, 7), (6, 2, 3, 2), (6,)))
    expected = F.conv2d(x, weight, bias, (2, 1), (1, 2), (1, 2), groups=2)
    offset = torch.zeros(2, 2 * 2 * 6, *expected.shape[-2:], dtype=torch.float64)
    mask = torch.full((2, 2 * 6, *expected.shape[-2:]), 0.5, dtype=torch.float64)
    numbers = (2, 1, 1, 2, 1, 2, 2, 2)
    assert torch.allclose(vision.deform_conv2d(x, weight, offset, mask, bias, *numbers, False), expected)
    halved = vision.deform_conv2d(x, weight, offset, mask, torch.zeros_like(bias), *numbers, True)
    assert torch.allclose(halved, (expected - bias.reshape(1, -1, 1, 1)) / 2)


def test_a_deformed_convolution_looks_where_its_offsets_say() -> None:
    x = torch.arange(12, dtype=torch.float64).reshape(1, 1, 3, 4)
    one, none = torch.ones(1, 1, 1, 1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    offset = torch.tensor([0.5, -1.0], dtype=torch.float64).reshape(1, 2, 1, 1).expand(1, 2, 3, 4)
    found = vision.deform_conv2d(x, one, offset, one, none, 1, 1, 0, 0, 1, 1, 1, 1, False)
    # Half a row below and one column to the left; outside there are zeros.
    assert found[0, 0].tolist() == [[0, 2, 3, 4], [0, 6, 7, 8], [0, 4, 4.5, 5]]


def test_gradients_of_a_deformed_convolution_are_what_a_small_change_does() -> None:
    rng = np.random.default_rng(0)
    sizes = ((1, 2, 5, 5), (2, 2, 2, 2), (1, 8, 4, 4), (1, 4, 4, 4), (2,))
    tensors = [torch.tensor(rng.standard_normal(s)) for s in sizes]
    numbers = (1, 1, 0, 0, 1, 1, 1, 1, True)
    result = vision.deform_conv2d(*tensors, *numbers)
    grads = vision._deform_conv2d_backward(torch.ones_like(result), *tensors, *numbers)
    for position, grad in enumerate(grads):
        change = torch.tensor(rng.standard_normal(sizes[position])) * 1e-7
        moved = [x + change if i == position else x for i, x in enumerate(tensors)]
        measured = (vision.deform_conv2d(*moved, *numbers) - result).sum()
        assert torch.allclose((grad * change).sum(), measured, rtol=1e-4, atol=1e-12)


def test_nms_keeps_the_best_of_boxes_that_overlap() -> None:
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 0, 10, 10], [0, 0, 10, 4], [20, 20, 30, 30], [0, 0, 0, 0]])
    scores = torch.tensor([0.5, 0.9, 0.8, 0.1, 0.2])
    assert vision.nms(boxes, scores, 0.5).tolist() == [1, 2, 4, 3]
    assert vision.nms(boxes, scores, 0.3).tolist() == [1, 4, 3]
    assert vision.nms(boxes[:0], scores[:0], 0.3).dtype is torch.int64
    with pytest.raises(RuntimeError, match="scores must have a number for each of the 5 boxes"):
        vision.nms(boxes, scores[:2], 0.3)


def test_ops_on_quantised_tensors_have_names_only() -> None:
    with pytest.raises(NotImplementedError, match="qnms"):
        vision.qnms(torch.zeros(1, 4), torch.zeros(1), 0.5)


def test_a_compiled_library_is_loaded_if_there_is_a_stand_in(tmp_path: Path) -> None:
    torch.ops.load_library(tmp_path / "torchvision" / "_C.so")
    assert str(tmp_path / "torchvision" / "_C.so") in torch.ops.loaded_libraries
    torch.ops.loaded_libraries.discard(str(tmp_path / "torchvision" / "_C.so"))
    with pytest.raises(OSError, match=r"torchvision.image\.so: cannot be loaded"):
        torch.ops.load_library(tmp_path / "torchvision" / "image.so")
