"""docs/prims.md lists every prim and the core, up to date and without a hole."""

from tools import prim_table


def test_no_prim_lacks_anything() -> None:
    assert prim_table.holes() == []


def test_the_page_is_up_to_date() -> None:
    assert prim_table.PAGE.read_text() == prim_table.page(), "run python tools/prim_table.py"
