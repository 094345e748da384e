"""Draw small grey images in a row, with a caption each.

>>> draw_images([[[0.0, 1.0], [1.0, 0.0]]], captions=["x"])
1 image of 2 x 2: x
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.svg import Drawing, element, label

PIXEL = 7
SPACE = 14
INK_BLUE = "#12355b"

Image = Sequence[Sequence[float]]


def draw_images(images: Sequence[Image], captions: Sequence[object] = ()) -> Drawing:
    """Pixels are from 0 (paper) to 1 (ink)."""
    captions = list(captions)
    if captions and len(captions) != len(images):
        raise ValueError(f"draw_images: {len(images)} images but {len(captions)} captions")
    parts: list[str] = []
    height, width = len(images[0]), len(images[0][0])
    for number, image in enumerate(images):
        left = number * (width * PIXEL + SPACE)
        parts += _pixels(image, left)
        if captions:
            parts.append(label(left + width * PIXEL / 2, height * PIXEL + 16, str(captions[number]), size=13))
    said = ": " + " ".join(map(str, captions)) if captions else ""
    noun = "image" if len(images) == 1 else "images"
    total_width = len(images) * (width * PIXEL + SPACE)
    return Drawing(total_width, height * PIXEL + 24, parts, f"{len(images)} {noun} of {height} x {width}{said}")


def _pixels(image: Image, left: float) -> list[str]:
    """One rectangle a pixel; white paper below, so that it looks the same on a dark page."""
    paper = element("rect", x=left, y=0, width=len(image[0]) * PIXEL, height=len(image) * PIXEL, fill="#ffffff")
    ink = [
        element(
            "rect", x=left + x * PIXEL, y=y * PIXEL, width=PIXEL, height=PIXEL, fill="#12355b", opacity=f"{grey:.2f}"
        )
        for y, row in enumerate(image)
        for x, grey in enumerate(row)
        if grey > 0
    ]
    return [paper, *ink]
