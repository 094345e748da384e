"""The viewer's data: where every line of a kernel comes from, and what stands in which frame."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.compiler.viewer import in_notebook
from minitorch_compile.compiler.viewer.frames import MOST, frames_of
from minitorch_compile.compiler.viewer.layout import layouts_of
from minitorch_compile.compiler.viewer.page import FOLDER, page_of
from minitorch_compile.compiler.viewer.report import Item, Report, Stage
from minitorch_compile.compiler.viewer.stages import report_of


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up = nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.nn.functional.gelu(self.up(self.norm(x)))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(torch.compiler.inspect(Net(), torch.ones(4, 8)))


def stage(report: Report, key: str) -> Stage:
    return next(each for each in report.stages if each.key == key)


def test_a_node_knows_the_module_that_it_was_called_in(report):
    paths = [item.module for item in stage(report, "graph").items if item.kind != "parameter"]
    block = [("blocks", "{}", "norm"), ("blocks", "{}", "up"), ("blocks", "{}"), ("blocks", "{}")]
    assert paths == [(), *(tuple(p.format(n) for p in path) for n in range(4) for path in block), ()]


def test_every_prim_is_led_back_to_a_call_of_the_users(report):
    for item in stage(report, "prims").items:
        if item.kind not in ("input", "parameter", "output"):
            assert item.origins["graph"] and item.origins["lines"], item.name


def test_a_kernel_that_two_blocks_share_leads_to_the_calls_of_both(report):
    lines = [item for item in stage(report, "source").items if "= erf" in item.label]
    assert [sorted(line.origins["graph"]) for line in lines] == [["gelu"], ["gelu_1", "gelu_2"], ["gelu_3"]]


def test_the_line_that_ends_a_loop_belongs_to_the_node_that_the_loop_was_made_for(report):
    lines = {item.label.strip(): item.origins.get("prims") for item in stage(report, "source").items}
    assert lines["t18 = t16 + t17"] == lines["out0[8 * i0 + r0] = t18"] == ["add_1"]


def test_each_line_of_a_kernel_that_computes_something_has_an_origin(report):
    source = stage(report, "source").items
    computed = [item for item in source if re.match(r"\s+(t\d+ =|out\d+\[)", item.label)]
    assert computed and all(item.origins.get("prims") for item in computed)


def test_backward_kernels_lead_to_the_forward_calls_that_they_differentiate(report):
    loops = stage(report, "loops_backward").items
    assert {"layer_norm", "linear", "gelu"} <= {name for item in loops for name in item.origins.get("graph", ())}


def test_a_guard_is_about_an_argument(report):
    about = {name for item in stage(report, "guards").items for name in item.origins.get("graph", ())}
    assert {item.name for item in stage(report, "graph").items if item.kind == "parameter"} <= about


def test_a_graph_break_stands_between_two_frames():
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        print(end="")
        return y + 1

    boxes = stage(report_of(torch.compiler.inspect(broken, torch.ones(2))), "breaks").items
    assert [box.kind for box in boxes] == ["module", "write", "module"]
    assert boxes[2].reads == [boxes[1].name] and "print" in boxes[1].code


def test_versions_of_a_compiled_function_say_what_sets_them_apart():
    def scaled(x: torch.Tensor, k: object) -> torch.Tensor:
        return x * 2 if k == "double" else x * 3

    compiled = torch.compile(scaled, backend="eager")
    for k in ("double", "triple"):
        compiled(torch.ones(2), k)
    boxes = stage(report_of(torch.compiler.inspect(compiled, torch.ones(2), "double")), "versions").items
    checks = [box for box in boxes if box.kind == "view"]
    assert {check.code for check in checks} == {"k == 'double'", "k == 'triple'"}


def test_not_inspected_nodes_have_no_trail():
    seen = []
    torch.compile(lambda x: x + 1, backend=lambda gm, inputs: seen.append(gm) or gm)(torch.ones(2))
    assert all("trail" not in node.meta for node in seen[0].graph.nodes)


# --- frames and layout ------------------------------------------------------------------------------------------------


def chain(count: int, **more: object) -> Stage:
    items = [Item(f"n{i}", "add", reads=[f"n{i - 1}"] if i else [], **more) for i in range(count)]
    return Stage("graph", "", "graph", items)


@pytest.mark.parametrize("count", [1, 60, 61, 700, 5000])
def test_no_level_has_too_many_members_and_nothing_is_lost(count):
    root = frames_of(chain(count))
    assert sorted(root.everything) == list(range(count))
    waiting = [root]
    while waiting:
        frame = waiting.pop()
        assert len(frame.members) <= MOST
        waiting += frame.inner


def test_a_small_graph_has_no_frames():
    assert not frames_of(chain(60)).inner


def test_an_arrow_into_a_frame_enters_through_a_port():
    items = [Item("x", "x"), *(Item(f"n{i}", "add", module=("layer",), reads=["x"]) for i in range(2))]
    outer, inner = layouts_of(Stage("graph", "", "graph", items))
    assert [sorted(box.keys() - {"at"}) for box in outer["boxes"]] == [["item"], ["frame"]]
    assert [box.get("in") for box in inner["boxes"]] == [None, None, 0]


# --- the page ---------------------------------------------------------------------------------------------------------


def test_text_in_a_program_can_not_end_the_script():
    page = page_of(Report("f", [Stage("lines", "</script>", "text", [Item("1", "x = '</script><b><!--<script>'")])]))
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data[1])["stages"][0]["items"][0]["label"] == "x = '</script><b><!--<script>'"
    assert "</script><b>" not in page and "<!--" not in page


def test_save_says_which_suffix_it_wants(tmp_path):
    seen = torch.compiler.inspect(lambda x: x + 1, torch.ones(2))
    assert seen.save(tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(ValueError, match=r"must end in \.html, but got .*report\.pdf"):
        seen.save(tmp_path / "report.pdf")


def test_a_notebook_shows_the_page_in_a_frame_and_words_where_frames_are_taken_out():
    bundle = torch.compiler.inspect(lambda x: x + 1, torch.ones(2))._repr_mimebundle_()
    opening, page, words = re.fullmatch(
        r"<style>[^<]*</style>(<iframe [^>]*) srcdoc='([^']*)'>(.*)</iframe>", bundle["text/html"], re.DOTALL
    ).groups()
    assert 'sandbox="allow-scripts"' in opening and html.unescape(page).startswith("<!doctype html>")
    assert "<p>Inspection(1 graphs, 0 breaks" in words and "captured graph" in words and "(x + 1,)" in words
    assert bundle["text/plain"].startswith("Inspection(1 graphs")


def test_a_page_that_is_too_large_for_a_notebook_is_not_put_into_it(monkeypatch):
    monkeypatch.setattr(in_notebook, "LARGEST", 1000)
    shown = in_notebook.notebook_html(torch.compiler.inspect(lambda x: x + 1, torch.ones(2)))
    assert "<iframe" not in shown and "save(&quot;report.html&quot;)" in shown and len(shown) < 1500


@pytest.mark.skipif(shutil.which("node") is None, reason="wants node")
def test_opening_a_frame_moves_others_apart_and_never_over_each_other():
    script = Path(FOLDER, "stretch.js").read_text(encoding="utf-8")
    frames = [
        {"label": "", "size": [100, 100], "arrows": [[0, 1, 50, 30, 50, 40, 50, 60, 50, 70]],
         "boxes": [{"frame": 1, "at": [50, 20, 40, 20]}, {"item": 0, "at": [50, 80, 40, 20]}]},
        {"label": "inner", "size": [300, 200], "arrows": [], "boxes": [{"item": 1, "at": [150, 100, 40, 20]}]},
    ]  # fmt: skip
    asked = f"{script}\nconsole.log(JSON.stringify(arranged({json.dumps(frames)}, 0, (n) => n === 1)))"
    told = json.loads(subprocess.run(["node", "-e", asked], capture_output=True, check=True, text=True).stdout)
    opened, below = told["boxes"]
    assert below["y"] - below["height"] / 2 >= opened["y"] + opened["height"] / 2
    _, start, *_, end = told["arrows"][0]
    assert start == opened["y"] + opened["height"] / 2 and end == below["y"] - below["height"] / 2
