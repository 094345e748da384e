"""Lists, tuples, dicts, sets, and the containers of `collections`, `enum` and `dataclasses`."""

import collections
import dataclasses
import enum
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import NamedTuple

import torch

from tests.dynamo.counting import counts, matrix


class Mode(enum.Enum):
    SUM = 1
    MEAN = "mean"


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 5


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()


Pair = namedtuple("Pair", ["left", "right"])


class Output(NamedTuple):
    logits: torch.Tensor
    loss: torch.Tensor | None = None

    def total(self):
        return self.logits.sum()


@dataclasses.dataclass
class Settings:
    scale: float = 2.0
    sizes: list = dataclasses.field(default_factory=lambda: [1, 2])
    shift: torch.Tensor | None = None

    def apply(self, x):
        return x * self.scale + len(self.sizes)


@dataclasses.dataclass(frozen=True)
class Fixed:
    name: str
    factor: int = 3


@dataclasses.dataclass
class Checked:
    width: int
    area: int = dataclasses.field(init=False)

    def __post_init__(self):
        self.area = self.width**2


@counts
def an_enum_member(x, mode=Mode.MEAN):
    if mode is Mode.SUM:
        return x.sum()
    return x.mean() * len(mode.value) if mode == Mode.MEAN else x


@counts
def enums_by_name_and_value(x):
    names = [member.name for member in Mode]
    return x * len(names) + (Mode["SUM"].value) + (Mode("mean") is Mode.MEAN)


@counts
def enums_that_are_numbers(x):
    return x * Level.LOW + max(Level) + (Level.HIGH > Level.LOW) + (Flags.A | Flags.B).value


@counts
def an_enum_as_a_key(x):
    table = {Mode.SUM: torch.sum, Mode.MEAN: torch.mean}
    return table[Mode.MEAN](x)


@counts
def list_methods(x):
    items = [x, x + 1]
    items.append(x * 2)
    items.extend([x * 3, x * 4])
    items.insert(0, x - 1)
    last = items.pop()
    first = items.pop(0)
    items.reverse()
    return last + first + items[0] + sum(items[1:3]), items[::2], len(items)


@counts
def list_operators(x):
    items = [1, 2] * 2 + [3]
    items[1:3] = [7, 8, 9]
    del items[0]
    a, *rest, b = items
    return x * a + b + len(rest) + items.index(9) + items.count(7) + (3 in items)


@counts
def comprehensions(x):
    squares = {i: x * i for i in range(3) if i}
    return [v + k for k, v in squares.items()], {i % 2 for i in range(4)}, tuple(t.sum() for t in squares.values())


@counts
def nested_comprehensions(x):
    return [[x[i, j] for j in range(2)] for i in range(2)]


@counts
def tuples(x):
    pair = (x, x + 1)
    (a, b), c = pair, pair * 2
    return a * b, c[3], pair + (1,), (1, 2) < (1, 3)


@counts
def slices(x):
    part = slice(0, 2)
    return x[:, part], [1, 2, 3][part], part.stop


@counts
def dict_methods(x):
    d = {"a": x, "b": x + 1}
    d.update(c=x * 2)
    d["d"] = d.pop("a") + d.get("nothing", 1)
    d.setdefault("e", x.sum())
    keys = list(d.keys())
    return sum(d.values()), keys, "a" in d, len(d), {**d, "f": 1}["f"], d | {"g": 2}


@counts
def iterating_over_dicts(x):
    d = dict(zip("abc", x.unbind(1)))
    total = 0
    for key, value in d.items():
        total = total + value * ord(key)
    return total, sorted(d), max(d)


@counts(lambda torch: ({"x": matrix(torch), "k": 2},))
def changing_a_dict_from_outside(d):
    d["y"] = d["x"] * d["k"]
    d["k"] += 1
    del d["x"]
    return d["y"] + 1


@counts(lambda torch: (matrix(torch), [1]))
def changing_a_list_from_outside(x, log):
    log.append(x.shape[0])
    log[0] = x + 1
    return x * len(log)


@counts
def sets(x):
    seen = set()
    for name in ("a", "b", "a"):
        if name not in seen:
            seen.add(name)
            x = x + 1
    return x * len(seen | {"c"}), len(seen & {"a"}), seen - {"a"}, frozenset({1, 2}) <= {1, 2, 3}


