"""Every call of the sheets: fake tensors come out like real ones, and every public op is on a sheet."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import FakeDataError, fake_like, ops
from minitorch_compile.tensor.dispatch.op import Op
from tests.battery.arguments import Arguments
from tests.battery.outcome import Outcome, evaluate
from tests.battery.sheet import FOLDER, calls, calls_of, names_called
from tests.prims import samples

SHEETS = sorted(FOLDER.glob("*.txt"))


def layout_of(outcome: Outcome) -> list[tuple[Any, ...]]:
    return [(part.dtype, part.sizes, part.strides) for part in outcome.parts]


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_fake_tensors_come_out_like_real_ones(path: Any, layout: str) -> None:
    if layout != "contiguous" and not any("layouts" in call.vary for call in calls_of(path)):
        pytest.skip("this sheet does not vary layouts")
    wrong = []
    for call in calls_of(path):
        real = evaluate(call.text, Arguments(torch, layout))
        fake = evaluate(call.text, Arguments(torch, layout, make=fake_like))
        if isinstance(fake.error, FakeDataError):  # the call asks for numbers
            continue
        if real.error is not None and fake.error is None:  # found in the data: an index out of range, a singular matrix
            continue
        if type(fake.error) is not type(real.error):
            wrong.append((call.text, real.error, fake.error))
        elif layout_of(fake) != layout_of(real):
            wrong.append((call.text, layout_of(real), layout_of(fake)))
    assert not wrong, "\n".join(map(str, wrong[:20]))


def public(op: Op) -> bool:
    """Whether people call it; ops such as `uniform_random` are what others are made of."""
    return (
        bool(op.namespaces & {"torch", "method", "functional"}) and not op.name.startswith("_") and op.kind != "random"
    )


def test_every_public_op_is_on_a_sheet_or_has_samples() -> None:
    called = set().union(*(names_called(call.text) for call in calls()))

    def tried(op: Op) -> bool:
        op = getattr(op, "of", op)  # what another name means
        twin = getattr(op, "functional", op)  # the in-place forms that only F.hardswish(x, inplace=True) uses
        return op.name in called or f"F.{twin.name}" in called or any(True for _ in samples.calls(op))

    missing = [op.name for op in ops.table.values() if public(op) and not tried(op)]
    assert not missing, missing
