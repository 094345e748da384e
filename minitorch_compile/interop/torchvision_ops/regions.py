"""Regions of interest: boxes of feature maps, each cut into bins of which one number is made.

A region is (image, x1, y1, x2, y2). An average over a bin is one over its rows and then one over its columns, so what a
region is to an image is two small matrices: `rows @ image @ columns.T`. Its gradient has the same two, transposed.

>>> from minitorch_compile import arange, tensor
>>> image = arange(16, dtype=tensor(0.0).dtype).reshape(1, 1, 4, 4)
>>> roi_align(image, tensor([[0.0, 0.0, 0.0, 4.0, 4.0]]), 1.0, 2, 2, -1, True)
tensor([[[[ 2.5000,  4.5000],
          [10.5000, 12.5000]]]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from minitorch_compile.tensor import Tensor, from_numpy

Matrices = tuple[int, np.ndarray, np.ndarray]  # which image, what its rows and its columns are multiplied by
AlongAxis = Callable[[np.floating, np.floating, int, int], np.ndarray]  # from, to, bins, size -> (bins, size)


def roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_h: int, pooled_w: int, sampling_ratio: int, aligned: bool
) -> Tensor:
    """Averages of samples between pixels (He et al. 2017): (N, C, H, W) to (K, C, pooled_h, pooled_w).

    sampling_ratio: how many samples a bin has along an axis; 0 or less for one a pixel.
    aligned: whether a pixel's value is that of its middle; if not, a region is at least one pixel large.
    """
    along = _samples(sampling_ratio, aligned)
    pooled = pooled_h, pooled_w
    return _pooled(input, pooled, _matrices(rois, spatial_scale, pooled, input.shape[-2:], along))


def roi_align_backward(grad: Tensor, rois: Tensor, spatial_scale: float, *numbers: int) -> Tensor:
    """The gradient of the input, of which the numbers say the size."""
    *pooled, batch, channels, height, width, sampling_ratio, aligned = numbers
    along = _samples(sampling_ratio, bool(aligned))
    found = _matrices(rois, spatial_scale, pooled, (height, width), along)
    return _spread(grad, found, (batch, channels, height, width))


def ps_roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_h: int, pooled_w: int, sampling_ratio: int
) -> tuple[Tensor, Tensor]:
    """The same, position-sensitive (Dai et al. 2016): each bin has channels of its own. Also which channel each is."""
    along = _samples(sampling_ratio, aligned=True)
    pooled = pooled_h, pooled_w
    return _of_own_channels(_pooled(input, pooled, _matrices(rois, spatial_scale, pooled, input.shape[-2:], along)))


def ps_roi_align_backward(
    grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, *numbers: int
) -> Tensor:
    """The gradient of the input."""
    *pooled, sampling_ratio, batch, channels, height, width = numbers
    found = _matrices(rois, spatial_scale, pooled, (height, width), _samples(sampling_ratio, aligned=True))
    return _spread(_to_all_channels(grad), found, (batch, channels, height, width))


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_h: int, pooled_w: int
) -> tuple[Tensor, Tensor]:
    """Position-sensitive averages over whole pixels. torchvision leaves out the last row and the last column."""
    pooled, along = (pooled_h, pooled_w), _averages(left_out=1)
    return _of_own_channels(_pooled(input, pooled, _matrices(rois, spatial_scale, pooled, input.shape[-2:], along)))


def ps_roi_pool_backward(
    grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, *numbers: int
) -> Tensor:
    """The gradient of the input. Here torchvision does count the last row and column."""
    *pooled, batch, channels, height, width = numbers
    found = _matrices(rois, spatial_scale, pooled, (height, width), _averages(left_out=0))
    return _spread(_to_all_channels(grad), found, (batch, channels, height, width))


def roi_pool(input: Tensor, rois: Tensor, spatial_scale: float, pooled_h: int, pooled_w: int) -> tuple[Tensor, Tensor]:
    """The largest pixel of each bin (Girshick 2015), and which that is: -1 where a bin is empty."""
    images, sizes = input.numpy(), input.shape[-2:]
    shape = (len(rois), images.shape[1], pooled_h, pooled_w)
    largest, places = np.zeros(shape, images.dtype), np.full(shape, -1, np.int32)
    for k, (image, *box) in enumerate(_scaled(rois, spatial_scale)):
        rows = _pixels(box[1], box[3], pooled_h, sizes[0], wider=1)
        columns = _pixels(box[0], box[2], pooled_w, sizes[1], wider=1)
        for i, j in np.ndindex(pooled_h, pooled_w):
            (top, bottom), (left, right) = rows[i], columns[j]
            if top < bottom and left < right:
                bin = images[int(image), :, top:bottom, left:right].reshape(shape[1], -1)
                first = bin.argmax(axis=1)
                largest[k, :, i, j] = bin[np.arange(shape[1]), first]
                places[k, :, i, j] = (top + first // (right - left)) * sizes[1] + left + first % (right - left)
    return from_numpy(largest), from_numpy(places)


def roi_pool_backward(grad: Tensor, rois: Tensor, argmax: Tensor, spatial_scale: float, *numbers: int) -> Tensor:
    """The gradient of the input: each bin's goes to its largest pixel."""
    *_, batch, channels, height, width = numbers
    grads, places = grad.numpy(), argmax.numpy()
    total = np.zeros((batch, channels, height * width), grads.dtype)
    k, c, i, j = np.nonzero(places >= 0)
    np.add.at(total, (rois.numpy()[k, 0].astype(int), c, places[k, c, i, j]), grads[k, c, i, j])
    return from_numpy(total.reshape(batch, channels, height, width))