@counts
def ordered_dicts(x):
    d = OrderedDict(a=x, b=x + 1)
    d["c"] = x * 2
    d.move_to_end("a")
    key, value = d.popitem(last=False)
    d.move_to_end("a", last=False)
    return value, key, list(d), sum(d.values())


@counts
def default_dicts(x):
    groups = defaultdict(list)
    for i in range(4):
        groups[i % 2].append(x * i)
    return {k: sum(v) for k, v in groups.items()}


@counts
def counters(x):
    found = collections.Counter("abca")
    found.update(["a"])
    return x * found["a"] + found["nothing"], found.most_common(1), sum(found.values())


@counts
def chain_maps(x):
    options = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})
    return x * options["a"] + options["b"] + len(options)


@counts
def deques(x):
    history = deque([x], maxlen=2)
    history.append(x + 1)
    history.append(x + 2)
    history.appendleft(x + 3)
    return history[0] + history[-1], len(history), history.popleft(), [*history]


@counts
def named_tuples(x):
    pair = Pair(x, right=2)
    other = pair._replace(left=x + 1)
    left, right = other
    return left * right + pair.left, pair[1], other._asdict()["right"], Pair._fields, isinstance(pair, tuple)


@counts
def typed_named_tuples(x):
    made = Output(x * 2)
    return made, made.total() if made.loss is None else 0


@counts
def dataclasses_made_inside(x):
    settings = Settings(scale=3.0)
    settings.sizes.append(3)
    return settings.apply(x), Settings().sizes


@counts(lambda torch: (matrix(torch), __import__("sys").modules["counted_containers"].Settings()))
def a_dataclass_from_outside(x, settings):
    settings.scale = settings.scale + 1
    return settings.apply(x)


@counts
def frozen_dataclasses(x):
    fixed = Fixed("a")
    changed = dataclasses.replace(fixed, factor=4)
    return x * fixed.factor + changed.factor, fixed == Fixed("a"), fixed != changed


@counts
def dataclass_fields(x):
    settings = Settings(shift=None)
    names = [field.name for field in dataclasses.fields(settings)]
    return x * len(names), dataclasses.is_dataclass(settings)


@counts
def a_dataclass_as_a_dict(x):
    made = dataclasses.asdict(Fixed("a", 2))
    return x * made["factor"], len(made)


@counts
def a_dataclass_with_a_computed_field(x):
    return x * Checked(3).area


@counts
def simple_namespaces(x):
    options = types.SimpleNamespace(scale=2, shift=1)
    options.shift += 1
    return x * options.scale + options.shift


@counts
def ranges(x):
    r = range(1, 10, 3)
    return x * len(r) + r[1] + (4 in r) + sum(r) + r.start


@counts
def strings(x):
    name = "layer_3.weight"
    prefix, _, rest = name.partition("_")
    if name.startswith("layer") and rest.split(".")[1] == "weight" and prefix.upper() == "LAYER":
        x = x * int(rest[0])
    text = f"{prefix}-{len(name):03d}" + "%s/%d" % ("a", 2) + "{}{key}".format(1, key=2)
    return x + len(text), "-".join(["a", "b"]), name.replace("_", "").title(), text


@counts
def sorting(x):
    pairs = [("b", 2), ("a", 3), ("c", 1)]
    pairs.sort(key=lambda pair: pair[1])
    names = sorted(pairs, key=lambda pair: pair[0], reverse=True)
    return x * pairs[0][1] + names[0][1], [name for name, _ in names]


@counts
def dicts_with_tensors_as_values_merge(x):
    first = {"a": x}
    second = dict(first, b=x + 1)
    second |= {"c": x + 2}
    return {k: v * 2 for k, v in reversed(second.items())}


class Config(dict):
    def __getattr__(self, name):
        return self[name]


class Stack(list):
    def push(self, item):
        self.append(item)
        return self


@counts(lambda torch: (matrix(torch), __import__("sys").modules["counted_containers"].Config(scale=2, name="a")))
def a_class_derived_from_dict(x, config):
    return x * config.scale + len(config) + len(config.name)


@counts
def a_class_derived_from_list(x):
    stack = Stack([x])
    stack.push(x + 1).push(x + 2)
    return stack[-1] + len(stack), sum(stack)


@counts
def matching(x):
    match (x.dim(), {"kind": "a", "size": 3}):
        case (1, _):
            return x
        case (2, {"kind": "a", "size": size}) if size > 2:
            return x * size
        case _:
            return x + 1
