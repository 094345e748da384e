"""Kernels as a graph of CUDA's that is given arguments at each launch, with functions in the place of the driver's."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from minitorch_compile.cuda_runtime.graph_row import (
    NAMES,
    RECORDED,
    WORTH,
    GraphFunctions,
    GraphRow,
    KernelNode,
    RepeatedRow,
)
from minitorch_compile.cuda_runtime.launch_loop import LaunchSizes

CAPTURING, ERROR = 7, 700


class Pretended:
    """A driver that notes what it is asked for. `refuses`: the call that fails."""

    def __init__(self, refuses: str = "") -> None:
        self.refuses = refuses
        self.calls: list[Any] = []
        self.launched: list[Any] = []
        self.nodes: dict[int, int] = {}  # the argument that each kernel has
        self.kept = [kind(getattr(self, field)) for field, (_, kind) in NAMES.items()]
        self.functions = GraphFunctions(*self.kept)

    def note(self, name: str, *what: Any) -> int:
        self.calls.append((name, *what))
        return ERROR if name == self.refuses else 0

    def create(self, where: int, flags: int) -> int:
        ctypes.c_uint64.from_address(where).value = 11
        return self.note("create")

    def add_kernel(self, where: int, graph: int, before: int, count: int, told: int) -> int:
        node = KernelNode.from_address(told)
        after = [ctypes.c_uint64.from_address(before).value] if count else []
        ctypes.c_uint64.from_address(where).value = 100 + node.kernel
        return self.note("add", graph, after, node.kernel, node.blocks, node.threads, node.threads_y)

    def instantiate(self, where: int, graph: int, flags: int) -> int:
        ctypes.c_uint64.from_address(where).value = 12
        return self.note("instantiate", graph)

    def is_capturing(self, stream: int | None, where: int) -> int:
        ctypes.c_int.from_address(where).value = int(stream == CAPTURING)
        return self.note("is_capturing")

    def set_kernel(self, executable: int, node: int, told: int) -> int:
        table = KernelNode.from_address(told).arguments
        self.nodes[node] = ctypes.c_uint64.from_address(ctypes.c_uint64.from_address(table).value).value
        return self.note("set", executable, node)

    def launch(self, executable: int, stream: int | None) -> int:
        self.launched.append((executable, stream, dict(self.nodes)))
        return self.note("launch")

    def destroy(self, graph: int) -> int:
        return self.note("destroy", graph)

    def destroy_executable(self, executable: int) -> int:
        return self.note("destroy_executable", executable)


def row_of(driver: Pretended) -> tuple[GraphRow, Any]:
    """A graph of two kernels with one argument, and the memory that it is read from."""
    argument = ctypes.c_uint64(1)
    table = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    where = ctypes.addressof(table)
    made = GraphRow(driver.functions, [(3, LaunchSizes(2, 32), where), (4, LaunchSizes(5, 64), where)])
    return made, (argument, table)


def test_each_launch_gives_every_kernel_what_its_arguments_are_then() -> None:
    driver = Pretended()
    row, (argument, _) = row_of(driver)
    assert driver.calls[1:] == [("add", 11, [], 3, 2, 32, 1), ("add", 11, [103], 4, 5, 64, 1), ("instantiate", 11)]
    assert row(5) == 0
    argument.value = 9
    assert row(0) == 0
    assert driver.launched == [(12, 5, {103: 1, 104: 1}), (12, None, {103: 9, 104: 9})]
    argument.value = 7
    assert row(5, is_new=False) == 0 and driver.launched[-1] == (12, 5, {103: 9, 104: 9})
    del row
    assert driver.calls[-2:] == [("destroy_executable", 12), ("destroy", 11)]


def test_a_stream_that_somebody_records_is_left_alone() -> None:
    driver = Pretended()
    row, _kept = row_of(driver)
    assert row(CAPTURING) == RECORDED and not driver.launched and not driver.nodes


@pytest.mark.parametrize("refuses", ("is_capturing", "set", "launch"))
def test_the_driver_s_error_is_the_answer(refuses: str) -> None:
    driver = Pretended(refuses)
    row, _kept = row_of(driver)
    assert row(5) == ERROR and len(driver.launched) == (refuses == "launch")


@pytest.mark.parametrize("refuses", ("create", "add", "instantiate"))
def test_where_no_graph_is_made_kernels_are_launched_one_by_one(refuses: str) -> None:
    driver, launched = Pretended(refuses), list[int]()
    row = RepeatedRow(WORTH, launched.append, lambda: row_of(driver)[0], ())
    for _ in range(5):
        row(8)
    assert launched == [8] * 5 and [call[0] for call in driver.calls].count("create") == 1


def test_what_is_recorded_are_the_kernels_themselves() -> None:
    driver, launched, recording = Pretended(), list[int](), {"somebody"}
    made, _kept = row_of(driver)
    row = RepeatedRow(WORTH, launched.append, lambda: made, recording)
    for _ in range(3):
        row(1)
    recording.clear()
    for _ in range(3):
        row(2)
    recording.add("somebody")
    row(2)
    assert launched == [1, 1, 1, 2, 2] and [stream for _, stream, _ in driver.launched] == [2, 2]


def test_a_graph_is_told_what_was_new_while_it_wasn_t_launched() -> None:
    driver, launched, recording = Pretended(), list[int](), set[str]()
    made, (argument, _table) = row_of(driver)
    row = RepeatedRow(WORTH, launched.append, lambda: made, recording)
    row(3)
    row(3, is_new=False)
    argument.value = 5
    recording.add("somebody")
    row(3)
    recording.clear()
    for _ in range(2):
        row(3, is_new=False)
    told = [call for call, *_ in driver.calls if call in ("set", "launch")]
    assert told == ["set", "set", "launch", "set", "set", "launch", "launch"] and driver.launched[-1][2] == {
        103: 5,
        104: 5,
    }


def test_a_graph_is_told_again_what_the_driver_refused() -> None:
    driver, refuse = Pretended(), False

    def one_by_one(stream: int) -> None:
        if refuse:
            raise RuntimeError("refused")

    made, (argument, _table) = row_of(driver)
    row = RepeatedRow(WORTH, one_by_one, lambda: made, ())
    for _ in range(2):
        row(3)
    argument.value, driver.refuses, refuse = 5, "set", True
    with pytest.raises(RuntimeError, match="refused"):
        row(3)
    driver.refuses = ""
    row(3, is_new=False)
    assert driver.launched[-1][2] == {103: 5, 104: 5}


def test_other_streams_don_t_wait_for_a_graph() -> None:
    driver, launched = Pretended(), list[int]()
    made, _kept = row_of(driver)
    row = RepeatedRow(WORTH, launched.append, lambda: made, ())
    for stream in (3, 4, 3, 4, 3):
        row(stream)
    assert launched == [3, 4, 4] and [stream for _, stream, _ in driver.launched] == [3, 3]
