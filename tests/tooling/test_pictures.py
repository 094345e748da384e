"""The committed pictures are those the script draws, and nothing in them comes from outside."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from draw_pictures import house, pipeline

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("name", "draw"), [("house.svg", house), ("pipeline.svg", pipeline)])
def test_the_committed_picture_is_up_to_date(name: str, draw: Callable[[], str]) -> None:
    assert (DOCS / name).read_text() == draw(), "run tools/draw_pictures.py"


@pytest.mark.parametrize("name", ["house.svg", "pipeline.svg"])
def test_a_picture_is_well_formed_and_stands_alone(name: str) -> None:
    text = (DOCS / name).read_text()
    svg = ElementTree.fromstring(text)
    assert svg.findtext("{http://www.w3.org/2000/svg}title")
    assert text.count("http") == 1  # the name space
