"""User classes: attributes, operators, properties, descriptors, inheritance; tests of types."""

import abc
import collections.abc
import numbers

import torch

from tests.dynamo.counting import counts, matrix


class Vector:
    """Wraps a tensor."""

    def __init__(self, data):
        self.data = data

    def __add__(self, other):
        return Vector(self.data + (other.data if isinstance(other, Vector) else other))

    __radd__ = __add__

    def __mul__(self, k):
        return Vector(self.data * k)

    def __rmul__(self, k):
        return Vector(k * self.data)

    def __imul__(self, k):
        self.data = self.data * k
        return self

    def __neg__(self):
        return Vector(-self.data)

    def __getitem__(self, key):
        return self.data[key]

    def __setitem__(self, key, value):
        self.data = self.data + value

    def __len__(self):
        return self.data.shape[0]

    def __iter__(self):
        return iter(self.data.unbind(0))

    def __contains__(self, n):
        return n in self.data.shape

    def __call__(self, x):
        return self.data + x

    def __eq__(self, other):
        return isinstance(other, Vector) and self.data.shape == other.data.shape

    def __lt__(self, other):
        return len(self) < len(other)

    def __bool__(self):
        return self.data.dim() > 0


@counts
def operators_of_a_class(x):
    v = Vector(x)
    w = 2 * (v + 1) * 3 + v
    w *= 2
    return (-w).data, (1 + v).data


@counts
def containers_of_a_class(x):
    v = Vector(x)
    v[0] = 1
    total = sum(row for row in v)
    return v[0] + total, len(v), 3 in v, [*v][1]


@counts
def comparisons_of_a_class(x):
    v, w = Vector(x), Vector(x + 1)
    return (v == w), (v != w), v < w, x * 2 if v else x


@counts
def a_callable_object(x):
    v = Vector(x)
    return v(x) + v(1), callable(v)


@counts(lambda torch: (matrix(torch), __import__("sys").modules["counted_objects"].Vector(matrix(torch))))
def an_object_from_outside(x, v):
    v.data = v.data + x
    v.calls = 1
    return v.data * 2


class Shape(abc.ABC):
    sides = 0

    def __init__(self, size):
        self.size = size

    @abc.abstractmethod
    def area(self, x): ...

    @classmethod
    def unit(cls):
        return cls(1)

    @staticmethod
    def double(x):
        return x * 2

    @property
    def name(self):
        return type(self).__name__


class Square(Shape):
    sides = 4

    def __init__(self, size):
        super().__init__(size)
        self.kind = "square"

    def area(self, x):
        return x * self.size**2

    @property
    def width(self):
        return self.size

    @width.setter
    def width(self, value):
        self.size = value * 2


class Big(Square):
    def __init__(self, size):
        super(Big, self).__init__(size * 10)

    def area(self, x):
        return super().area(x) + Square.area(self, x)


@counts
def inheritance_and_super(x):
    big = Big(2)
    return big.area(x), big.kind, Square.unit().area(x), Shape.double(x), big.name


@counts
def properties(x):
    square = Square(3)
    square.width = 5
    return x * square.width + square.sides


@counts
def attributes_by_name(x):
    square = Square(3)
    setattr(square, "color", 2)
    if hasattr(square, "color") and not hasattr(square, "nothing"):
        x = x * getattr(square, "color") + getattr(square, "nothing", 7)
    del square.color
    delattr(square, "kind")
    return x + len(vars(square)), hasattr(square, "color"), sorted(square.__dict__)


@counts
def types_of_values(x):
    square = Square(2)
    made = type(square)(3)
    checks = [
        isinstance(made, (Shape, int)),
        isinstance(made, Shape | None),
        issubclass(Square, Shape),
        type(made) is Square,
        isinstance(x, collections.abc.Iterable),
        isinstance(3, numbers.Number),
        isinstance([], collections.abc.Sequence),
        isinstance({}, collections.abc.Mapping),
        callable(Square),
        made.__class__.__name__ == "Square",
    ]
    return x * sum(checks)


