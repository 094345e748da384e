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

MODULES = {"star import": STAR_IMPORT, "postponed annotations": POSTPONED_ANNOTATIONS, "global names": GLOBAL_NAMES}
