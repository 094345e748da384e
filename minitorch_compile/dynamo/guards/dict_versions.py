"""Which words of memory say that an object's attributes, or a dict's items, are what they were.

CPython 3.11 and 3.12 number every change of every dict: a dict's *version* is a word in it, unique in the process.
Later versions tell those who asked about each change of a dict (PEP 699, `PyDict_Watch`); the words are then one
counter of such events. Either way one word stands for all keys, their order and their values; PyTorch calls this dict
tags.

>>> attributes = {"training": True}
>>> word = word_of_dict()
>>> if word is not None:
...     before = word(attributes)
...     attributes["training"] = False
...     assert word(attributes) != before

Which of the two is in use is found out by trying: each way of changing a dict that Python has must change the word. If
neither passes (3.13.0 does not tell about attributes that are kept inside the object), `word_of_dict()` is None, and
guards are asked one by one.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any

from minitorch_compile.dynamo.guards.memory_snapshot import Word, native_code
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

WORD = ctypes.sizeof(ctypes.c_void_p)
TYPE_AT = object.__basicsize__ - WORD  # the type is the last word of what all objects have
VERSION_AT = object.__basicsize__ + WORD  # in a dict: behind the number of items
DICT_POINTER_BEFORE = (3 * WORD, 2 * WORD, 4 * WORD, WORD)  # of an instance; its place differs between versions

WordOf = Callable[[dict[Any, Any]], Word]


_word_of_dict: list[WordOf | None] = []  # what was found out; not a cached function: a process has few watchers to give


def word_of_dict() -> WordOf | None:
    """The function that gives a dict's word; None if this Python offers nothing that can be relied on."""
    if not _word_of_dict:
        _word_of_dict.append(_find_word_of_dict())
    return _word_of_dict[0]


def _find_word_of_dict() -> WordOf | None:
    if sys.implementation.name != "cpython" or WORD != 8 or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    return next((found for found in (_version, _events()) if found is not None and notices_all_changes(found)), None)


def _version(items: dict[Any, Any]) -> Word:
    return Word.at(id(items) + VERSION_AT)


def _events() -> WordOf | None:
    """The counter of all events; asking for a dict's word begins to watch it."""
    if sys.version_info < (3, 12):
        return None
    native, api = native_code(), ctypes.pythonapi
    try:
        watcher = api.PyDict_AddWatcher(ctypes.c_void_p(native.count_event))
    except RuntimeError:  # a process has eight of them, and other libraries took them all
        return None
    watch = api.PyDict_Watch
    watch.argtypes = [ctypes.c_int, ctypes.py_object]

    def word(items: dict[Any, Any]) -> Word:
        watch(watcher, items)
        return Word.at(ctypes.addressof(native.events))

    return word


def dict_of(owner: Any) -> dict[str, Any] | None:
    """The dict with the owner's attributes, also a class's, which Python shows through a proxy; None if it has none of
    the usual kind."""
    attributes = kept_by(owner) if issubclass(type(owner), TensorBase) else vars(owner)
    if type(attributes) is MappingProxyType:
        (attributes,) = gc.get_referents(attributes)
    return attributes if type(attributes) is dict else None


def words_of_class(cls: Any) -> list[Word]:
    """The words that fix a class's own class, and the order in which it asks its bases: a tuple that is made anew when
    `__bases__` of one of them is assigned."""
    return [word_of_type(cls), Word.at(id(cls) + order_at())]


@functools.cache
def order_at() -> int:
    """Where in a class the pointer to its `__mro__` is."""
    classes = (int, bool, Word, type("_Ordered", (Word,), {}))
    places = range(0, int(vars(type)["__basicsize__"].__get__(type)), WORD)
    return next(at for at in places if all(Word.at(id(cls) + at).value == id(cls.__mro__) for cls in classes))


def words_of_instance(instance: Any, attributes: dict[str, Any], word: WordOf) -> list[Word] | None:
    """The words that fix an object's class, and its attributes; None if its dict can't be found."""
    if issubclass(type(instance), type):  # no statement can give a class another dict
        return [*words_of_class(instance), word(attributes)]
    pointer = next(
        (Word(at, id(attributes)) for at in _dict_pointers(instance) if Word.at(at).value == id(attributes)), None
    )
    return None if pointer is None else [word_of_type(instance), pointer, word(attributes)]


def word_of_type(instance: object) -> Word:
    """Where an object's class is."""
    return Word.at(id(instance) + TYPE_AT)


def _dict_pointers(instance: object) -> Iterator[int]:
    """Where the pointer to an instance's dict may be: behind its fields, or before the object itself."""
    offset = type(instance).__dictoffset__
    if offset > 0:
        yield id(instance) + offset
    elif offset < 0 and not type(instance).__itemsize__:  # the interpreter keeps it before the object
        yield from (id(instance) - before for before in DICT_POINTER_BEFORE)


# --- the test before use ----------------------------------------------------------------------------------------------


class _Probe:
    """An object with attributes, as users write them."""

    def __init__(self) -> None:
        self.kept = 0
        self.changed = 0


def notices_all_changes(word: WordOf) -> bool:
    """Whether every way of changing a dict changes its word, and nothing else does."""
    plain: dict[Any, Any] = {"kept": 1}
    probes = [_Probe() for _ in range(64)]
    attributes = [vars(probe) for probe in probes]
    for probe, items in zip(probes, attributes):
        if not all(_is_noticed(word, items, change) for change in _attribute_changes(probe)):
            return False
    of_class = dict_of(probe_class := type("_ProbeClass", (), {}))
    if of_class is None or not all(_is_noticed(word, of_class, change) for change in _class_changes(probe_class)):
        return False
    if not all(_is_noticed(word, plain, change) for change in _item_changes(plain)):
        return False
    steady = not _is_noticed(word, plain, lambda: plain.get("kept"))
    return steady and words_of_instance(probes[0], attributes[0], word) is not None


def _is_noticed(word: WordOf, items: dict[Any, Any], change: Callable[[], object]) -> bool:
    before = word(items)
    change()
    return before != Word.at(before.address)


def _item_changes(items: dict[Any, Any]) -> list[Callable[[], object]]:
    return [
        lambda: items.__setitem__("new", 1),
        lambda: items.__setitem__("new", 2),
        lambda: items.update(new=3),
        lambda: items.update({"new": 4, "other": 1}),
        lambda: items.setdefault("third", 1),
        lambda: items.__ior__({"new": 5}),
        lambda: items.pop("other"),
        lambda: items.popitem(),
        lambda: items.__delitem__("new"),
        lambda: items.clear(),
        lambda: items.update({7: 1}),
    ]


def _attribute_changes(probe: _Probe) -> list[Callable[[], object]]:
    """Run for many objects, so that the interpreter's specialised instructions have their turn."""

    def store() -> None:
        probe.changed += 1

    def store_new() -> None:
        probe.added = 1  # type: ignore[attr-defined]

    return [
        store,
        store_new,
        lambda: setattr(probe, "changed", 5),
        lambda: object.__setattr__(probe, "changed", 6),
        lambda: vars(probe).__setitem__("changed", 7),
        lambda: delattr(probe, "added"),
        lambda: vars(probe).pop("changed"),
    ]


def _class_changes(cls: type) -> list[Callable[[], object]]:
    return [
        lambda: setattr(cls, "method", 1),
        lambda: setattr(cls, "method", 2),
        lambda: delattr(cls, "method"),
        lambda: type.__setattr__(cls, "method", 3),
    ]
