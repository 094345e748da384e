"""One batch of each family: which instances of a parametrized test `make test` runs; `make test-all` runs them all.

A family is one test function and its parameters. Many have hundreds of instances, which go through much the same code.
A batch is taken at equal distances from all over the family, so that it is the same at every run and on every machine,
and an instance that is new shifts it. A family marked `whole` is its own batch, of one marked `heavy` the batch is one
instance; a test marked `slow` is in none.

>>> evenly(list("abcdefghij"), 4)
['a', 'd', 'f', 'i']
>>> evenly(["a", "b"], 4)
['a', 'b']
"""

from collections import defaultdict
from typing import TypeVar

import pytest

MOST = 3  # instances of a family in a batch

T = TypeVar("T")


def evenly(items: list[T], most: int) -> list[T]:
    """At most so many of the items, at equal distances, the first among them."""
    if len(items) <= most:
        return items
    return [items[(2 * at * len(items) + most) // (2 * most)] for at in range(most)]


class OneBatch:
    """The plugin behind `pytest --one-batch`: deselects what is beyond a family's batch, and tests marked slow."""

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        families: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if item.get_closest_marker("slow") is None:
                families[item.nodeid.partition("[")[0]].append(item)
        chosen = {item for family in families.values() for item in batch(family)}
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]


def batch(family: list[pytest.Item]) -> list[pytest.Item]:
    """What `make test` runs of a family."""
    if family[0].get_closest_marker("whole"):
        return family
    return evenly(family, 1 if family[0].get_closest_marker("heavy") else MOST)
