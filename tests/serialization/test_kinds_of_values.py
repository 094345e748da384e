"""What checkpoints hold comes back equal, and of its type; no code of a class runs when it is read."""

import argparse
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import math
import pathlib
import random
import sys
import types
import uuid
from typing import Any, NamedTuple

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.serialization import UnreadableFileError, add_safe_globals, clear_safe_globals, safe_globals

from .round_trip import round_trip, saved


class Color(enum.Enum):
    RED = 1
    GREEN = "g"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Config:
    lr: float = 0.1
    layers: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    b: str = "x"


class Point(NamedTuple):
    x: int
    y: Any


class Text(str):
    """A string of a class of its own."""


class Table(dict):
    """A dictionary of a class of its own, which counts its writes."""

    writes = 0

    def __setitem__(self, key: Any, value: Any) -> None:
        Table.writes += 1
        super().__setitem__(key, value)


class Items(list):
    """A list of a class of its own."""


class Pair(tuple):
    """A tuple of a class of its own."""


def with_factory() -> Any:
    made = collections.defaultdict(list)
    made["a"].append(1)
    return made


UTC, EAST = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2), "east")
VALUES: list[Any] = [
    *(Color.RED, Color.GREEN, Access.READ, Access.READ | Access.WRITE, Level.HIGH),
    *(Config(0.5, [1, Color.RED]), Frozen(1), Point(1, [2]), Text("abc"), Items([1, 2]), Pair((1, [2]))),
    *(
        with_factory(),
        collections.defaultdict(None, a=1),
        collections.Counter("abca"),
        collections.deque([1], maxlen=3),
    ),
    *(collections.OrderedDict(b=1, a=2), argparse.Namespace(a=1, b=[2]), types.SimpleNamespace(q=1)),
    *(datetime.datetime(2024, 1, 2, 3, 4, 5, 6, UTC), datetime.datetime(2024, 1, 2, fold=1), datetime.date(2020, 1, 2)),
    *(datetime.time(1, 2, tzinfo=EAST), datetime.timedelta(-1, 5, 7), UTC, EAST),
    *(pathlib.Path("a/b"), pathlib.PurePosixPath("x"), pathlib.PureWindowsPath("c:\\x")),
    *({1, "a", (1, 2)}, frozenset({1}), b"\x00\xff", bytearray(b"abc"), 1 + 2j, complex(-0.0, math.inf)),
    *(range(1, 10, 2), slice(1, None, 2), torch.Size([1, 2]), torch.float32, torch.device("cuda:1")),
    *(-(2**70), 2**63, 2**64, -(2**64), math.inf, -0.0, None, True, ..., int, [float, str]),
    *(decimal.Decimal("1.50"), fractions.Fraction(-1, 3), uuid.UUID(int=5)),
    *(np.float32(1.5), np.int8(3), np.bool_(True), np.str_("héé"), np.bytes_(b"a"), np.datetime64("2020-01-01")),
    *(np.complex64(1j), np.dtype("f4"), np.dtype("<U3"), np.uint16(7), np.longdouble(1.5)),
    {(1, (2, "x")): 1, None: 2, True: 3, 1.5: 4, b"a": 5, frozenset({1}): 6, torch.float16: 7, Color.RED: 8},
    *("\ud800 lone", "\x00", "", [], (), {}, set(), random.Random(0).getstate()),
]


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_it_comes_back_equal_and_of_its_type(number: int) -> None:
    value = VALUES[number]
    again = round_trip(value)
    assert type(again) is type(value)
    assert again == value
    assert isinstance(value, (set, frozenset)) or repr(again) == repr(value)


def test_a_number_of_any_size_comes_back() -> None:
    assert round_trip([10**5000, -(10**5000)]) == [10**5000, -(10**5000)]


