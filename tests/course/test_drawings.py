"""Charts, images, the pipeline and tables: the text form says the same as the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from minitorch_compile.course.address_drawing import draw_addresses
from minitorch_compile.course.image_drawing import draw_images
from minitorch_compile.course.line_chart import draw_lines
from minitorch_compile.course.pipeline_drawing import STAGES, draw_pipeline
from minitorch_compile.course.table import RECORDS, Table

SVG = "{http://www.w3.org/2000/svg}"


def parts(drawing, tag) -> list:
    return list(ElementTree.fromstring(drawing.svg()).iter(SVG + tag))


def test_the_pipeline_names_every_stage_in_picture_and_text():
    shown = [node.text for node in parts(draw_pipeline(), "text")]
    for stage in STAGES:
        assert stage.name in shown and stage.name in repr(draw_pipeline())


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [2.0, 1.0, 0.5], list(range(100))])
def test_a_line_has_a_point_for_each_value(values):
    (line,) = parts(draw_lines({"loss": values}, x_label="step", y_label="loss"), "polyline")
    assert len(line.get("points").split()) == len(values)


def test_an_image_has_a_dark_square_for_each_inked_pixel():
    squares = parts(draw_images([[[0.0, 1.0], [0.5, 0.0]]]), "rect")
    assert len(squares) == 1 + 2, "the paper and two pixels"


def test_addresses_stand_in_picture_and_text_in_the_same_order():
    drawing = draw_addresses({"x": [[0, 1, 2]], "x.t()": [[0], [1], [20]]})
    assert [node.text for node in parts(drawing, "text")] == ["x", "0", "1", "2", "x.t()", "0", "1", "20"]
    assert repr(drawing).split() == ["x", "0", "1", "2", "x.t()", "0", "1", "20"]


def test_a_view_without_elements_has_no_addresses_to_draw():
    with pytest.raises(ValueError, match="at least one row"):
        draw_addresses({"x[:0]": []})


def test_captions_must_match_the_images():
    with pytest.raises(ValueError, match="2 images but 1 captions"):
        draw_images([[[1.0]], [[1.0]]], captions=["one"])


def test_a_table_is_text_html_and_records():
    records = [{"model": "MLP", "ms": 1234.5}, {"model": "<CNN>", "ms": 2.0}]
    bundle = Table(records)._repr_mimebundle_()
    assert bundle["text/plain"] == "model       ms\nMLP    1,234.5\n<CNN>        2"
    assert "&lt;CNN&gt;" in bundle["text/html"] and bundle[RECORDS] == records


def test_an_empty_table_is_empty():
    assert repr(Table([])) == ""
