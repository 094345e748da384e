"""The generated file as items: a line each, with the prims that it computes and the kernels that run it.

Kernels of the same structure share a definition, so one line may compute something for several layers.

>>> import minitorch_compile as torch
>>> from minitorch_compile.compiler.viewer.lowered import Lowered
>>> seen = torch.compiler.inspect(lambda x: (x.exp() + 1).sum(), torch.ones(4))
>>> items = source_items(seen.source, [Lowered(seen.prim_stretches[0])], lambda stage: stage)
>>> next(item for item in items if "exp" in item.label and "= exp" in item.label).origins["graph"]
['exp']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from minitorch_compile.compiler.viewer.lowered import Lowered
from minitorch_compile.compiler.viewer.marked_lines import kernel_lines
from minitorch_compile.compiler.viewer.report import Item, Origins, merged

Key = Callable[[str], str]
Found = tuple[int, list[str], Origins]  # a line's number, nodes, and further origins


def source_items(source: str, views: Sequence[Lowered], key: Key) -> list[Item]:
    """A line each; a stretch's file follows that of the one before."""
    lines = source.split("\n")
    about: dict[int, list[Origins]] = {}
    places: dict[int, str] = {}
    start = 0
    for view in views:
        found = (each(lines, start, view, key) for each in (summary_lines, definition_lines, call_lines))
        for number, nodes, further in chain.from_iterable(found):
            about.setdefault(number, []).extend([view.origins(nodes), further])
            places.setdefault(number, view.place(nodes))
        start += view.file.source.count("\n")
    return [
        Item(f"L{number + 1}", line, kind_of_line(line), place=places.get(number, ""))
        if number not in about
        else Item(f"L{number + 1}", line, kind_of_line(line), "", "", places[number], origins=merged(about[number]))
        for number, line in enumerate(lines)
    ]


def kind_of_line(line: str) -> str:
    return "comment" if line.lstrip().startswith("#") else "heading" if line.startswith("def ") else "line"


def definition_lines(lines: Sequence[str], start: int, view: Lowered, key: Key) -> Iterator[Found]:
    """The lines of each step's kernel. Comments differ between kernels that share a definition, code doesn't."""
    begins = {line[4 : line.index("(")]: at for at, line in enumerate(lines) if line.startswith("def ") and at >= start}
    for number, (step, kernel) in enumerate(zip(view.schedule.steps, view.writer.kernels)):
        if kernel is None:
            continue
        at = begins[view.writer.functions[kernel.structure]]
        further: Origins = {key("reasons"): [f"{view.number}kernel{number}"]}
        yield at, view.nodes_of_step(step), further
        for _, nodes in kernel_lines(kernel.body.split("\n")):
            at += 1
            while lines[at].lstrip().startswith("#"):
                at += 1
            yield at, nodes, further


def summary_lines(lines: Sequence[str], start: int, view: Lowered, key: Key) -> Iterator[Found]:
    """The lines at the top of the file that say what each kernel computes."""
    for number, step in enumerate(view.schedule.steps):
        text = f"kernel {number}: "
        at = next((n for n in range(start, len(lines)) if lines[n].startswith(text)), None)
        if at is not None:
            yield at, view.nodes_of_step(step), {key("reasons"): [f"{view.number}kernel{number}"]}


def call_lines(lines: Sequence[str], start: int, view: Lowered, key: Key) -> Iterator[Found]:
    """The line of each step in the list of kernels that a call runs."""
    at = next((n for n in range(start, len(lines)) if lines[n].strip() == "steps=["), len(lines))
    for number, step in enumerate(view.schedule.steps):
        text = f"{view.writer.step(number)},"
        at = next((n for n in range(at, len(lines)) if lines[n].strip() == text.split("\n")[0].strip()), at)
        further: Origins = {key("reasons"): [f"{view.number}kernel{number}"]}
        yield at, view.nodes_of_step(step), further
