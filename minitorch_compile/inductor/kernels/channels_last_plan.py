"""What the kernels of `channels_last` are told: sizes, how a window meets an image, what lies where in scratch memory.

A convolution and the gradient of its input are both sums over what a window sees. Along one dimension, the result at
step_out * i + r is the sum over k of weight k times the source, with zeros around it, at

    step_in * i + (r + origin + direction * k * dilation) / step_out + before

for those k where the quotient is whole. Forward, step_out is 1 and step_in the stride; for the gradient it is the other
way round, and the direction is -1.

>>> shape = Shape(1, 16, (8, 8), 32, (3, 3), (8, 8), (1, 1), (1, 1), (1, 1), 1)
>>> plan, elements = plan_forward(shape)
>>> plan.rows, plan.pitch, plan.top                 # of the source with its zeros, and how many of them stand above it
(10, 10, 1)
"""

from __future__ import annotations

from typing import NamedTuple

from minitorch_compile.inductor.kernels.vector_tiles import most_lanes
from minitorch_compile.inductor.machine import Machine, machine_number
from minitorch_compile.kernel_library.convolution_plan import (
    ENTRY,
    FEWEST_RANGES,
    SMALLEST_RANGE,
    Shape,
    shifts,
)

BLOCK = 192  # pixels of the result that are computed from one panel of weights after the other
TAPS = 9  # of a window, whose weights' gradients are added up in registers together


@machine_number
def filters_of_grad(machine: Machine) -> int:
    """Filters whose weights' gradients are added up in registers together."""
    return 12 if machine.registers == 32 else 4


class ChannelsLastPlan(NamedTuple):
    """`height`, `width`, `channels` are the source's, `result_...` the result's; the source with its zeros has `rows`
    rows of `pitch` pixels, `top` and `left` of them before its first. `copied`: whether it is put into scratch memory,
    zeros and all, or read where it lies. `band`: rows of a result that make one position of a range. `filled`: how many
    channels fill whole vectors. `packed`: weights of a group, in panels. The last four say what lies where in scratch
    memory.
    """

    images: int = 0
    height: int = 0
    width: int = 0
    channels: int = 0
    result_y: int = 0
    result_x: int = 0
    result_channels: int = 0
    groups: int = 0
    depthwise: int = 0
    kernel_y: int = 0
    kernel_x: int = 0
    dilation_y: int = 0
    dilation_x: int = 0
    step_in_y: int = 0
    step_in_x: int = 0
    step_out_y: int = 0
    step_out_x: int = 0
    direction: int = 0
    origin_y: int = 0
    origin_x: int = 0
    before_y: int = 0
    before_x: int = 0
    rows: int = 0
    pitch: int = 0
    top: int = 0
    left: int = 0
    reach: int = 0
    copied: int = 0
    band: int = 0
    filled: int = 0
    packed: int = 0
    second_at: int = 0
    offsets_at: int = 0
    places_at: int = 0
    sums_at: int = 0

    def __repr__(self) -> str:
        """The numbers alone: what stands in a generated file."""
        return repr(tuple(self))


CHANNELS_LAST_PLAN = ChannelsLastPlan()


def is_depthwise(shape: Shape) -> bool:
    """Whether each channel has one filter, and each filter one channel."""
    return shape.part == shape.per_group == 1 and shape.groups > 1


def suits(kernel: str, shape: Shape) -> bool:
    """Whether vectors of channels are filled well enough: otherwise images are better turned over first.

    >>> suits("convolution", Shape(1, 16, (8, 8), 32, (3, 3), (8, 8), (1, 1), (1, 1), (1, 1), 1))
    True
    >>> suits("convolution_input_grad", Shape(1, 1, (8, 8), 32, (3, 3), (8, 8), (1, 1), (1, 1), (1, 1), 1))
    False
    """
    if is_depthwise(shape):
        return True
    if kernel == "convolution_weight_grad":
        return 2 * run_of(shape) > most_lanes()
    return 2 * (shape.per_group if kernel == "convolution" else shape.part) >= most_lanes()


def run_of(shape: Shape) -> int:
    """How many numbers of a row a window sees side by side."""
    return shape.part * (shape.kernel[1] if shape.groups == 1 and shape.dilation[1] == 1 else 1)


def plan_forward(shape: Shape) -> tuple[ChannelsLastPlan, int]:
    """What `gather` takes for a convolution, and how many elements of scratch memory it needs."""
    return with_scratch(forward_geometry(shape), shape, shape.part, shape.per_group)


def forward_geometry(shape: Shape) -> ChannelsLastPlan:
    (step_y, step_x), reach = shape.stride, [(k - 1) * d for k, d in zip(shape.kernel, shape.dilation)]
    rows, pitch = ((n - 1) * s + r + 1 for n, s, r in zip(shape.out, shape.stride, reach))
    plan = _common(shape)._replace(
        height=shape.image[0], width=shape.image[1], channels=shape.channels, result_y=shape.out[0],
        result_x=shape.out[1], result_channels=shape.filters, step_in_y=step_y, step_in_x=step_x, step_out_y=1,
        step_out_x=1, direction=1, top=shape.padding[0], left=shape.padding[1], reach=reach[0],
        filled=_filled_up(shape.channels),
    )  # fmt: skip
    return _copied(plan, rows, pitch)


