"""Has anything changed? Words of memory that were seen once, compared again by one native call.

Asking Python a thousand questions about a model takes tens of microseconds. Whether a word of memory is still what it
was takes a nanosecond, and a few words say that a whole object is as it was (`dict_versions.py` knows which ones).

>>> import ctypes
>>> counter, values = ctypes.c_uint64(7), ["some", "values"]
>>> unchanged = comparison([Word.at(ctypes.addressof(counter))], kept=values, root=counter)
>>> unchanged(counter)
('some', 'values')
>>> counter.value = 8
>>> print(unchanged(counter), unchanged("another root"))
None None

The words are read in order, and reading stops at the first that differs. So a word inside an object may be listed if
the ones before it prove that the object still exists. The values are not kept alive; what keeps them alive must be
proven by the words, too.

The loop is a builtin function made of LLVM instructions, called without any conversion in 40 ns; 1,000 words take one
or two microseconds.
"""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from minitorch_compile.cuda_runtime.native_code import MethodDefinition, builtin

METH_O = 0x0008
API = ("PyBytes_AsString", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef")
LOCK = threading.Lock()

# The table is the content of a bytes object: the root's address, the number of words, the number of values, then a pair
# (address, expected word) for each, then the values' addresses.
PROGRAM = """
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)

define ptr @unchanged(ptr %self, ptr %root) {
entry:
  %table = call ptr @PyBytes_AsString(ptr %self)
  %count_at = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count_at
  %value_count_at = getelementptr i64, ptr %table, i64 2
  %value_count = load i64, ptr %value_count_at
  %pairs = getelementptr i64, ptr %table, i64 3
  %pair_words = shl i64 %count, 1
  %values = getelementptr i64, ptr %pairs, i64 %pair_words
  %root_expected = load ptr, ptr %table
  %same_root = icmp eq ptr %root, %root_expected
  br i1 %same_root, label %begin, label %none

; The tuple is made first: making one may collect garbage, which may run anything, and nothing may come between the
; comparisons and the use of the values.
begin:
  %tuple = call ptr @PyTuple_New(i64 %value_count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %error, label %words
words:
  %i = phi i64 [0, %begin], [%i_next, %next_word]
  %words_done = icmp eq i64 %i, %count
  br i1 %words_done, label %fill, label %compare
compare:
  %pair = shl i64 %i, 1
  %address_at = getelementptr i64, ptr %pairs, i64 %pair
  %expected_at = getelementptr i64, ptr %address_at, i64 1
  %address = load ptr, ptr %address_at
  %expected = load i64, ptr %expected_at
  %word = load volatile i64, ptr %address
  %equal = icmp eq i64 %word, %expected
  br i1 %equal, label %next_word, label %changed
next_word:
  %i_next = add i64 %i, 1
  br label %words

fill:
  %j = phi i64 [0, %words], [%j_next, %next_value]
  %values_done = icmp eq i64 %j, %value_count
  br i1 %values_done, label %same, label %next_value
next_value:
  %value_at = getelementptr ptr, ptr %values, i64 %j
  %value = load ptr, ptr %value_at
  call void @Py_IncRef(ptr %value)
  %stored = call i32 @PyTuple_SetItem(ptr %tuple, i64 %j, ptr %value)
  %j_next = add i64 %j, 1
  br label %fill
same:
  ret ptr %tuple

changed:
  call void @Py_DecRef(ptr %tuple)
  br label %none
none:
  call void @Py_IncRef(ptr inttoptr (i64 NONE to ptr))
  ret ptr inttoptr (i64 NONE to ptr)
error:
  ret ptr null
}

define i32 @count_event(i32 %event, ptr %dict, ptr %key, ptr %value) {
  %before = load i64, ptr inttoptr (i64 EVENTS to ptr)
  %after = add i64 %before, 1
  store i64 %after, ptr inttoptr (i64 EVENTS to ptr)
  ret i32 0
}
"""


class Word(NamedTuple):
    """Eight bytes of memory, and what they were."""

    address: int
    value: int

    @classmethod
    def at(cls, address: int) -> Word:
        """What is there now."""
        return cls(address, ctypes.c_uint64.from_address(address).value)


class NativeCode(NamedTuple):
    """The compiled program. `events` is how often `count_event` was called."""

    definition: MethodDefinition
    count_event: int
    events: ctypes.c_uint64
    engine: Any


_native_code: list[NativeCode] = []  # at most one; not a cached function, since whoever empties caches would free it


def native_code() -> NativeCode:
    """The program, compiled once in a process: what was handed out must stay where it is."""
    with LOCK:
        if not _native_code:
            _native_code.append(_compiled())
        return _native_code[0]


def _compiled() -> NativeCode:
    from llvmlite import binding as llvm  # a fiftieth of a second, which a program that compiles nothing need not wait

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in API:
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    events = ctypes.c_uint64(0)
    text = PROGRAM.replace("NONE", str(id(None))).replace("EVENTS", str(ctypes.addressof(events)))
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    definition = MethodDefinition(b"unchanged", engine.get_function_address("unchanged"), METH_O, None)
    return NativeCode(definition, engine.get_function_address("count_event"), events, engine)


def comparison(words: Iterable[Word], kept: Sequence[Any], root: object) -> Callable[[object], tuple[Any, ...] | None]:
    """A function of one object: a tuple of `kept` if the object is `root` and all words are what they were, else
    None."""
    pairs = [part for word in words for part in word]
    table = array("Q", [id(root), len(pairs) // 2, len(kept), *pairs, *map(id, kept)]).tobytes()
    return builtin(native_code().definition, table)