ARRAYS: list[Any] = [
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.arange(10)[::-2],
    np.array(["ab", "c"]),
    np.arange(3, dtype=">i4"),
    np.zeros((0, 3), "U2"),
    np.array(5),
    np.arange(4, dtype="u2"),
    np.array(["2020"], "M8[D]"),
    np.array([1 + 2j], "c8"),
    np.array([True]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{list(array.shape)}")
def test_arrays_come_back(array: np.ndarray) -> None:
    again = round_trip({"a": [array, array]})["a"]
    assert again[0] is again[1]
    assert (type(again[0]), again[0].dtype, again[0].shape) == (np.ndarray, array.dtype, array.shape)
    assert np.array_equal(again[0], array)
    assert again[0].flags.f_contiguous == array.copy("K").flags.f_contiguous
    again[0][...] = again[0]  # it may be written to


def test_states_of_generators_come_back() -> None:
    state = np.random.RandomState(0).get_state()
    again = round_trip(state)
    assert again[0] == state[0]
    assert np.array_equal(again[1], state[1])
    assert torch.equal(round_trip(torch.get_rng_state()), torch.get_rng_state())


def test_the_versions_of_modules_come_back() -> None:
    state = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).state_dict()
    assert round_trip(state)._metadata == state._metadata


def test_tensors_without_data_come_back() -> None:
    meta, lazy = round_trip([torch.empty(3, 2, device="meta").t(), nn.LazyLinear(3).state_dict()])
    assert (meta.device.type, meta.shape, meta.stride()) == ("meta", (2, 3), (1, 2))
    assert type(lazy["weight"]) is nn.UninitializedParameter


SCHEDULERS: dict[str, dict[str, Any]] = {
    "StepLR": {"step_size": 1},
    "MultiStepLR": {"milestones": [1, 1, 2]},
    "OneCycleLR": {"max_lr": 1, "total_steps": 10},
    "LambdaLR": {"lr_lambda": lambda epoch: 1},
    "CosineAnnealingWarmRestarts": {"T_0": 3},
    "ReduceLROnPlateau": {},
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedulers_states_come_back(name: str) -> None:
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1)
    state = getattr(torch.optim.lr_scheduler, name)(optimizer, **SCHEDULERS[name]).state_dict()
    assert round_trip(state) == state


def test_no_code_of_a_container_class_runs() -> None:
    data = saved(Table(a=1))
    Table.writes = 0
    assert torch.load(io.BytesIO(data)) == {"a": 1}
    assert Table.writes == 0


@dataclasses.dataclass
class Watched:
    """A dataclass that notes what is called."""

    x: int
    calls = 0

    def __post_init__(self) -> None:
        Watched.calls += 1


def test_no_code_of_a_dataclass_runs() -> None:
    data = saved(Watched(3))
    Watched.calls = 0
    assert torch.load(io.BytesIO(data)).x == 3
    assert Watched.calls == 0


class Tool:
    """A class that is no dataclass."""

    def __init__(self) -> None:
        self.setting = [1]


def test_objects_of_other_classes_want_permission() -> None:
    with pytest.raises(TypeError, match=r"checkpoint\['tool'\] is a Tool; .* add_safe_globals"):
        saved({"tool": Tool()})
    with safe_globals([Tool]):
        data = saved({"tool": Tool()})
        assert torch.load(io.BytesIO(data))["tool"].setting == [1]
    with pytest.raises(UnreadableFileError, match="add_safe_globals"):
        torch.load(io.BytesIO(data))
    add_safe_globals([Tool])
    assert type(torch.load(io.BytesIO(data))["tool"]) is Tool
    clear_safe_globals()


def test_a_class_that_is_not_imported_is_not_imported_for_a_file() -> None:
    data = saved(Config()).replace(b":Config", b":Absent")
    with pytest.raises(UnreadableFileError, match="not imported"):
        torch.load(io.BytesIO(data))
    module = Config.__module__.encode()
    there = b"antigravity".ljust(len(module), b"x") if len(module) > 11 else b"this".ljust(len(module), b"x")
    with pytest.raises(UnreadableFileError, match="not imported"):
        torch.load(io.BytesIO(saved(Config()).replace(module, there)))


@pytest.mark.parametrize("name", [b"Tool", b"Color", b"Text", b"Point", b"Any", b"io", b"sys.exit"])
def test_a_class_is_taken_only_for_what_it_is(name: bytes) -> None:
    data = saved(Config()).replace(b":Config\\", (b":" + name + b"\\").ljust(9, b"\\")[:8] + b"\\")
    structure = saved(Config())
    start = int.from_bytes(structure[:8], "little")
    text = structure[8 : 8 + start].rstrip().replace(b":Config", b":" + name)
    data = len(text).to_bytes(8, "little") + text
    with pytest.raises(UnreadableFileError):
        torch.load(io.BytesIO(data))


def test_a_class_made_in_a_function_is_refused() -> None:
    @dataclasses.dataclass
    class Local:
        x: int = 1

    with pytest.raises(TypeError, match=r"checkpoint\[0\] is of the class .*Local, which was made in a function"):
        saved([Local()])


def test_what_lies_too_deep_is_refused_in_both_directions() -> None:
    nested: Any = 1
    for _ in range(90):
        nested = [nested]
    assert round_trip(nested) == nested
    for _ in range(sys.getrecursionlimit()):
        nested = [nested]
    with pytest.raises(ValueError, match="containers deep"):
        saved(nested)


def test_nothing_is_written_of_what_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "checkpoint.pt"
    torch.save({"good": 1}, path)
    with pytest.raises(TypeError, match=r"checkpoint\['hooks'\]\[0\] is a function, print"):
        torch.save({"x": torch.ones(3), "hooks": [print]}, path)
    file = io.BytesIO()
    with pytest.raises(TypeError, match=r"checkpoint\['hooks'\]\[0\] is a function"):
        torch.save({"x": torch.ones(3), "hooks": [lambda: 1]}, file)
    assert torch.load(path) == {"good": 1}
    assert file.getvalue() == b""
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint.pt"]
