"""Pictures of a lesson in forms that every viewer shows: an SVG file and a PNG file beside it, in each output.

A running lesson shows its drawings as HTML around an SVG element. Of a notebook that wasn't run yet, viewers don't
trust HTML: they take the elements of an SVG out of it and leave its texts. So what is stored is the SVG as a picture of
its own, for viewers that trust the file, and a PNG, which is harmless and shown everywhere.

A PNG is drawn by resvg with the fonts that come with matplotlib, so it depends on no font of this machine. As its bytes
may depend on the versions of both, it is kept as long as the SVG is the same, whose hash is stored with it.

>>> svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30pt" height="10pt" style="max-width: 100%"></svg>'
>>> standalone(f'<div class="mtc-graph">{svg}</div>')
'<svg ... style="background: #fff; color: #1b1b1b; max-width: 100%"></svg>'
>>> standalone("<table></table>") is None
True
>>> pixels_wide(svg)
40.0
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from pathlib import Path

from nbformat import NotebookNode

PAPER = "background: #fff; color: #1b1b1b; "  # a picture of its own can't take the page's colours
WIDEST = 1000.0  # pixels: a notebook's column is not wider
PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3}
COLOURS = 64  # in the PNG: flat areas, and the edges of letters
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")
NARROWER = 0.88  # DejaVu Sans is wider than Helvetica, for which Graphviz has made the boxes
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
            output.data["image/png"] = known.get(digest) or base64.b64encode(png_of(svg)).decode() + "\n"
            output.metadata[MARK] = digest


def digest_of(svg: str) -> str:
    return hashlib.sha256(svg.encode()).hexdigest()[:16]


def standalone(html: str) -> str | None:
    """The SVG of a drawing's HTML as a file; None for other HTML."""
    found = re.search("<svg .*</svg>", html, re.DOTALL)
    return None if found is None else found.group().replace('style="', f'style="{PAPER}', 1)


def pixels_wide(svg: str) -> float:
    number, unit = re.search(r'<svg [^>]*?\bwidth="([\d.]+)(\w*)"', svg).groups()  # type: ignore[union-attr]
    return float(number) * PIXELS[unit]


def png_of(svg: str) -> bytes:
    """The picture as a PNG file."""
    import resvg_py
    from matplotlib import get_data_path

    if "Helvetica" in svg:
        svg = re.sub(r'font-size="([\d.]+)"', lambda size: f'font-size="{float(size[1]) * NARROWER:.2f}"', svg)
    folder = Path(get_data_path()) / "fonts" / "ttf"
    drawn = resvg_py.svg_to_bytes(
        svg_string=svg,
        background="white",
        zoom=min(1.0, WIDEST / pixels_wide(svg)),
        dpi=96,
        skip_system_fonts=True,
        font_files=[str(folder / name) for name in FONTS],
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
    )
    return _smaller(bytes(drawn))


def _smaller(png: bytes) -> bytes:
    """The same picture with a palette: a third of the bytes."""
    from PIL import Image

    plain = Image.open(io.BytesIO(png)).convert("RGB")
    file = io.BytesIO()
    plain.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _outputs(notebook: NotebookNode | None) -> list[NotebookNode]:
    """The outputs that hold data in several forms."""
    cells = [] if notebook is None else notebook.cells
    return [output for cell in cells for output in cell.get("outputs", []) if "data" in output]
