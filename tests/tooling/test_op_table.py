"""Completeness: every op has what each floor needs of it, or says why not. docs/ops.md lists it all.

A floor keeps its rules in a table keyed by op (shape rules, derivatives, decompositions, batching rules), and a second
one of reasons for the ops that it has no rule for. `tools/op_table.py` reads them; an op in neither is a hole. An op
that is written in others has what its parts have; that these end in prims is tested in tests/prims/test_closure.py.
"""

from __future__ import annotations

import pytest

from minitorch_compile.tensor import ops
from tools import op_table

ASPECTS = {  # of an op, and what may stand in place of a rule
    "shapes": "sizes, strides and dtype without data; or that they depend on the data",
    "derivative": "a formula; or why nothing flows back",
    "decomposition": "a rule in simpler ops; or why it stays as it is",
    "batching": "a rule, or that of its family; or why it can't be called on a batch",
    "tried": "calls with awkward arguments; or that it is a part of other ops",
}


@pytest.fixture(scope="module")
def rows() -> list[op_table.Row]:
    return list(op_table.rows())


@pytest.mark.parametrize("aspect", ASPECTS)
def test_no_op_lacks(aspect: str, rows: list[op_table.Row]) -> None:
    assert [row.op for row in rows if getattr(row, aspect) == op_table.HOLE] == [], ASPECTS[aspect]


def test_every_op_has_a_row(rows: list[op_table.Row]) -> None:
    assert [row.op for row in rows] == sorted(ops.table, key=str.lower)


def test_only_composite_ops_rely_on_their_parts(rows: list[op_table.Row]) -> None:
    parts = [row for row in rows if op_table.PARTS in (row.derivative, row.decomposition, row.batching)]
    assert {ops.table[row.op].kind for row in parts} == {"composite"}


def test_the_page_is_up_to_date(rows: list[op_table.Row]) -> None:
    assert op_table.PAGE.read_text() == op_table.page(rows), "run python tools/op_table.py"
