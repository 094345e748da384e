"""Draws the two pictures of README.md and ARCHITECTURE.md into docs/, with the same few shapes the course draws with.

    .venv/bin/python tools/draw_pictures.py

Words inside a box are dark on a light fill; what stands outside takes a grey that a light and a dark page both show.
"""

from pathlib import Path

from minitorch_compile.course.svg import INK, PALETTE, arrow_heads, element, label

DOCS = Path(__file__).resolve().parent.parent / "docs"
BLUE, ORANGE, GREEN, PURPLE, RED, YELLOW, TEAL, GREY = PALETTE
SANS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
STYLE = "svg{color:#59636e} @media (prefers-color-scheme: dark){svg{color:#9aa4af}}"


def picture(width: int, height: int, title: str, parts: list[str]) -> str:
    """A whole SVG file; the title is what a screen reader says."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{SANS}">'
    return "\n".join([head, element("title", title), element("style", STYLE), arrow_heads(), *parts, "</svg>\n"])


def card(x: int, y: int, width: int, height: int, fill: str) -> str:
    return element("rect", x=x, y=y, width=width, height=height, rx=6, fill=fill)


def words(x: int, y: int, text: str, size: int = 13, **more: object) -> str:
    """Dark text for the inside of a card, from its left edge."""
    return label(x, y, text, size=size, anchor="start", **{"fill": INK, **more})


def code(x: int, y: int, lines: list[str], size: int = 11) -> list[str]:
    """Lines of code inside a card; their indent is kept."""
    keep = {"font_family": MONO, "xml:space": "preserve"}
    return [words(x, y + 15 * row, line, size, **keep) for row, line in enumerate(lines)]


# The house -----------------------------------------------------------------------------------------------------------

# From the roof down: (folder, what it is, colour, the interpreter that defines what its output means).
FLOORS = (
    ("course/", "exercises, checks, splice, progress", GREY, "the learner"),
    ("compiler/", "compile(), backends, modes, options", GREY, ""),
    ("inductor/", "loop IR, fusion, memory plan, Numba CPU and CUDA", RED, "loops: the loop IR interpreted"),
    ("prims/", "the closed set of prims; decompositions", ORANGE, "aot_eager_decomp_partition: prims in NumPy"),
    (
        "aot/",
        "functional joint graph, partition into forward and backward",
        ORANGE,
        "aot_eager: both graphs interpreted",
    ),
    ("nn/  optim/", "modules, losses; optimizers", YELLOW, "plain Python over the tensor floor"),
    ("autograd/", "the tape, a derivative for each op", YELLOW, "finite differences"),
    ("dynamo/", "bytecode to graphs, guards, resume functions", GREEN, "the concrete bytecode interpreter"),
    ("fx/", "Graph, Node, GraphModule, passes, drawing", GREEN, "eager: the graph interpreted"),
    ("tensor/", "storage, strides, views, the op table, dispatch", BLUE, "NumPy in float64"),
    ("pytree  config  logs", "what every floor needs first", GREY, ""),
)


def house() -> str:
    """One row a floor: what it holds, and beside it what decides whether it is right."""
    parts = [label(340, 22, "a floor imports only the floors below it", size=13)]
    parts.append(label(650, 22, "checked against", size=13, anchor="start"))
    for row, (folder, what, colour, oracle) in enumerate(FLOORS):
        y = 34 + 42 * row
        parts += [card(20, y, 610, 36, colour), words(34, y + 23, folder, 14, font_weight=600, font_family=MONO)]
        parts += [words(200, y + 23, what, 13), label(650, y + 23, oracle, size=12, anchor="start")]
    title = "The floors of minitorch_compile from the roof down: " + ", ".join(floor[0] for floor in FLOORS)
    return picture(930, 34 + 42 * len(FLOORS) + 6, title, parts)


def pictures() -> dict[Path, str]:
    return {DOCS / "house.svg": house()}


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    for path, text in pictures().items():
        path.write_text(text)
        print(f"wrote {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
