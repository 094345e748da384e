"""The scheduler that lesson 14 builds in its cells decides as the package's own."""

from __future__ import annotations

import pytest

from minitorch_compile.inductor.schedule.scheduler import schedule

from .notebooks import ROOT, tool

build = tool("build_course")
LESSON = ROOT / "authoring" / "lessons" / "14_fusion_and_scheduling.py"


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's cells define, up to its scheduler, without those that measure time."""
    names = {}
    for cell in build.source_cells(LESSON):
        if cell.cell_type == "code" and "varies" not in cell.metadata.get("tags", []):
            exec(compile(cell.source, str(LESSON), "exec"), names)
            if "greedy" in names:
                return names
    raise LookupError("the lesson defines no `greedy`")


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.softmax(1),
        lambda x: x.softmax(0).softmax(1),
        lambda x: x.exp() + x.exp().flip(0),
        lambda x: x.exp() + x.exp().flip(0).cumsum(1).flip(0),
        lambda x: (x.sum(0), x.sum(1), x.amax(1)),
        lambda x: (x - x.mean(1, keepdim=True)) / x.var(1, keepdim=True),
        lambda x: (x.sin(), x.reshape(4, 4, 16).cos(), x.t().exp()),
        lambda x: x / x.sum(),
    ],
    ids=range(8),
)
def test_its_scheduler_makes_as_many_kernels_that_move_as_many_bytes_as_the_packages(lesson, program):
    graph = lesson["loops_of"](program, (16, 16))
    kernels, _ = lesson["greedy"](graph)
    expected = schedule(graph)
    assert (len(kernels), lesson["traffic"](kernels, graph)) == (expected.kernel_count, expected.bytes_moved)


def test_its_kernels_run_in_an_order_in_which_each_finds_what_it_reads(lesson):
    graph = lesson["loops_of"](lambda x: x.exp() + x.exp().flip(0).cumsum(1).flip(0) + x.softmax(0).sum(1), (8, 8))
    made = set(graph.inputs)
    for kernel in lesson["greedy"](graph)[0]:
        made |= lesson["writes"](kernel)
        assert lesson["reads"](kernel) <= made
