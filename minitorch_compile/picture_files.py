"""Pictures as files. An SVG as a PNG, too, for what shows no SVG: slides, mails, viewers that trust no notebook.

>>> png_of('<svg xmlns="http://www.w3.org/2000/svg" width="30pt" height="10pt"></svg>')[:4]
b'\\x89PNG'
>>> pixels_wide('<svg width="30pt">')
40.0

resvg draws, with the fonts that come with matplotlib where that is installed, so that the picture depends on no font of
this machine. What is drawn in the page's colour becomes black, on white.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping
from pathlib import Path

PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3}
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")
NARROWER = 0.88  # DejaVu Sans is wider than Helvetica, for which Graphviz has made the boxes


Forms = Mapping[str, Callable[[], str | bytes]]
"""What writes a file, by its suffix."""


def save_form(who: str, path: str | Path, forms: Forms) -> Path:
    """Writes the form that the path's suffix names; ValueError for another suffix.

    >>> import tempfile
    >>> save_form("View.save", Path(tempfile.mkdtemp(), "a.txt"), {".txt": lambda: "text"}).read_text()
    'text'
    >>> save_form("View.save", "a.pdf", {".txt": lambda: "text"})
    Traceback (most recent call last):
    ValueError: View.save: path must end in .txt, but got 'a.pdf'.
    """
    path = Path(path)
    if path.suffix not in forms:
        raise ValueError(f"{who}: path must end in {', '.join(forms)}, but got {str(path)!r}.")
    written = forms[path.suffix]()
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    return path


def png_of(svg: str, zoom: float = 2.0, widest: float = float("inf")) -> bytes:
    """The picture, `zoom` pixels for one of the SVG's, but at most `widest` pixels wide; RuntimeError without resvg."""
    try:
        import resvg_py
    except ImportError as error:
        raise RuntimeError("a .png is drawn by resvg: pip install resvg_py, or save an .svg") from error
    if "Helvetica" in svg:
        svg = re.sub(r'font-size="([\d.]+)"', lambda size: f'font-size="{float(size[1]) * NARROWER:.2f}"', svg)
    fonts = font_files()
    drawn = resvg_py.svg_to_bytes(
        svg_string=svg,
        background="white",
        zoom=min(zoom, widest / pixels_wide(svg)),
        dpi=96,
        skip_system_fonts=bool(fonts),
        font_files=fonts,
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
    )
    return bytes(drawn)


def pixels_wide(svg: str) -> float:
    """The width of the whole picture."""
    number, unit = re.search(r'<svg [^>]*?\bwidth="([\d.]+)(\w*)"', svg).groups()  # type: ignore[union-attr]
    return float(number) * PIXELS[unit]


def font_files() -> list[str]:
    """matplotlib's fonts; none where it is not installed. To find them, it need not be imported."""
    found = importlib.util.find_spec("matplotlib")
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"
    return [str(folder / name) for name in FONTS]
