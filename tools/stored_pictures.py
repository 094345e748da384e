"""Pictures of a lesson in forms that every viewer shows: an SVG file and a PNG file beside it, in each output.

A running lesson shows its drawings as HTML around an SVG element. Of a notebook that wasn't run yet, viewers don't
trust HTML: they take the elements of an SVG out of it and leave its texts. So what is stored is the SVG as a picture of
its own, for viewers that trust the file, and a PNG, which is harmless and shown everywhere.

As the bytes of a PNG may depend on the versions of resvg, which draws it, and of its fonts, it is kept as long as the
SVG is the same, whose hash is stored with it.

>>> svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30pt" height="10pt" style="max-width: 100%"></svg>'
>>> standalone(f'<div class="mtc-graph">{svg}</div>')
'<svg ... style="background: #fff; color: #1b1b1b; max-width: 100%"></svg>'
>>> standalone("<table></table>") is None
True
"""

from __future__ import annotations

import base64
import hashlib
import io
import re

from nbformat import NotebookNode

from minitorch_compile.picture_files import png_of

PAPER = "background: #fff; color: #1b1b1b; "  # a picture of its own can't take the page's colours
WIDEST = 1000.0  # pixels: a notebook's column is not wider
COLOURS = 64  # in the PNG: flat areas, and the edges of letters
MARK = "png_of"  # in the output's metadata: the hash of the SVG that the PNG shows


def store_pictures(notebook: NotebookNode, before: NotebookNode | None) -> None:
    """Give each picture of a notebook that was just run its stored forms; `before` is its last version."""
    known = {output.metadata[MARK]: output.data["image/png"] for output in _outputs(before) if MARK in output.metadata}
    for output in _outputs(notebook):
        svg = standalone(output.data.get("text/html", ""))
        if svg is not None:
            digest = digest_of(svg)
            del output.data["text/html"]
            output.data["image/svg+xml"] = svg
            output.data["image/png"] = known.get(digest) or base64.b64encode(small_png(svg)).decode() + "\n"
            output.metadata[MARK] = digest


def digest_of(svg: str) -> str:
    return hashlib.sha256(svg.encode()).hexdigest()[:16]


def standalone(html: str) -> str | None:
    """The SVG of a drawing's HTML as a file; None for other HTML."""
    found = re.search("<svg .*</svg>", html, re.DOTALL)
    return None if found is None else found.group().replace('style="', f'style="{PAPER}', 1)


def small_png(svg: str) -> bytes:
    """The picture as a PNG file with a palette: a third of the bytes."""
    from PIL import Image

    plain = Image.open(io.BytesIO(png_of(svg, 1.0, WIDEST))).convert("RGB")
    file = io.BytesIO()
    plain.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _outputs(notebook: NotebookNode | None) -> list[NotebookNode]:
    """The outputs that hold data in several forms."""
    cells = [] if notebook is None else notebook.cells
    return [output for cell in cells for output in cell.get("outputs", []) if "data" in output]
