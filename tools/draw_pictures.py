"""Draws the two pictures of README.md and ARCHITECTURE.md into docs/, with the same few shapes the course draws with.

    .venv/bin/python tools/draw_pictures.py

Words inside a box are dark on a light fill; what stands outside takes a grey that a light and a dark page both show.
"""

import inspect
import itertools
import textwrap
from dataclasses import dataclass
from pathlib import Path

import minitorch_compile as torch
from minitorch_compile.fx import GraphModule
from minitorch_compile.svg import INK, PALETTE, arrow, arrow_heads, element, label

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
    ("dynamo/", "bytecode to graphs, guards, resume functions", GREEN, "the concrete bytecode interpreter"),
    ("fx/", "Graph, Node, GraphModule, passes, drawing", GREEN, "eager: the graph interpreted"),
    ("nn/  optim/", "modules, losses; optimizers", YELLOW, "plain Python over the tensor floor"),
    ("autograd/", "the tape, a derivative for each op", YELLOW, "finite differences"),
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


# The pipeline --------------------------------------------------------------------------------------------------------

WIDE, GAP, COLUMNS, LETTERS = 428, 26, 2, 61


def example(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ w).sum(1)


@dataclass(frozen=True)
class Stage:
    """One step of the pipeline: who does it, what it makes of the example, and the backend that stops there."""

    name: str
    makes: str
    lines: list[str]
    stops_here: str
    colour: str


def stages() -> list[Stage]:
    """What each step really makes of the example."""
    seen = torch.compiler.inspect(example, torch.ones(8, 4), torch.ones(4, 3, requires_grad=True))
    view = seen.graphs[0]
    checks = [str(guard) for guard in seen.guards if guard.kind == "TENSOR_MATCH"][1:4]
    function = inspect.getsource(example).replace("torch.Tensor", "Tensor").splitlines()
    joint = parts_of(view.joint_graph)
    prims = parts_of(view.forward_graph)
    loops = [line for line in str(view.schedule).splitlines() if line.startswith("kernel")]
    return [
        Stage("your function", "Python, as you wrote it", function, "plain Python", GREY),
        Stage("dynamo", "a graph, and guards for it", [*parts_of(view.graph), *checks, "..."], "eager", GREEN),
        Stage("aot", "forward and backward in one graph", joint, "aot_eager", YELLOW),
        Stage("prims", "the forward half, in a closed set of operations", prims, "aot_eager_decomp_partition", ORANGE),
        Stage("inductor", "loops, fused", loops, "loops", RED),
        Stage("inductor", "one file of kernels, for CPU or CUDA", kernel(view.source), "inductor", PURPLE),
    ]


def parts_of(graph_module: GraphModule) -> list[str]:
    """A graph in one line, broken after its inputs and between its statements."""
    inputs, _, body = graph_module.graph.compact().partition(" -> ")
    return [f"{inputs} ->", *("  " + statement.strip() for statement in body.split(";"))]


def kernel(source: str) -> list[str]:
    """The first kernel of a generated file, without its comments."""
    lines = source[source.index("def fused") :].split("\n\n\n")[0].splitlines()
    return [line for line in lines if not line.lstrip().startswith("#")]


def folded(lines: list[str]) -> list[str]:
    """Lines that fit into a card: a long one goes on below, indented."""
    fitting: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        fitting += textwrap.wrap(line, LETTERS, subsequent_indent=indent, break_long_words=False)
    return fitting


def pipeline() -> str:
    """The stages in reading order, an arrow from each to the next. A row is as high as its longest card needs."""
    steps = stages()
    lines = [folded(stage.lines) for stage in steps]
    places: list[Box] = []
    y = 2
    for row in range(0, len(steps), COLUMNS):
        height = 64 + 15 * max(map(len, lines[row : row + COLUMNS]))
        places += [Box(2 + column * (WIDE + GAP), y, height) for column in range(COLUMNS)]
        y += height + GAP
    parts: list[str] = []
    for number, (stage, box) in enumerate(zip(steps, places, strict=True)):
        stop = f"backend={stage.stops_here!r} stops here" if number else "the oracle of all that follows"
        parts += stage_card(stage, box, lines[number], stop)
    parts += [arrow(way(box, following), 1) for box, following in itertools.pairwise(places)]
    title = "From a Python function to kernels: " + ", ".join(f"{s.name} makes {s.makes}" for s in steps[1:])
    return picture(COLUMNS * (WIDE + GAP) - GAP + 4, y - GAP + 2, title, parts)


@dataclass(frozen=True)
class Box:
    """Where a card lies; all are equally wide."""

    x: int
    y: int
    height: int


def stage_card(stage: Stage, box: Box, lines: list[str], stop: str) -> list[str]:
    """The card of one stage: its name, what it makes, the real text of it, and where one can stop."""
    right = box.x + WIDE - 12
    return [
        card(box.x, box.y, WIDE, box.height, stage.colour),
        words(box.x + 12, box.y + 21, stage.name, 14, font_weight=700),
        label(right, box.y + 21, stage.makes, size=12, anchor="end", fill=INK),
        *code(box.x + 12, box.y + 44, lines),
        label(right, box.y + box.height - 10, stop, size=11, anchor="end", fill=INK, font_style="italic"),
    ]


def way(box: Box, following: Box) -> str:
    """From a card to the next: to the right, or down and back to the left."""
    if box.y == following.y:
        return f"M{box.x + WIDE},{box.y + box.height // 2} H{following.x}"
    turn = following.y - GAP // 2
    return f"M{box.x + WIDE // 2},{box.y + box.height} V{turn} H{following.x + WIDE // 2} V{following.y}"


def pictures() -> dict[Path, str]:
    return {DOCS / "pipeline.svg": pipeline(), DOCS / "house.svg": house()}


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    for path, text in pictures().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
