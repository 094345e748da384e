"""What a convolution's kernels are told: its shape, and where they put what in their scratch memory.

It needs no Numba: eager operations make plans, too.

>>> shape = Shape(1, 3, (8, 8), 16, (3, 3), (8, 8), (1, 1), (1, 1), (1, 1), 1)
>>> plan, elements = plan_forward(shape, TileSizes(lanes=16, filters=8, vectors=3, rows=4, columns=6))
>>> plan.rows, plan.pitch                           # of a plane: the border of one is shared between rows
(10, 9)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from minitorch_compile.kernel_library.chunk_lengths import SHORTEST
from minitorch_compile.kernel_library.tile_sizes import COLUMNS_OF_ONE, TileSizes

Pair = tuple[int, int]
FEWEST_PLACES = 2048  # over which a gradient of weights is added up in registers: several images, if they are small
FEWEST_RANGES = 8  # into which the work is cut, if there is enough: what as many threads can share
SMALLEST_RANGE = 1 << 20  # multiplications that are worth a range of their own
USUAL_RANGE = 1 << 24  # multiplications of a range of a large gradient of weights
FEWEST_OF_WEIGHTS, MOST_OF_WEIGHTS = 4, 32  # ranges of such a gradient, if it isn't small
FEWEST_CHANNELS = 4  # for which a range has the weights' gradient: their taps fill tiles
WIDE, FEW = 256, 64  # places and channels: a matrix product of at least so many columns, and at most so long sums
PER_WEIGHT = 3.0  # nanoseconds of work that are worth packing it
ENTRY = 2  # elements that one offset takes at most: it has eight bytes


class Shape(NamedTuple):
    """The sizes of a convolution; pairs are (y, x)."""

    images: int
    channels: int
    image: Pair
    filters: int
    kernel: Pair
    out: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int

    @property
    def is_product(self) -> bool:
        """Whether BLAS could do it."""
        return self.kernel == (1, 1) and self.stride == (1, 1) and self.padding == (0, 0)

    def slides(self, inner: int, results: int, tiles: TileSizes) -> bool:
        """Whether it's faster not to ask BLAS, for sums of `inner` products: it needs more of them in each sum."""
        wide = self.out[0] * self.out[1] >= WIDE and inner <= FEW and results >= tiles.filters
        return wide or not self.is_product

    @property
    def part(self) -> int:
        """The channels of a group."""
        return self.channels // self.groups

    @property
    def per_group(self) -> int:
        """The filters of a group."""
        return self.filters // self.groups

    @property
    def window(self) -> int:
        """The weights of a filter."""
        return self.part * self.kernel[0] * self.kernel[1]

    @property
    def pixels(self) -> int:
        """The places of all results."""
        return self.images * self.out[0] * self.out[1]

    @property
    def multiplications(self) -> int:
        """How many a direct computation takes."""
        return self.images * self.filters * self.out[0] * self.out[1] * self.window

    @property
    def nanoseconds(self) -> float:
        """Roughly what one core needs for them."""
        return self.multiplications / 40


class ConvolutionPlan(NamedTuple):
    """A `Shape`, flat, and then: whether it `slides`; the `rows` of a plane, and how far apart they lie (`pitch`); how
    many rows and columns of zeros stand before an image (`top`, `left`); how many of the planes into which strides deal
    an image windows see (`seen_y` by `seen_x`); how many results' channels of a group (or, for the weights' gradient,
    images) are computed `at_once`; for how many filters and channels a range has the weights' gradient; how many packed
    weights a group has; and where in scratch memory these (or the planes of the output's gradient), the tile and the
    offsets lie.
    """

    images: int = 0
    channels: int = 0
    height: int = 0
    width: int = 0
    filters: int = 0
    kernel_y: int = 0
    kernel_x: int = 0
    out_y: int = 0
    out_x: int = 0
    stride_y: int = 0
    stride_x: int = 0
    padding_y: int = 0
    padding_x: int = 0
    dilation_y: int = 0
    dilation_x: int = 0
    groups: int = 0
    slides: int = 0
    rows: int = 0
    pitch: int = 0
    top: int = 0
    left: int = 0
    seen_y: int = 0
    seen_x: int = 0
    at_once: int = 0
    part_filters: int = 0
    part_channels: int = 0
    packed: int = 0
    second_at: int = 0
    tile_at: int = 0
    offsets_at: int = 0

    def __repr__(self) -> str:
        """The numbers alone: what stands in a generated file."""
        return repr(tuple(self))


