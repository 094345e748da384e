"""Modules, not functions: code that runs in a namespace of names."""

STAR_IMPORT = """
from math import *
import os.path

x: int = 1

def f():
    return x + floor(2.5)

y = f()
del x
"""

POSTPONED_ANNOTATIONS = """
from __future__ import annotations

count: int = 2

class Point:
    x: int = count
    y: Missing
    count = [x for x in range(count)]

names = sorted(Point.__annotations__), sorted(__annotations__)
"""

GLOBAL_NAMES = """
import sys as system

total = 0
for number in (1, 2, 3):
    if number == 2:
        continue
    total += number
else:
    done = True

try:
    missing
except NameError as error:
    text = str(error)

with open(system.executable, "rb") as file:
    closed = file.closed
del file
lines = {name: len(name) for name in ("a", "bb") if name}
"""

CLASSES = """
import enum
from dataclasses import dataclass, field

class Meta(type):
    registry = []
    def __new__(metacls, name, bases, namespace, **options):
        cls = super().__new__(metacls, name, bases, dict(namespace))
        metacls.registry.append((name, options))
        return cls
    def __init__(cls, name, bases, namespace, **options):
        super().__init__(name, bases, namespace)

class Field:
    def __set_name__(self, owner, name):
        self.where = owner.__name__, name
    def __get__(self, instance, owner):
        return self.where

class Base(metaclass=Meta):
    def __init_subclass__(cls, tag=None):
        cls.tag = tag
    first = Field()
    def who(self):
        return __class__.__name__

class Derived(Base, tag=3):
    second: Field = Field()
    def who(self):
        return super().who(), self.tag

class Colour(enum.Enum):
    RED = 1
    BLUE = RED + 1

@dataclass(order=True)
class Point:
    x: int
    y: list = field(default_factory=list, compare=False)

registry = repr(Meta.registry)
told = Derived().who(), Base.first, Derived.second
point = repr(Point(1)), Point(1) < Point(2)
colours = [colour.name for colour in Colour]
"""

LATER_NAMES = """
def twice(f):
    return lambda *args: f(f(*args))

@twice
def grow(n):
    global grown
    grown = True
    match n:
        case int():
            return n + step
        case _:
            return n

step = 2
value = grow(1)
seen = sorted(name for name in globals() if name in ("grown", "grow", "step", "value"))
generated = list(n * step for n in range(3))
squares = [step * n for n in range(3)]
pairs = {n: step for n in range(2)}
try:
    del step, step
except NameError as error:
    message = str(error)
else:
    message = "none"
finally:
    step = 5
"""

MODULES = {
    "star import": STAR_IMPORT,
    "postponed annotations": POSTPONED_ANNOTATIONS,
    "global names": GLOBAL_NAMES,
    "classes": CLASSES,
    "later names": LATER_NAMES,
}

PROMPTS = {
    "a value": "6 * 7",
    "a name": "x = 3",
    "a value and a loop": "x; [n for n in range(x)]",
    "a loop that shows": "for i in range(2): i, x\n",
    "a function": "def double(x):\n    return 2 * x\n",
    "a call": "double('a')",
    "None": "None",
    "an error": "1 / 0",
    "a name of the prompt": "_",
}
