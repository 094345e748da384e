"""The drawing shows what the strides say, and refuses in words what can't be drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import minitorch_compile as torch
from minitorch_compile.course.drawings.storage import draw_layout, draw_storage


def labels(drawing) -> list[str]:
    tree = ElementTree.fromstring(drawing.svg())
    return [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")]


VIEWS = [
    torch.arange(12).reshape(3, 4),
    torch.arange(12).reshape(3, 4).t(),
    torch.arange(12).reshape(3, 4)[:, ::2],
    torch.arange(12).reshape(3, 4)[:1].expand(3, 4),
    torch.arange(24).reshape(2, 3, 4),
    torch.tensor(2.5),
    torch.zeros(0, 3),
    torch.arange(60)[50:],
]


@pytest.mark.parametrize("x", VIEWS, ids=lambda x: f"{tuple(x.shape)}")
def test_every_element_and_every_cell_is_in_the_picture(x):
    shown = labels(draw_storage(x))
    elements = [f"{value:g}" for value in x.flatten().tolist()]
    storage = [f"{value:g}" for value in x.storage.buffer.tolist()]
    assert shown[0] == f"sizes {tuple(x.shape)}  strides {x.stride()}  offset {x.storage_offset()}"
    assert shown[1 : 1 + len(elements)] == elements
    assert [text for text in storage if text not in shown] == []


def test_jumps_are_labelled_with_their_strides():
    assert {"dim 0: +4", "dim 1: +2"} <= set(labels(draw_storage(torch.arange(12).reshape(3, 4)[:, ::2])))


def test_the_text_form_marks_the_cells_that_are_read():
    assert repr(draw_layout([7, 8, 9], (2,), (2,))).splitlines()[-1] == "storage: [7] 8 [9]"


def test_a_notebook_gets_inline_svg_and_text():
    bundle = draw_layout([1, 2], (2,), (1,))._repr_mimebundle_()
    assert "<svg" in bundle["text/html"] and bundle["text/plain"].startswith("sizes (2,)")


def test_values_are_escaped():
    assert "<b>" in labels(draw_layout(["<b>"], (1,), (1,)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], (2, 2), (1,)), "2 sizes but 1 strides"),
        (([1, 2], (3,), (1,)), r"element \(2,\) would lie in cell 2; the storage has cells 0 to 1"),
        (([1, 2], (2,), (-1,)), r"would lie in cell -1"),
        ((list(range(97)), (1,), (1,)), "the storage has 97 cells; at most 96"),
        (([1], (1, 1, 1, 1), (1, 1, 1, 1)), "4 dimensions; at most 3"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_drawing(arguments, message):
    with pytest.raises(ValueError, match=message):
        draw_layout(*arguments)
