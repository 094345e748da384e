"""What lies below an object, such as the tree of modules in a model: guarded as a whole by a few words of memory.

A model of a hundred parameters has a thousand guards, and between two calls nearly always nothing at all was assigned
to it. So the guards are asked once; meanwhile the words of memory are noted that prove that no dict below the model has
changed since. At the next calls these are compared, in a microsecond, and the guards need not be asked. If a word
differs, something was assigned, perhaps something irrelevant: the guards are asked again.

>>> class Layer: ...
>>> model = Layer()
>>> model.training, model.sizes = True, {"hidden": 64}
>>> plan = StructurePlan()
>>> _ = plan.add(plan.add(plan.add(0, ATTRIBUTES), "sizes"), "hidden")
>>> structure = Structure(plan.steps)
>>> asked = []
>>> def guards(model):
...     asked.append("guards")
...     return (model.sizes["hidden"],) if model.training else MISS
>>> for _ in range(5):
...     values = structure.read(model, guards)
>>> values, len(asked) == (2 if word_of_dict() else 5)     # what is noted the second time saves the others
((64,), True)
>>> vars(model)["training"] = False
>>> structure.read(model, guards)
MISS

Nothing here keeps the model alive. PyTorch has the same idea since 2.8 (`use_recursive_dict_tags_for_guards`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

from minitorch_compile.dynamo.guards.dict_versions import (
    WordOf,
    dict_of,
    word_of_dict,
    word_of_type,
    words_of_class,
    words_of_instance,
)
from minitorch_compile.dynamo.guards.guards import MISS
from minitorch_compile.dynamo.guards.memory_snapshot import Word, comparison
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

ATTRIBUTES = None  # the key that stands for an object's `__dict__`
MOST_ROOTS = 256  # one entry may serve all layers of a model
LONGEST_WAIT = 64
CLASS_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE: only of instances of such classes can `__class__` be assigned

Guards = Callable[[Any], "tuple[Any, ...]"]
Recall = Callable[[object], "tuple[Any, ...] | None"]


# Gives None for any object, before there is something to compare; written in C, so that a call costs next to nothing.
_nothing_yet: Recall = cast(Recall, deque(maxlen=0).append)


class StructureStep(NamedTuple):
    """One value below the root: the item `key` of the value at position `base`, or its `__dict__`. The root is at 0."""

    base: int
    key: str | int | None


class StructurePlan:
    """Collects the steps, each base before what is read from it."""

    def __init__(self) -> None:
        self.steps: list[StructureStep] = []

    def add(self, base: int, key: str | int | None) -> int:
        """The position of the new value."""
        self.steps.append(StructureStep(base, key))
        return len(self.steps)


class Structure:
    """What one entry knows of the objects that it was called with. Of the values that the guards give, the last
    `computed` ones are not parts of the structure, but made of them."""

    def __init__(self, steps: Sequence[StructureStep], computed: int = 0) -> None:
        self.steps = tuple(steps)
        self.computed = computed
        self._comparisons: dict[int, Recall] = {}  # by the id of the root; the first thing compared is its class
        self._alive: dict[int, tuple[Any, ...]] = {}  # the computed values
        self._passes, self._wait = 0, 1
        self.recall: Recall = _nothing_yet  # of the root seen last; asked first, without a Python function in between

    def __repr__(self) -> str:
        return f"<structure of {len(self.steps)} values>"

    def read(self, root: object, guards: Guards) -> tuple[Any, ...]:
        """The kept values, MISS if the guards fail; they are asked if it is not known that nothing changed."""
        known = self._comparisons.get(id(root))
        values = None if known is None else known(root)
        return self._ask(root, guards) if values is None else values

    def recalls(self, root: object) -> bool:
        """Whether nothing below the root changed since its guards passed."""
        known = self._comparisons.get(id(root))
        return known is not None and known(root) is not None

    def _ask(self, root: object, guards: Guards) -> tuple[Any, ...]:
        """Noting comes first: what the guards are about to see, and not what another thread makes of it."""
        words = self._observe(root)
        values = guards(root)
        if values is not MISS:
            self._passes += 1
            if words is not None:
                self._remember(root, words, values)
        return values

    def _remember(self, root: object, words: Iterable[Word], values: tuple[Any, ...]) -> None:
        if len(self._comparisons) >= MOST_ROOTS:
            self._comparisons.clear()
            self._alive.clear()
        recall = comparison(words, values, root)
        self._alive[id(root)] = values[len(values) - self.computed :]
        self._comparisons[id(root)] = self.recall = recall

    def _observe(self, root: object) -> Iterable[Word] | None:
        """The words that say, later, that nothing has changed since now.

        Noting the words takes longer than asking the guards. So this waits until they passed once, and then ever
        longer, for objects that are changed between any two calls.
        """
        if self._passes < self._wait:
            return None
        self._passes, self._wait = 0, min(2 * self._wait, LONGEST_WAIT)
        word = word_of_dict()
        words = None if word is None else self._note(root, word)
        return None if words is None else dict.fromkeys(words)

    def _note(self, root: object, word: WordOf) -> list[Word] | None:
        """All words, top down, so that each is read from an object that the ones before it prove to be there. None if
        there is an object that words can't speak for."""
        words, values = [word_of_type(root)], [root]
        for base, key in self.steps:
            owner = values[base]
            if key is ATTRIBUTES:
                value = dict_of(owner)
                found = None if value is None else words_of_instance(owner, value, word)
                if found is None:
                    return None
                words += found
            else:
                value = _item(owner, key)
                found = _words_of(value, word)
                if found is None:
                    return None
                words += found
            values.append(value)
        return words


def _item(owner: Any, key: Any) -> Any:
    """The item of an exact dict or of a tuple: reading runs no code of the user's. What isn't there, the guards say."""
    if type(owner) is dict:
        return owner.get(key)
    return tuple.__getitem__(owner, key)


def _words_of(value: Any, word: WordOf) -> list[Word] | None:
    """The words that fix a value as far as guards look at it: a class that can be assigned, the bases of one, a
    tensor's properties, a dict's items."""
    if type(value) is dict:
        return [word(value)]
    if issubclass(type(value), type):
        return words_of_class(value)
    if issubclass(type(value), TensorBase):
        return words_of_instance(value, kept_by(value), word)
    return [word_of_type(value)] if type(value).__flags__ & CLASS_STATEMENT else []
