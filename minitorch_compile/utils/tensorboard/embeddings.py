"""Points in many dimensions for TensorBoard's projector, which reads plain files beside the events.

>>> Embedding("00002/words", "words:00002", labelled=True, picture_size=(28, 20)).entry().splitlines()[1:3]
['  tensor_name: "words:00002"', '  metadata_path: "00002/words/metadata.tsv"']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from minitorch_compile.utils.tensorboard.records import as_array, in_rows


@dataclass
class Embedding:
    """What the projector's list says of some points: where their files lie, and the width and height of a picture."""

    folder: str
    name: str
    labelled: bool
    picture_size: tuple[int, int] | None

    def entry(self) -> str:
        """As a text in protobuf's format."""
        lines = [f'  tensor_name: "{self.name}"']
        if self.labelled:
            lines.append(f'  metadata_path: "{self.folder}/metadata.tsv"')
        if self.picture_size is not None:
            sizes = [f"    single_image_dim: {size}" for size in self.picture_size]
            lines += ["  sprite {", f'    image_path: "{self.folder}/sprite.png"', *sizes, "  }"]
        return "\n".join(["embeddings {", *lines, f'  tensor_path: "{self.folder}/tensors.tsv"', "}", ""])


def write_embedding(
    log_dir: str, folder: str, name: str, mat: Any, metadata: Any, label_img: Any, metadata_header: Any
) -> Embedding:
    """Writes the points, one a row of `mat`, their labels and their pictures (N, C, H, W) to a folder of `log_dir`.

    AssertionError unless there is a label and a picture for each point.
    """
    points, into = as_array(mat), Path(log_dir) / folder
    if points.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    for what, given in (("labels", metadata), ("images", label_img)):
        if given is not None and len(given) != len(points):
            raise AssertionError(f"#{what} should equal with #data points")
    into.mkdir(parents=True, exist_ok=True)
    _write_table(into / "tensors.tsv", points.tolist())
    if metadata is not None:
        rows = [metadata_header, *metadata] if metadata_header else [[label] for label in metadata]
        _write_table(into / "metadata.tsv", rows)
    pictures = None if label_img is None else as_array(label_img)
    if pictures is not None:
        _write_sprite(into / "sprite.png", pictures)
    return Embedding(folder, name, metadata is not None, None if pictures is None else pictures.shape[:-3:-1])


def _write_table(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")


def _write_sprite(path: Path, pictures: np.ndarray) -> None:
    """All pictures in a square of squares, as the projector wants them. Values are bytes, or floats from 0 to 1."""
    from PIL import Image

    scale = 1.0 if pictures.dtype == np.uint8 else 255.0
    grid = (in_rows(pictures, "NCHW").astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    square = np.zeros((grid.shape[1], *grid.shape[1:]), np.uint8)
    square[: len(grid)] = grid[: len(square)]
    Image.fromarray(square).save(path, format="PNG")
