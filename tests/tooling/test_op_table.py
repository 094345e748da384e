"""docs/ops.md lists every op, up to date and without a hole."""

from tools import op_table


def test_no_op_lacks_anything() -> None:
    assert op_table.holes(list(op_table.rows())) == []


def test_the_page_is_up_to_date() -> None:
    assert op_table.PAGE.read_text() == op_table.page(list(op_table.rows())), "run python tools/op_table.py"
