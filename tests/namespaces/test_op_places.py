"""torch.ops.where: each op's lines are found, under all of its names; what is no op is refused."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.ops import Place, declaration_of
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op

ROOT = Path(__file__).resolve().parents[2]
OPS = [*ops.table.values(), *prims.table.values()]


def block(place: Place) -> str:
    """The statement at a place: its first line, and what belongs to it."""
    lines = (ROOT / place.file).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(inspect.getblock(lines[place.line - 1 :]))


def test_the_declaration_names_the_op() -> None:
    wrong = {op.name: declared for op in OPS if _bare_name(op) not in (declared := block(declaration_of(op)))}
    assert wrong == {}


def _bare_name(op: Op) -> str:
    """The name as the declaration has it: in-place twins are declared with their op."""
    name = op.__name__.removesuffix("_")
    return name.removeprefix("special_") if "polynomial" in name else name


def test_each_floor_is_found() -> None:
    places = torch.ops.where("softmax")
    assert "def softmax(input: Array" in block(places.declaration)
    assert "@derivative(ops.softmax" in block(places.derivative)
    assert '@batching_rule("softmax"' in block(places.batching_rule)
    assert "@decomposes(ops.softmax)" in block(places.decomposition)
    assert places.lowering["amax"].file == "minitorch_compile/inductor/lowering/reduction.py"
    assert sorted(places.lowering) == ["amax", "broadcast_in_dim", "div", "exp", "reshape", "sub", "sum"]


def test_a_lesson_that_writes_the_op_is_found() -> None:
    assert block(torch.ops.where("softmax").lesson).startswith("def softmax(")
    assert torch.ops.where("linalg.cholesky").lesson is None


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("softmax", "softmax"),
        ("torch.softmax", "softmax"),
        ("Tensor.softmax", "softmax"),
        ("F.softmax", "F.softmax"),
        ("torch.nn.functional.gelu", "gelu"),
        ("mse_loss", "F.mse_loss"),
        ("linalg.inv", "linalg_inv"),
        ("special.expit", "sigmoid"),
        ("Tensor.add_", "add_"),
        (torch.softmax, "softmax"),
        (torch.Tensor.softmax, "softmax"),
        (torch.ones(2).softmax, "softmax"),
        (torch.Tensor.view, "view"),  # written by hand, as it also takes a dtype
        (torch.index_put, "index_put"),
        (torch.nn.functional.cross_entropy, "F.cross_entropy"),
    ],
)
def test_an_op_has_many_names(asked: Any, name: str) -> None:
    assert torch.ops.where(asked).op is ops.table[name]


def test_a_prim_has_a_place_too() -> None:
    exp = torch.ops.where("prims.exp")
    assert "def exp(" in block(exp.declaration)
    assert list(exp.lowering) == ["exp"]


def test_what_has_no_rule_says_why() -> None:
    assert torch.ops.where("eq").derivative == "none: the result is bool"
    assert torch.ops.where("argwhere").decomposition.startswith("none: the size of its result depends on the data")
    assert torch.ops.where("histc").batching_rule == "none: the edges of the bins depend on the example"
    assert torch.ops.where("einsum").derivative == "that of its parts"


def test_a_second_name_has_the_rules_of_the_first_and_a_line_of_its_own() -> None:
    first, second = torch.ops.where("abs"), torch.ops.where("absolute")
    assert second.derivative == first.derivative
    assert block(second.declaration).startswith('absolute = alias("absolute", abs')


@pytest.mark.parametrize("name", ["sofmax", "torch.sofmax", "Tensor.sofmax", "F.sofmax"])
def test_a_wrong_name_is_told_the_right_one(name: str) -> None:
    with pytest.raises(AttributeError, match=f"there is no op named '{name}'; did you mean (F.)?softmax"):
        torch.ops.where(name)


@pytest.mark.parametrize("value", [3, torch.vmap, torch.nn.Linear, "vmap", len])
def test_what_is_no_op_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="op must be an op, its name, or a method or function of one"):
        torch.ops.where(value)
