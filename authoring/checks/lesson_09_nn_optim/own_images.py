"""Exercise 09.7: a convolution as one product, and pooling."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .arrays import judge, seeded

OWN_IMAGES = Step(
    "09.7",
    "images: convolution and pooling",
    file="nn",
    minutes=25,
    hints=(
        "A 3 x 3 convolution looks at each pixel with its eight neighbours: nine shifted copies of the padded images."
        " Each is a slice. Put them side by side, and each pixel has a row of c * 9 numbers.",
        "Pad by ops.slice_backward(x, dim, size + 2 * pad, pad, 1), for dims 2 and 3. Window i, j is x[:, :, i : i + h,"
        " j : j + w], reshaped to (n, c, 1, h, w); ops.cat(windows, 2) has sizes (n, c, size * size, h, w).",
        "Reshape to (n, c * size * size, h * w), transpose(1, 2), apply the Linear, transpose back, reshape to"
        " (n, -1, h, w). Pooling: reshape to (n, c, h // size, size, w // size, size), amax((3, 5)).",
    ),
)
SECTION = "Ten digits"


def convolved(x: Any, weight: Any, bias: Any, size: int) -> Any:
    """Pixel by pixel; the weight has a row for each channel, row and column of the window."""
    n, c, h, w = x.shape
    pad = size // 2
    padded = np.zeros((n, c, h + 2 * pad, w + 2 * pad))
    padded[:, :, pad : pad + h, pad : pad + w] = x
    out = np.zeros((n, weight.shape[1], h, w))
    for i, j in np.ndindex(h, w):
        out[:, :, i, j] = padded[:, :, i : i + size, j : j + size].reshape(n, -1) @ weight + bias
    return out


@OWN_IMAGES.case("a window of one pixel", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge_convolution(mini, (1, 1, 2, 2), 1, 1, "Each pixel times the one weight, plus the bias.")
    judge_convolution(
        mini, (2, 3, 2, 3), 4, 1, "A pixel's channels are its row: channels before positions, images apart."
    )


@OWN_IMAGES.case("windows, with zeros around the image", points=3, section=SECTION)
def _(mini: Any) -> None:
    why = "Each pixel's row has c * size * size numbers: for each channel the window's rows, and in them its columns."
    judge_convolution(mini, (1, 1, 3, 3), 1, 3, why)
    judge_convolution(mini, (2, 2, 3, 4), 3, 3, why)
    judge_convolution(mini, (1, 2, 5, 4), 2, 5, why)


def judge_convolution(mini: Any, sizes: tuple[int, ...], filters: int, size: int, why: str) -> None:
    layer = seeded(mini, lambda: mini.nn.Conv2d(sizes[1], filters, size))
    x = np.random.default_rng(1).normal(size=sizes).astype(np.float32)
    parameters = dict(layer.named_parameters())
    expected = {"product.weight": (sizes[1] * size * size, filters), "product.bias": (filters,)}
    if {name: p.sizes for name, p in parameters.items()} != expected:
        found = {name: p.sizes for name, p in parameters.items()}
        says = "Its only part with parameters is self.product, a Linear from a window's numbers to the filters."
        raise WrongAnswer(f"Conv2d({sizes[1]}, {filters}, {size}): expected {expected}, got {found}", says)
    layer.product.bias = mini.nn.parameter(np.arange(filters) + 1.0)
    wanted = convolved(x, parameters["product.weight"].numpy(), np.arange(filters) + 1.0, size)
    said = f"Conv2d({sizes[1]}, {filters}, {size}) of images of sizes {sizes}"
    judge(said, partial(layer, mini.tensor.tensor(x)), wanted, why)


@OWN_IMAGES.case("max_pool2d", points=2, section=SECTION)
def _(mini: Any) -> None:
    for sizes, size in (((1, 1, 2, 2), 2), ((1, 1, 4, 4), 2), ((2, 3, 4, 6), 2), ((1, 1, 3, 3), 3), ((1, 1, 5, 3), 2)):
        x = np.random.default_rng(2).permutation(int(np.prod(sizes))).reshape(sizes).astype(np.float32)
        n, c, h, w = sizes[0], sizes[1], sizes[2] // size, sizes[3] // size
        cut = x[:, :, : h * size, : w * size].reshape(n, c, h, size, w, size)
        why = "The greatest of each square: rows are grouped by `size`, and columns are grouped by `size`."
        if sizes[2] % size:
            why = "What is left over at the right and at the bottom is left out: cut the images first."
        said = f"max_pool2d of sizes {sizes}, {size}"
        judge(said, partial(mini.nn.max_pool2d, mini.tensor.tensor(x), size), cut.max((3, 5)), why)