CONVOLUTION_PLAN = ConvolutionPlan()


def plan_of(shape: Shape, at_once: int, places: Pair = (0, 0), before: Pair = (0, 0)) -> ConvolutionPlan:
    """The plan of a shape, without the places of its parts. `places` are the rows and the pitch, if it slides."""
    pairs = (*shape.kernel, *shape.out, *shape.stride, *shape.padding, *shape.dilation)
    flat = (shape.images, shape.channels, *shape.image, shape.filters, *pairs, shape.groups)
    return ConvolutionPlan(*flat, int(places != (0, 0)), *places, *before, *planes_seen(shape), at_once)


def planes_seen(shape: Shape) -> Pair:
    """Of the planes that a stride deals an image into, how many a window sees: it may be smaller than the stride."""
    y, x = (min(s, (k - 1) * d + 1) for k, s, d in zip(shape.kernel, shape.stride, shape.dilation))
    return y, x


def with_places(plan: ConvolutionPlan, first: int, second: int, tile: int, offsets: int) -> tuple[ConvolutionPlan, int]:
    """The plan with places for parts of these lengths, one after the other, and how many elements all of them have."""
    ends = [0]
    for elements in (first, second, tile, ENTRY * offsets):
        ends.append(ends[-1] + -(-elements // 16) * 16)
    return plan._replace(second_at=ends[1], tile_at=ends[2], offsets_at=ends[3]), ends[4]


def at_once(shape: Shape, results: int, tiles: TileSizes) -> int:
    """How many of a group's result channels one range computes: all, unless there are few images and groups."""
    ranges = min(-(-FEWEST_RANGES // max(1, shape.images * shape.groups)), shape.multiplications // SMALLEST_RANGE)
    blocks = -(-results // tiles.filters)
    return min(results, tiles.filters * -(-blocks // max(1, min(ranges, blocks))))


def plan_forward(shape: Shape, tiles: TileSizes) -> tuple[ConvolutionPlan, int]:
    """What `forward` takes, and how many elements of scratch memory it needs."""
    together = at_once(shape, shape.per_group, tiles)
    if not shape.slides(shape.part, shape.per_group, tiles):
        return plan_of(shape, together), 0
    rows, pitch = sizes_of_planes(shape)
    planes = shape.part * math.prod(planes_seen(shape)) * rows * pitch + pitch + tiles.most_places
    tile = tiles.filters * (shape.out[0] * pitch + tiles.most_places)
    plan = plan_of(shape, together, (rows, pitch), shape.padding)
    plan = plan._replace(packed=tiles.padded_to_block(shape.per_group) * shape.window)
    return with_places(plan, planes, shape.groups * plan.packed, tile, shape.window)


def pitch_of(width: int, before: int, places: int, reach: int) -> int:
    """How far apart the rows of a plane lie, in which `places` windows stand side by side, the last `reach` further.

    `before` is how many zeros stand before the `width` elements of a row; those after them are the next row's, if it
    has enough.

    >>> pitch_of(7, before=1, places=7, reach=2)        # 3x3 with a border of one: 9 columns, of which two are one
    8
    """
    after = max(0, places + reach - before - width)
    if before < 0:
        return places + reach
    return min(places + reach, max(width + max(before, after), places))


def sizes_of_planes(shape: Shape) -> Pair:
    """The rows of an image's planes, and how far apart they lie."""
    reach_y, reach = ((k - 1) * d // s for k, d, s in zip(shape.kernel, shape.dilation, shape.stride))
    pitch = shape.out[1] + reach
    if shape.stride[1] == 1:
        pitch = pitch_of(shape.image[1], shape.padding[1], shape.out[1], reach)
    return shape.out[0] + reach_y, pitch


def shifts(stride: int, padding: int, kernel: int, dilation: int) -> tuple[int, int]:
    """The least and the largest row of the output, from row 0 of each kind, that a row of the input went into."""
    steps = [r + padding - k * dilation for r in range(stride) for k in range(kernel)]
    whole = [step // stride for step in steps if step % stride == 0]
    return min(whole, default=0), max(whole, default=0)


def plan_input_grad(shape: Shape, tiles: TileSizes) -> tuple[ConvolutionPlan, int]:
    """What `input_grad` takes, and how many elements of scratch memory it needs."""
    together = at_once(shape, shape.part, tiles)
    if not shape.slides(shape.per_group, shape.part, tiles):
        return plan_of(shape, together), 0
    (top, bottom), (left, right) = (
        shifts(*four) for four in zip(shape.stride, shape.padding, shape.kernel, shape.dilation)
    )
    rows, columns = (-(-size // stride) for size, stride in zip(shape.image, shape.stride))
    pitch = pitch_of(shape.out[1], -left, columns, right - left)
    height = rows + bottom - top
    window, kinds = shape.per_group * shape.kernel[0] * shape.kernel[1], shape.stride[0] * shape.stride[1]
    planes = shape.per_group * height * pitch + pitch + tiles.most_places
    plan = plan_of(shape, together, (height, pitch), (-top, -left))
    plan = plan._replace(packed=tiles.padded_to_block(shape.part) * window)
    tile = tiles.filters * (rows * pitch + tiles.most_places)
    return with_places(plan, planes, shape.groups * plan.packed, tile, window + kinds)


def parts_of_weights(shape: Shape, tiles: TileSizes) -> Pair:
    """For how many filters and channels of a group one range has the weights' gradient.

    Each range lays out the planes of its filters and channels anew. So it is of the fewest, if not of all.

    >>> shape = Shape(16, 16, (32, 32), 32, (3, 3), (16, 16), (2, 2), (1, 1), (1, 1), 1)
    >>> parts_of_weights(shape, TileSizes(lanes=16, filters=8, vectors=3, rows=4, columns=6))
    (32, 4)
    """
    ranges = min(max(FEWEST_OF_WEIGHTS, shape.multiplications // USUAL_RANGE), MOST_OF_WEIGHTS)
    ranges = max(1, min(-(-ranges // shape.groups), shape.multiplications // SMALLEST_RANGE))
    blocks, most_along = -(-shape.per_group // tiles.rows), max(1, shape.part // FEWEST_CHANNELS)
    ways = [(n, min(-(-ranges // n), most_along)) for n in range(1, min(ranges, blocks) + 1)]
    full = [way for way in ways if 2 * math.prod(way) > ranges] or [max(ways, key=math.prod)]
    seen = math.prod(planes_seen(shape))
    across, along = min(full, key=lambda way: way[0] * shape.part * seen + way[1] * shape.per_group)
    return tiles.rows * -(-blocks // across), -(-shape.part // along)


def plan_weight_grad(shape: Shape, tiles: TileSizes) -> tuple[ConvolutionPlan, int]:
    """What `weight_grad` takes, and how many elements of scratch memory it needs."""
    part_filters, part_channels = parts_of_weights(shape, tiles)
    if shape.is_product:
        return plan_of(shape, 1)._replace(part_filters=part_filters, part_channels=part_channels), 0
    rows, pitch = sizes_of_planes(shape)
    batches = -(-shape.images // max(1, FEWEST_PLACES // max(1, shape.out[0] * pitch)))
    images = max(1, -(-shape.images // max(1, batches)))
    planes = shape.part * math.prod(planes_seen(shape)) * rows * pitch + pitch + tiles.most_places
    grads = tiles.filters_together * (shape.out[0] * pitch + tiles.lanes)
    plan = plan_of(shape, images, (rows, pitch), shape.padding)
    plan = plan._replace(part_filters=part_filters, part_channels=part_channels)
    return with_places(plan, images * planes, images * grads, 0, shape.window + tiles.columns + COLUMNS_OF_ONE)


PLANS: dict[str, Callable[[Shape, TileSizes], tuple[ConvolutionPlan, int]]] = {
    "convolution": plan_forward,
    "convolution_weight_grad": plan_weight_grad,
    "convolution_input_grad": plan_input_grad,
}


def extent_of(kernel: str, shape: Shape, plan: ConvolutionPlan) -> int:
    """How far `hi` goes: so many ranges there are."""
    if kernel == "convolution_weight_grad":
        return shape.groups * -(-shape.per_group // plan.part_filters) * -(-shape.part // plan.part_channels)
    results = shape.per_group if kernel == "convolution" else shape.part
    return shape.images * shape.groups * -(-results // plan.at_once)


def shortest_piece(kernel: str, shape: Shape, plan: ConvolutionPlan) -> float:
    """What a thread should be given at least, in nanoseconds: each time it packs the weights of its results first."""
    if kernel == "convolution_weight_grad":
        return SHORTEST
    results = shape.per_group if kernel == "convolution" else shape.part
    return max(SHORTEST, PER_WEIGHT * shape.filters * shape.window * plan.at_once / results)
