"""The committed pictures are those the script draws, and nothing in them comes from outside."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from draw_pictures import pictures


@pytest.mark.parametrize(("path", "text"), pictures().items(), ids=lambda value: getattr(value, "name", ""))
def test_the_committed_picture_is_up_to_date(path: Path, text: str) -> None:
    assert path.read_text() == text, "run tools/draw_pictures.py"


@pytest.mark.parametrize("text", pictures().values(), ids=[path.name for path in pictures()])
def test_a_picture_is_well_formed_and_stands_alone(text: str) -> None:
    svg = ElementTree.fromstring(text)
    assert svg.findtext("{http://www.w3.org/2000/svg}title")
    assert text.count("http") == 1  # the name space
