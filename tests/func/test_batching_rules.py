"""Every op does on a batch what it does on each example: the call sheets, with batched and with shared arguments."""

import re

import pytest

import minitorch_compile as torch
from minitorch_compile.func.batching.rules import WITHOUT_A_RULE, one_by_one, rule_of
from minitorch_compile.tensor import ops
from tests.battery.sheet import FOLDER, calls_of
from tests.func.batched_calls import difference, shared_differences

SHEETS = sorted(path.stem for path in FOLDER.glob("*.txt"))
# What can't be batched says so; these words are in the message.
REFUSED = "depends on the data|needs a number out of|is the same for all of|changes how a tensor looks"


def test_every_op_has_a_rule_or_a_reason():
    without = {
        op.name for op in ops.table.values() if op.kind not in ("composite", "creation") and rule_of(op) is one_by_one
    }
    assert without == set(WITHOUT_A_RULE)


def is_refusal(error):
    return isinstance(error, RuntimeError) and re.search(REFUSED, str(error))


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_line_on_a_batch_is_the_line_on_each_example(sheet):
    wrong, compared = [], 0
    for call in list(calls_of(FOLDER / f"{sheet}.txt"))[::2]:
        if call.random:
            continue
        try:
            found = difference(call.text)
            compared += 1
        except ValueError:  # nothing to compare
            continue
        except RuntimeError as error:
            found = None if is_refusal(error) else f"{type(error).__name__}: {error}"
        if found:
            wrong.append(f"{call.text}: {found}")
    assert not wrong, "\n".join(wrong[:20])
    assert compared or sheet in ("creation", "special_values")


@pytest.mark.parametrize("sheet", SHEETS)
def test_an_argument_may_be_the_same_for_all_examples(sheet):
    wrong = []
    for call in list(calls_of(FOLDER / f"{sheet}.txt"))[1::3]:
        if not call.random and "_(" not in call.text:
            wrong += shared_differences(call.text, is_refusal)
    assert not wrong, "\n".join(wrong[:20])


def test_an_op_without_a_rule_is_looped_over_and_named():
    with pytest.warns(UserWarning, match="vmap: histc has no batching rule; it runs once for each example"):
        torch.func.batching.rules._warned.discard("histc")
        result = torch.vmap(lambda x: torch.histc(x, 4, 0, 1))(torch.rand(3, 10))
    assert result.shape == (3, 4)
