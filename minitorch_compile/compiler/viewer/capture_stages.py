"""What happened before there was a graph, as stages: the user's lines, bytecode, guards, breaks, versions.

>>> import minitorch_compile as torch
>>> def step(x):
...     return x * 2 + 1
>>> seen = torch.compiler.inspect(step, torch.ones(3))
>>> for item in code_stage("code", seen.explanation.frames[0]).items[:4]:
...     print(item.kind, item.label.strip())                                              # doctest: +ELLIPSIS
heading 2 | return x * 2 + 1
line 0 LOAD_FAST            'x'
line 1 LOAD_CONST           2
line 2 BINARY_OP            '*'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from minitorch_compile.compiler.viewer.graph_stages import line_name
from minitorch_compile.compiler.viewer.report import Item, Origins, Stage
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.explaining.frame_view import FrameView
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.fx import GraphModule
from minitorch_compile.source_place import source_place


def lines_stage(modules: Iterable[GraphModule]) -> Stage:
    """The lines of the user's that left something in a graph, file by file."""
    found = {node.meta["stack"] for module in modules for node in module.graph.nodes if node.meta.get("stack")}
    items: list[Item] = []
    shown = ""
    for filename, number, text in sorted(found):
        if filename != shown:
            items.append(Item(filename, filename, "heading"))
            shown = filename
        line = Item(line_name((filename, number, text)), f"{number:5} | {text}", "line")
        line.place = source_place(filename, number)
        items.append(line)
    return Stage("lines", "your lines", "text", items, "the lines that left something in a graph")


def code_stage(key: str, frame: FrameView) -> Stage:
    """The instructions of a frame, under the lines that they were compiled from."""
    items: list[Item] = []
    for number, row in enumerate(frame.rows):
        line: Origins = {"lines": [f"{frame.program.code.co_filename}:{row.line}"]}
        items.append(Item(f"row{number}", f"{row.line or '':5} | {row.source.strip()}", "heading", origins=line))
        items += [Item(f"i{index}", f"{index:9} {text}", "line", origins=line) for index, text in row.instructions]
    return Stage(key, f"bytecode of {frame.name}", "text", items, frame.place)


# --- guards -----------------------------------------------------------------------------------------------------------


def guards_stage(key: str, guards: Sequence[Guard], module: GraphModule | None, graph_key: str) -> Stage:
    """A line for each guard, with the argument of the graph that it is about."""
    inputs = _inputs_by_source(module)
    items = []
    for number, guard in enumerate(guards):
        about = {graph_key: inputs[name]} if (name := guard.source.name()) in inputs else {}
        items.append(Item(f"g{number}", str(guard), "line", place=guard.place, origins=about))
    return Stage(key, "guards", "text", items, f"{len(items)} guards: all must hold for the code to be used again")


def guard_tree_stage(key: str, guards: Sequence[Guard], guards_key: str) -> Stage:
    """A box for each thing that is guarded, below what it is read from."""
    boxes: dict[str, Item] = {}
    for number, guard in enumerate(guards):
        chain = _chain(guard.source)
        for base, source in zip([None, *chain], chain):
            name = source.name()
            if name not in boxes:
                reads = [base.name()] if base is not None else []
                label = name.removeprefix(base.name()) if base is not None else name
                boxes[name] = Item(name, _short(label), "input" if base is None else "view", reads=reads)
                boxes[name].module = tuple(_modules_in(name))
        last = boxes[chain[-1].name()]
        last.kind = "parameter" if guard.kind == "TENSOR_MATCH" else "pointwise"
        last.code = f"{last.code}\n{guard.code}".strip()
        last.detail = f"{last.code.count(chr(10)) + 1} checked"
        last.origins.setdefault(guards_key, []).append(f"g{number}")
    note = f"{len(guards)} guards on {len(boxes)} things, each right of what it is read from"
    return Stage(key, "guards, by what they look at", "graph", list(boxes.values()), note, direction="LR")


def _chain(source: Source) -> list[Source]:
    """A source and what it is read from, the root first."""
    base = source.base
    return [*(_chain(base) if base is not None else []), source]


def _modules_in(name: str) -> list[str]:
    """The modules on the way to a source, as `_modules['blocks']` names them."""
    return [part.partition("']")[0] for part in name.split("_modules['")[1:]]


def _short(label: str) -> str:
    return label if len(label) <= 30 else f"{label[:29]}…"


def _inputs_by_source(module: GraphModule | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in module.graph.find_nodes(op="placeholder") if module is not None else ():
        if "source" in node.meta:
            found.setdefault(node.meta["source"].name(), []).append(node.name)
    return found


# --- frames, breaks, versions -----------------------------------------------------------------------------------------


def breaks_stage(frames: Sequence[FrameView]) -> Stage:
    """The way of a call through the compiled frames: graphs, and the breaks between them."""
    items: list[Item] = []
    before: list[str] = []
    for number, frame in enumerate(frames):
        module = frame.entry.graph_module
        count = sum(node.op.startswith("call") for node in module.graph.nodes) if module is not None else 0
        name = f"frame{number}"
        detail = f"{count} operations" if count else "nothing to compile"
        items.append(Item(name, frame.name, "module", detail, code=frame.generated_code, place=frame.place))
        items[-1].reads = before
        before = [name]
        broken = frame.entry.graph_break
        if broken is not None:
            here = broken.source_line
            label = f"break: {broken.title}"
            mark = Item(f"break{number}", label, "write", here.place, broken.describe(), here.place, reads=[name])
            mark.origins = {"lines": [line_name((here.filename, here.lineno, ""))]}
            items.append(mark)
            before = [mark.name]
    return Stage("breaks", "frames and breaks", "graph", items, "a call's way through the compiled frames")


def versions_stage(caches: Sequence[tuple[str, Sequence[Entry]]]) -> Stage:
    """The versions that were compiled of each function, the oldest first. Guards that all share are left out."""
    items: list[Item] = []
    for number, (name, entries) in enumerate(caches):
        texts = [[guard.code for guard in entry.guards] for entry in entries]
        shared = set(texts[0]).intersection(*texts[1:]) if len(texts) > 1 else set()
        before = f"call{number}"
        items.append(Item(before, f"call of {name}", "source", f"{len(shared)} guards shared" if shared else ""))
        for version, (entry, guards) in enumerate(zip(entries, texts)):
            apart = [guard for guard in guards if guard not in shared]
            check, runs = f"check{number}.{version}", f"runs{number}.{version}"
            counted = f"{len(apart)} guards" + (" of its own" if shared else "")
            items.append(Item(check, counted, "view", _short(apart[0]) if apart else "", "\n".join(apart)))
            items[-1].reads = [before]
            items.append(Item(runs, f"version {version + 1} runs", "kernel", code=entry.source, reads=[check]))
            before = check
        items.append(Item(f"miss{number}", "none holds: trace again", "output", reads=[before]))
    return Stage("versions", "cache versions", "graph", items, "where a version's guards miss, the next is asked")