# ------------------------------------------------------------------------------------------ bins along an axis


def _samples(ratio: int, aligned: bool) -> AlongAxis:
    """Weights of the pixels between which a bin's samples lie."""

    def along(start: np.floating, end: np.floating, bins: int, size: int) -> np.ndarray:
        shift = start.dtype.type(0.5 if aligned else 0)
        start, length = start - shift, end - start
        length = length if aligned else max(length, length.dtype.type(1))
        count = ratio if ratio > 0 else int(np.ceil(length / bins))
        step = length / bins
        at = start + np.arange(bins, dtype=step.dtype)[:, None] * step
        at = at + (np.arange(count, dtype=step.dtype) + step.dtype.type(0.5)) * step / max(count, 1)
        weight = ((at >= -1) & (at <= size)) / step.dtype.type(max(count, 1))
        at = np.clip(at, 0, size - 1)
        low = at.astype(int)
        matrix, row = np.zeros((bins, size), step.dtype), np.arange(bins)[:, None]
        np.add.at(matrix, (row, low), weight * (1 - (at - low)))
        np.add.at(matrix, (row, np.minimum(low + 1, size - 1)), weight * (at - low))
        return matrix

    return along


def _averages(left_out: int) -> AlongAxis:
    """Equal weights of the pixels in a bin."""

    def along(start: np.floating, end: np.floating, bins: int, size: int) -> np.ndarray:
        first, behind = _pixels(start, end, bins, size - left_out, wider=0).T[:, :, None]
        inside = (np.arange(size) >= first) & (np.arange(size) < behind)
        return (inside / np.maximum(behind - first, 1)).astype(start.dtype)

    return along


def _pixels(start: np.floating, end: np.floating, bins: int, size: int, wider: int) -> np.ndarray:
    """The first pixel of each bin and the one behind its last: (bins, 2)."""
    first = _rounded(start)
    step = start.dtype.type(max(_rounded(end) - first + wider, 1)) / bins
    edges = np.arange(bins + 1, dtype=start.dtype) * step
    pixels = np.stack([np.floor(edges[:-1]), np.ceil(edges[1:])], axis=1).astype(int) + first
    return np.clip(pixels, 0, size)


def _rounded(value: np.floating) -> int:
    """The nearest whole number; halves away from zero, as in C."""
    return int(np.copysign(np.floor(np.abs(value) + 0.5), value))


# ------------------------------------------------------------------------------------------ images and bins


def _scaled(rois: Tensor, scale: float) -> np.ndarray:
    """The regions, measured in pixels of the feature map."""
    regions = rois.numpy().copy()
    regions[:, 1:] *= regions.dtype.type(scale)
    return regions


def _matrices(
    rois: Tensor, scale: float, pooled: Sequence[int], sizes: tuple[int, ...], along: AlongAxis
) -> list[Matrices]:
    """What each region is to its image."""
    return [
        (int(image), along(top, bottom, pooled[0], sizes[0]), along(left, right, pooled[1], sizes[1]))
        for image, left, top, right, bottom in _scaled(rois, scale)
    ]


def _pooled(input: Tensor, pooled: Sequence[int], found: list[Matrices]) -> Tensor:
    images = input.numpy()
    result = np.empty((len(found), images.shape[1], *pooled), images.dtype)
    for k, (image, rows, columns) in enumerate(found):
        result[k] = rows @ images[image] @ columns.T
    return from_numpy(result)


def _spread(grad: Tensor, found: list[Matrices], sizes: tuple[int, ...]) -> Tensor:
    grads = grad.numpy()
    total = np.zeros(sizes, grads.dtype)
    for k, (image, rows, columns) in enumerate(found):
        total[image] += rows.T @ grads[k] @ columns
    return from_numpy(total)


def _of_own_channels(pooled: Tensor) -> tuple[Tensor, Tensor]:
    """Of (K, C * bins, h, w) what each bin has in its own channels, (K, C, h, w); and these channels."""
    regions, channels, height, width = pooled.shape
    own = pooled.numpy().reshape(regions, channels // (height * width), height, width, height, width)
    own = np.einsum("kcijij->kcij", own).copy()
    which = np.broadcast_to(np.arange(channels, dtype=np.int32).reshape(own.shape[1:]), own.shape)
    return from_numpy(own), from_numpy(which.copy())


def _to_all_channels(grad: Tensor) -> Tensor:
    """The other way: zeros in the channels that are not a bin's own."""
    grads = grad.numpy()
    regions, channels, height, width = grads.shape
    spread = np.zeros((regions, channels, height, width, height, width), grads.dtype)
    np.einsum("kcijij->kcij", spread)[...] = grads
    return from_numpy(spread.reshape(regions, channels * height * width, height, width))
