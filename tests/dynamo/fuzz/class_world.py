"""More of what the random programs live in: metaclasses, containers with methods of their own, the standard library's
class makers, and a module whose globals change. See `WORLD`."""

CLASS_WORLD = '''
import abc
import builtins
import dataclasses
import enum
import functools
import types


class Meta(type):
    """Counts what its classes make, answers `len` and `in` for them."""

    made = 0

    def __call__(cls, *args, **kwargs):
        cls.made += 1
        return super().__call__(*args, **kwargs)

    def __len__(cls):
        return len(cls.known)

    def __contains__(cls, item):
        return item in cls.known

    @property
    def label(cls):
        return cls.__name__.lower()


class Made(metaclass=Meta):
    """A cache and a counter that belong to the class."""

    known = (1, 2)
    cache = {}
    serial = 0

    def __init__(self, a, n=0):
        self.a = a
        self.n = n
        type(self).serial += 1
        self.log = [self.serial]

    def remember(self, key):
        if key not in self.cache:
            self.cache[key] = self.n
        return self.cache[key]

    @classmethod
    def next_number(cls):
        cls.number = getattr(cls, "number", 0) + 1
        return cls.number

    def bump(self, by=1):
        self.n += by
        return self.a + self.remember(by)


class Derived(Made):
    known = (2, 3)

    def bump(self, by=1):
        return super().bump(by) * 2


class Narrow:
    """Slots, one of which is empty at first."""

    __slots__ = ("a", "n", "log", "extra")

    def __init__(self, a, n=0):
        self.a = a
        self.n = n
        self.log = []

    def bump(self, by=1):
        self.extra = getattr(self, "extra", 0) + by
        return self.a * self.extra


class Counting(dict):
    """Notes what is read, doubles what is written; has an answer for what is missing."""

    def __getitem__(self, key):
        history.append(("get", key))
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        history.append(("set", key))
        super().__setitem__(key, value)

    def __missing__(self, key):
        return 5

    def get(self, key, default=None):
        return super().get(key, 9 if default is None else default)


class Ordered(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.move_to_end(key, last=False)

    def __contains__(self, key):
        return key == "k" or super().__contains__(key)


class Defaults(collections.defaultdict):
    def __missing__(self, key):
        self[key] = made = [key]
        return made


class Tally(collections.Counter):
    def __missing__(self, key):
        return -1


class Logged(list):
    """Notes what is appended, shows its items doubled."""

    def append(self, item):
        history.append("append")
        super().append(item)

    def __getitem__(self, index):
        history.append("item")
        return super().__getitem__(index)

    def __iter__(self):
        return iter([*super().__iter__(), 7])

    def __len__(self):
        return super().__len__() + 1


class Word(str):
    def upper(self):
        return "UPPER"

    def __add__(self, other):
        return "sum"


class Number(int):
    def __add__(self, other):
        return Number(int(self) + int(other) + 100)

    def __radd__(self, other):
        return 200

    def __bool__(self):
        return int(self) > 2


class Colour(enum.Enum):
    RED = 1
    BLUE = 2

    def shade(self):
        return self.value * 10


class Mode(enum.IntFlag):
    OFF = 0
    FAST = 1
    SAFE = 2


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        """Given by classes."""


class Square(Shape):
    def __init__(self, a, n=1):
        self.a = a
        self.n = n
        self.log = []

    def area(self):
        return self.a * self.a

    def bump(self, by=1):
        return self.area() + by


@dataclasses.dataclass
class Point:
    a: object
    n: int = 0
    log: list = dataclasses.field(default_factory=list)

    def bump(self, by=1):
        return self.a + self.n * by


@functools.total_ordering
class Ranked:
    def __init__(self, n=0):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Ranked) and self.n == other.n

    def __lt__(self, other):
        return self.n < other.n


class Lazy:
    """Works its mean out once, and keeps a property that changes it."""

    def __init__(self, a, n=0):
        self.a = a
        self.n = n
        self.log = []

    @functools.cached_property
    def doubled(self):
        history.append("doubled")
        return self.a * 2

    def bump(self, by=1):
        return self.doubled + by


@functools.lru_cache(maxsize=2)
def cached(n):
    history.append(("cached", n))
    return n * 2


@functools.singledispatch
def describe(value):
    return 0


@describe.register
def _(value: int):
    return value + 1


@describe.register(list)
def _(value):
    return len(value)


halved = functools.partial(helper, k=0.5)


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        history.append(function.__name__)
        return function(*args, **kwargs)

    return wrapper


@traced
def wrapped(t, k=1):
    return t * k


def counting(t):
    """Keeps its count on itself."""
    counting.calls = getattr(counting, "calls", 0) + 1
    return t * counting.calls


def careful(box):
    """What is absent, asked in three ways."""
    found = [hasattr(box, "extra"), getattr(box, "other", None)]
    try:
        found.append(box.missing)
    except AttributeError:
        found.append("absent")
    return found


def scaled(t, by=2, *, plus=0):
    return t * by + plus


def keeps(start):
    total = start

    def add(t):
        return t + total

    return add


adds = keeps(1)
lib = types.ModuleType("lib")
exec("""
scale = 2
names = ["a"]

def stretch(t):
    return t * scale + len(names)

def maybe(t):
    return t + bonus if "bonus" in globals() else t

def absolute(n):
    return abs(n)
""", lib.__dict__)
'''