class Doubled:
    """A descriptor."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return getattr(instance, self.name) * 2

    def __set__(self, instance, value):
        setattr(instance, self.name, value)


class WithDescriptor:
    size = Doubled()

    def __init__(self, size):
        self.size = size


@counts
def descriptors(x):
    thing = WithDescriptor(3)
    thing.size = 4
    return x * thing.size


class Forwarding:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


@counts
def forwarded_attributes(x):
    return Forwarding(Square(4)).area(x) + Forwarding(x).shape[0]


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


@counts
def slots(x):
    thing = Slotted(x)
    thing.b = 2
    return thing.a * thing.b, hasattr(thing, "b")


class Registry(type):
    made = []

    def __new__(mcs, name, bases, namespace):
        cls = super().__new__(mcs, name, bases, namespace)
        mcs.made.append(name)
        return cls

    @property
    def label(cls):
        return cls.__name__.lower()


class Registered(metaclass=Registry):
    def __init__(self, k):
        self.k = k


@counts
def metaclasses(x):
    return x * Registered(3).k + len(Registered.label)


class Single:
    instance = None

    def __new__(cls, *args):
        made = super().__new__(cls)
        made.args = args
        return made

    def __init__(self, k):
        self.k = k + len(self.args)


@counts
def classes_with_new(x):
    return x * Single(3).k


class CountsCalls:
    calls = 0

    def step(self, x):
        CountsCalls.calls += 1
        return x * CountsCalls.calls


@counts(lambda torch: (matrix(torch), __import__("sys").modules["counted_objects"].CountsCalls()))
def class_attributes_are_changed(x, counter):
    return counter.step(x) + counter.step(x)


class Mixin:
    def scale(self, x):
        return super().scale(x) + 1


class Base:
    def scale(self, x):
        return x * 2


class Mixed(Mixin, Base):
    pass


@counts
def mixins(x):
    return Mixed().scale(x), [cls.__name__ for cls in Mixed.__mro__]


class Chained:
    def __init__(self):
        self.steps = []

    def add(self, step):
        self.steps.append(step)
        return self

    def run(self, x):
        for step in self.steps:
            x = step(x)
        return x


@counts
def method_chaining_and_bound_methods(x):
    chain = Chained().add(torch.sin).add(lambda y: y * 2)
    run = chain.run
    return run(x) + chain.run(x)


class Indexed:
    """Iterated through __getitem__ only."""

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return i


@counts
def iteration_by_index(x):
    return x * sum(Indexed()), list(Indexed())


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


@counts
def iterators_of_a_class(x):
    for k in Countdown(3):
        x = x + k
    return x


class Printed:
    def __str__(self):
        return "str"

    def __repr__(self):
        return "repr"

    def __format__(self, spec):
        return spec * 2


@counts
def text_of_objects(x):
    thing = Printed()
    return x * len(str(thing)), f"{thing!r}{thing:ab}", repr(thing)


class Hashed:
    def __init__(self, k):
        self.k = k

    def __hash__(self):
        return hash(self.k)

    def __eq__(self, other):
        return self.k == other.k


@counts
def hashed_objects(x):
    table = {Hashed(1): 2}
    return x * table[Hashed(1)] + (Hashed(2) in table)


@counts
def objects_that_escape(x):
    square = Square(3)
    square.result = square.area(x)
    return square.result + 1, [square.size]


@counts
def a_class_made_inside(x):
    class Local:
        k = 3

        def run(self, y):
            return y * self.k

    return Local().run(x)


class Parametrised:
    def __class_getitem__(cls, item):
        return item

    def __init_subclass__(cls, **kwargs):
        cls.known = True


class Child(Parametrised):
    pass


@counts
def class_level_hooks(x):
    return x * Parametrised[3] + Child.known
