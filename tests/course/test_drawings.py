"""Charts, images, the pipeline and tables: the text form says the same as the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from minitorch_compile.course.drawings.addresses import draw_addresses
from minitorch_compile.course.drawings.bar_chart import draw_bars
from minitorch_compile.course.drawings.images import draw_images
from minitorch_compile.course.drawings.line_chart import draw_lines
from minitorch_compile.course.drawings.lives import draw_lives
from minitorch_compile.course.drawings.pipeline import STAGES, draw_pipeline
from minitorch_compile.course.drawings.roofline import draw_roofline
from minitorch_compile.course.drawings.table import RECORDS, Table
from minitorch_compile.svg import INK

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


def test_a_bar_is_as_long_as_its_value():
    bars = parts(draw_bars({"slow": 1.0, "fast": 4.0}, unit="GFLOP/s"), "rect")
    slow, fast = (float(bar.get("width")) for bar in bars)
    assert fast == 4 * slow


@pytest.mark.parametrize("values", [{}, {"backwards": -1.0}])
def test_bars_need_values_that_have_a_length(values):
    with pytest.raises(ValueError, match="at least one value, none below 0"):
        draw_bars(values, unit="ms")


def named(drawing, name):
    """The group of a plot that has this name."""
    return next(group for group in parts(drawing, "g") if group.get("id") == name)


def test_a_measurement_at_the_limit_lies_on_the_roof():
    drawing = draw_roofline(40.0, 100.0, {"slope": (0.25, 10.0), "flat": (20.0, 100.0), "low": (20.0, 1.0)})
    line = next(named(drawing, "roof").iter(SVG + "path")).get("d").split()
    (x0, y0), (x1, y1), _ = [(float(x), float(y)) for x, y in zip(line[1::3], line[2::3])]
    dots = [(float(dot.get("x")), float(dot.get("y"))) for dot in named(drawing, "points").iter(SVG + "use")]
    slope, flat, low = dots
    assert abs(y0 + (slope[0] - x0) * (y1 - y0) / (x1 - x0) - slope[1]) < 0.01
    assert abs(flat[1] - y1) < 0.01 and low[1] > y1 + 50


def test_a_plot_is_drawn_in_the_pages_ink_and_brings_no_style_for_the_page():
    svg = draw_roofline(40.0, 100.0, {"a": (1.0, 10.0)}).svg()
    assert svg.count("currentColor") > 20 and INK not in svg and "#000000" not in svg
    assert "<style" not in svg and "xlink" not in svg
    assert svg == draw_roofline(40.0, 100.0, {"a": (1.0, 10.0)}).svg()


def test_a_logarithm_has_no_place_for_zero():
    with pytest.raises(ValueError, match="all numbers must be positive, got 0"):
        draw_roofline(40.0, 100.0, {"nothing": (0, 1.0)})


def test_names_of_measurements_do_not_lie_on_each_other():
    drawing = draw_roofline(40.0, 100.0, dict.fromkeys(("one", "two", "three"), (20.0, 50.0)))
    names = [node for node in parts(drawing, "text") if node.text in ("one", "two", "three")]
    assert len({node.get("transform") for node in names}) == 3


def test_a_buffer_is_as_wide_as_its_life_and_as_high_as_its_bytes():
    a, b = parts(draw_lives([("a", 0, 0, 0, 64), ("b", 0, 3, 64, 128)]), "rect")
    assert float(b.get("width")) == 4 * float(a.get("width"))
    assert abs(float(b.get("height")) - 2 * float(a.get("height"))) < 0.2


def test_lives_stand_in_the_text_as_in_the_picture():
    drawing = draw_lives([("a", 0, 1, 0, 64), ("b", 1, 2, 64, 64)])
    assert repr(drawing).splitlines()[1] == "b  .##  bytes 64 to 128"
    with pytest.raises(ValueError, match="at least one buffer"):
        draw_lives([])
