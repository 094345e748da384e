"""prims.closure(): the public ops come down to prims, and can be seen to."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.prims.closure import Closure
from minitorch_compile.prims.example_calls import example_calls
from minitorch_compile.prims.reduction_tree import Reduction, tree_of
from minitorch_compile.tensor import ops
from tools import example_calls as tool


@pytest.fixture(scope="module")
def everything() -> Closure:
    return prims.closure()


def test_every_public_op_has_an_example_that_is_up_to_date() -> None:
    assert tool.missing() == []
    assert tool.FILE.read_text() == tool.page(), "run python tools/example_calls.py"


def test_every_public_op_is_followed_or_needs_data(everything: Closure) -> None:
    assert set(everything.reductions) | set(everything.needs_data) == set(example_calls())
    assert len(everything.needs_data) < 15


def test_nothing_is_left_but_prims_and_ops_with_a_reason(everything: Closure) -> None:
    assert everything.missing_prims == []


def test_only_prims_for_gradients_and_random_numbers_are_needed_by_no_public_op(everything: Closure) -> None:
    """They come from derivative formulas, from functionalization, from view(dtype), and from who has the kernel."""
    from_below = {"convolution_weight_grad", "max_pool2d_backward", "philox_uniform", "view_element_type"}
    with_a_kernel = {"flash_attention", "flash_attention_backward"}
    assert set(everything.unused_prims) <= from_below | with_a_kernel


def test_counts_are_of_ops(everything: Closure) -> None:
    by_hand = [name for name, reduction in everything.reductions.items() if "amax" in reduction.prims]
    assert everything.ops_by_prim["amax"] == len(by_hand)


def test_the_text_has_a_line_for_each_family(everything: Closure) -> None:
    lines = str(everything).splitlines()
    assert all(any(line.startswith(f"{family} ") for line in lines) for family in everything.families)
    assert max(map(len, lines)) < 160


def test_one_op_is_a_tree() -> None:
    softmax = prims.closure("softmax")
    assert isinstance(softmax, Reduction)
    assert softmax.depth == 2
    assert softmax.prims == {"amax": 1, "reshape": 2, "broadcast_in_dim": 2, "sub": 1, "exp": 1, "sum": 1, "div": 1}


def test_names_with_and_without_F() -> None:
    assert str(prims.closure("F.gelu")) == str(prims.closure("gelu"))
    assert prims.closure("softplus").name == "F.softplus"


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="no public op is named 'sofmax'; did you mean softmax"):
        prims.closure("sofmax")
    with pytest.raises(ValueError, match="no family is named 'scans'; there are .*scan"):
        prims.closure(family="scans")
    with pytest.raises(TypeError, match="name must be a str such as 'softmax', but got ops.softmax"):
        prims.closure(ops.softmax)


def test_a_tree_of_a_call_with_arguments_of_ones_own() -> None:
    integers = tree_of(torch.div, torch.ones(3).int(), 2, rounding_mode="floor")
    assert {"fmod", "sub"} <= set(integers.prims) and "round" not in integers.prims


def test_equal_calls_of_one_rule_are_counted() -> None:
    assert "prims.mul  x 3" in str(tree_of(ops.gelu, torch.ones(3)))


def test_an_op_that_stays_says_why() -> None:
    assert "uniform_random: stays, it draws from the generator" in str(prims.closure("rand"))


@pytest.mark.parametrize("show", [lambda: prims.closure(), lambda: prims.closure(family="scan")])
def test_a_closure_is_drawn_with_every_prim_that_is_needed(show) -> None:
    closure = show()
    text = closure.draw().text()
    assert all(name in text for name in closure.ops_by_prim)
    assert len(closure.draw().drawing.arrows) < 80


def test_a_tree_is_drawn_with_an_arrow_to_each_part() -> None:
    drawing = prims.closure("F.batch_norm").draw().drawing
    assert len(drawing.arrows) == len(drawing.all_boxes()) - 1