def plan_input_grad(shape: Shape) -> tuple[ChannelsLastPlan, int]:
    """What `gather` takes for the gradient of the input, and how many elements of scratch memory it needs."""
    four = zip(shape.stride, shape.padding, shape.kernel, shape.dilation)
    (top, bottom), (left, right) = (shifts(*numbers) for numbers in four)
    rows, columns = (-(-size // stride) for size, stride in zip(shape.image, shape.stride))
    plan = _common(shape)._replace(
        height=shape.out[0], width=shape.out[1], channels=shape.filters, result_y=shape.image[0],
        result_x=shape.image[1], result_channels=shape.channels, step_in_y=1, step_in_x=1, step_out_y=shape.stride[0],
        step_out_x=shape.stride[1], direction=-1, origin_y=shape.padding[0], origin_x=shape.padding[1], before_y=-top,
        before_x=-left, top=-top, left=-left, reach=bottom - top, filled=_filled_up(shape.filters),
    )  # fmt: skip
    plan = _copied(plan, rows + bottom - top, columns + right - left)
    return with_scratch(plan, shape, shape.per_group, shape.part)


def _common(shape: Shape) -> ChannelsLastPlan:
    """What all three kernels are told."""
    return CHANNELS_LAST_PLAN._replace(
        images=shape.images, groups=shape.groups, depthwise=int(is_depthwise(shape)), kernel_y=shape.kernel[0],
        kernel_x=shape.kernel[1], dilation_y=shape.dilation[0], dilation_x=shape.dilation[1],
    )  # fmt: skip


def _copied(plan: ChannelsLastPlan, rows: int, pitch: int) -> ChannelsLastPlan:
    """With the size of the source and its zeros; where there are none, it is read where it lies."""
    whole_vectors = not plan.depthwise or plan.channels % most_lanes() == 0
    if plan.top == plan.left == 0 and rows <= plan.height and pitch <= plan.width and whole_vectors:
        return plan._replace(rows=plan.height, pitch=plan.width)
    return plan._replace(rows=rows, pitch=pitch, copied=1)


def with_scratch(plan: ChannelsLastPlan, shape: Shape, inner: int, results: int) -> tuple[ChannelsLastPlan, int]:
    """With bands, and places for the parts: a group's sums are over `inner` channels and have `results`."""
    taps, kinds = shape.kernel[0] * shape.kernel[1], plan.step_out_y * plan.step_out_x
    image = plan.copied * (plan.rows * plan.pitch * plan.channels + 2 * most_lanes())
    if plan.depthwise:
        packed, offsets = taps * plan.filled, taps
    else:
        packed, offsets = taps * inner * _filled_up(results), taps * inner
    plan = plan._replace(band=band_of(plan, shape), packed=packed)
    return with_places(plan, image, (1 if plan.depthwise else plan.groups) * packed, offsets + kinds, 2 * BLOCK, 0)


def _filled_up(columns: int) -> int:
    """So many columns in whole panels."""
    return -(-columns // (2 * most_lanes())) * 2 * most_lanes()


def band_of(plan: ChannelsLastPlan, shape: Shape) -> int:
    """Rows of an image that make one position of the range: as many as leave enough for several threads."""
    wanted = min(FEWEST_RANGES, max(1, shape.multiplications // SMALLEST_RANGE))
    bands = [n for n in range(plan.result_y, 0, -1) if plan.result_y % n == 0 and n % plan.step_out_y == 0]
    enough = [n for n in bands if plan.images * (plan.result_y // n) >= wanted]
    return next(iter([*enough, *bands[-1:], plan.result_y]))


def plan_weight_grad(shape: Shape) -> tuple[ChannelsLastPlan, int]:
    """What `weight_grad` takes, and how many elements of scratch memory it needs."""
    rows, pitch = (
        (n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(shape.out, shape.stride, shape.kernel, shape.dilation)
    )
    plan = forward_geometry(shape)._replace(rows=rows, pitch=pitch, copied=1)  # vectors reach beyond its end
    taps = shape.kernel[0] * shape.kernel[1] + TAPS
    sums = taps * plan.filled if plan.depthwise else 0
    return with_places(plan, rows * pitch * plan.channels + 2 * most_lanes(), 0, taps, 2 * BLOCK, sums)


def with_places(
    plan: ChannelsLastPlan, image: int, packed: int, offsets: int, places: int, sums: int
) -> tuple[ChannelsLastPlan, int]:
    """The plan with places for parts of these lengths, one after the other, and how many elements all of them have."""
    ends = [0]
    for elements in (image, packed, ENTRY * offsets, ENTRY * places, sums):
        ends.append(ends[-1] + -(-elements // 16) * 16)
    return plan._replace(second_at=ends[1], offsets_at=ends[2], places_at=ends[3], sums_at=ends[4]), ends[5]
