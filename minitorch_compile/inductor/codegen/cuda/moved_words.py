"""What an access to memory moves, as LLVM has it: words of 32 bits, and the elements in them (`vectors.py`).

Elements of less than a word are shifted out of it: as a vector of small numbers, LLVM would fetch them by several
accesses.

>>> accesses, moved = pieces_of(2, 8)
>>> accesses, str(moved)  # eight elements of two bytes are one access, to four words
(1, '<4 x i32>')
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

WIDEST = 16  # bytes of an access
WORD = ir.IntType(32)


def pieces_of(bytes_each: int, count: int) -> tuple[int, Any]:
    """How many accesses `count` elements take, and what each moves: words of 32 bits, of which one moves four."""
    nbytes = min(bytes_each * count, WIDEST)
    moved = ir.VectorType(WORD, nbytes // 4) if nbytes > 4 else ir.IntType(8 * nbytes)
    return bytes_each * count // nbytes, moved


def elements_of(builder: Any, bits: Any, element: Any, each: int) -> list[Any]:
    """The elements in what an access moved."""
    width = 8 * width_of(bits.type) // each
    if width >= 32:
        vector = builder.bitcast(bits, ir.VectorType(element, each))
        return [builder.extract_element(vector, ir.Constant(WORD, k)) for k in range(each)]
    # Word by word: as a vector of small numbers, LLVM would fetch them by several accesses.
    words = words_of(builder, bits)
    shifted = [builder.lshr(w, ir.Constant(w.type, at)) for w in words for at in range(0, w.type.width, width)]
    return [builder.trunc(part, element) if part.type != element else part for part in shifted]


def words_of(builder: Any, bits: Any) -> list[Any]:
    """The words in what an access moved; less than one as it is."""
    if isinstance(bits.type, ir.IntType):
        return [bits]
    return [builder.extract_element(bits, ir.Constant(WORD, n)) for n in range(bits.type.count)]


def as_it_is(builder: Any, word: Any) -> Any:
    """The word, of which LLVM doesn't know: else it would take elements out where the word is fetched."""
    kind = ir.FunctionType(WORD, [WORD])
    return builder.asm(kind, "mov.b32 $0, $1;", "=r,r", [word], side_effect=False)


def access_of(builder: Any, elements: list[Any], moved: Any) -> Any:
    """What an access moves, of these elements."""
    width = 8 * width_of(moved) // len(elements)
    if width >= 32:
        vector: Any = ir.Constant(ir.VectorType(elements[0].type, len(elements)), ir.Undefined)
        for k, one in enumerate(elements):
            vector = builder.insert_element(vector, one, ir.Constant(WORD, k))
        return builder.bitcast(vector, moved)
    word = moved if isinstance(moved, ir.IntType) else WORD
    per_word, words = word.width // width, []
    for start in range(0, len(elements), per_word):
        whole: Any = ir.Constant(word, 0)
        for n, one in enumerate(elements[start : start + per_word]):
            wide = builder.zext(one, word) if one.type != word else one
            whole = builder.or_(whole, builder.shl(wide, ir.Constant(word, n * width)))
        words.append(whole)
    if isinstance(moved, ir.IntType):
        return words[0]
    vector = ir.Constant(moved, ir.Undefined)
    for n, one in enumerate(words):
        vector = builder.insert_element(vector, one, ir.Constant(WORD, n))
    return vector


def width_of(moved: Any) -> int:
    """Bytes of an access."""
    return int(moved.width // 8 if isinstance(moved, ir.IntType) else moved.count * moved.element.width // 8)
