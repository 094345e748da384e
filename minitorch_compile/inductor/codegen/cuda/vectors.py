"""Several neighbouring elements at once, as functions for kernels: accesses of up to 16 bytes, the widest of a GPU.

A thread's elements lie in `registers`, an array of its own that is never indexed by what only a running kernel knows:
so the compiler keeps it in registers. `load_4(registers, place, memory, address, aligned)` fetches four elements from
`address` on into `registers[place]` and those behind it; `store_4` writes them. Where the elements aren't `aligned`, as
in a view that begins at another one's second element, each is fetched alone.

Rows of odd lengths begin anywhere: `beyond(memory, address, 4)` says how many elements lie between the last place where
four may be accessed at once and an address.

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def reversed_fours(x, out):
...     fours, four = simulated.local.array(4, np.float32), 4 * simulated.threadIdx.x
...     load_4(fours, 0, x, four, is_aligned(x))
...     for k in range(2):
...         fours[k], fours[3 - k] = fours[3 - k], fours[k]
...     store_4(fours, 0, out, four, is_aligned(out))
>>> import numpy as np
>>> x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
>>> simulate(reversed_fours, counts=True)[1, 2](x, out).counts.of("load_4").load_requests
1
>>> out
array([3., 2., 1., 0., 7., 6., 5., 4.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

WIDEST = 16  # bytes of an access
WORD, LONG = ir.IntType(32), ir.IntType(64)


def pieces_of(bytes_each: int, count: int) -> tuple[int, Any]:
    """How many accesses `count` elements take, and what each moves: words of 32 bits, of which one moves four."""
    nbytes = min(bytes_each * count, WIDEST)
    moved = ir.VectorType(WORD, nbytes // 4) if nbytes > 4 else ir.IntType(8 * nbytes)
    return bytes_each * count // nbytes, moved


def elements_of(builder: Any, bits: Any, element: Any, each: int) -> list[Any]:
    """The elements in what an access moved."""
    width = 8 * _width(bits.type) // each
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
    width = 8 * _width(moved) // len(elements)
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


def pointer_to(context: Any, builder: Any, kind: Any, value: Any, address: Any) -> Any:
    """Where an element lies: behind a bare pointer, or in an array of Numba's."""
    start = value if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, value).data
    return builder.gep(start, [address])


def _at(builder: Any, pointer: Any, k: int) -> Any:
    return builder.gep(pointer, [ir.Constant(LONG, k)])


def _bytes_of(kind: Any, context: Any) -> int:
    return int(context.get_abi_sizeof(context.get_data_type(kind.dtype)))


def _signature(registers: Any, memory: Any) -> Any:
    return types.void(registers, types.int64, memory, types.int64, types.boolean)


def loading(count: int) -> Any:
    """What fetches `count` elements."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def load(typing: Any, registers: Any, place: Any, memory: Any, address: Any, aligned: Any) -> Any:
        """Elements of memory into registers."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kept, first, source, start, is_aligned = arguments
            to = pointer_to(context, builder, signature.args[0], kept, first)
            at = pointer_to(context, builder, signature.args[2], source, start)
            each = _bytes_of(signature.args[2], context)
            if each < 4 and each * count % 4 == 0:
                _fetch_words(builder, at, to, each, count, is_aligned)
                return context.get_dummy_value()
            with builder.if_else(is_aligned) as (whole, one_by_one):
                with whole:
                    _fetch_whole(builder, at, to, each, count)
                with one_by_one:
                    for k in range(count):
                        builder.store(builder.load(_at(builder, at, k)), _at(builder, to, k))
            return context.get_dummy_value()

        return _signature(registers, memory), generate

    load.simulated_as = f"vectors.load_{count}"
    return load


def storing(count: int) -> Any:
    """What writes `count` elements."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def store(typing: Any, registers: Any, place: Any, memory: Any, address: Any, aligned: Any) -> Any:
        """Registers into elements of memory."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kept, first, target, start, is_aligned = arguments
            of = pointer_to(context, builder, signature.args[0], kept, first)
            at = pointer_to(context, builder, signature.args[2], target, start)
            each = _bytes_of(signature.args[2], context)
            with builder.if_else(is_aligned) as (whole, one_by_one):
                with whole:
                    _write_whole(builder, of, at, each, count)
                with one_by_one:
                    for k in range(count):
                        builder.store(builder.load(_at(builder, of, k)), _at(builder, at, k))
            return context.get_dummy_value()

        return _signature(registers, memory), generate

    store.simulated_as = f"vectors.store_{count}"
    return store


def _fetch_whole(builder: Any, source: Any, target: Any, bytes_each: int, count: int) -> None:
    accesses, moved = pieces_of(bytes_each, count)
    each = count // accesses
    for piece in range(accesses):
        bits = builder.load(builder.bitcast(_at(builder, source, piece * each), moved.as_pointer()))
        bits.align = _width(moved)
        for k, one in enumerate(elements_of(builder, bits, source.type.pointee, each)):
            builder.store(one, _at(builder, target, piece * each + k))


def _fetch_words(builder: Any, source: Any, target: Any, bytes_each: int, count: int, is_aligned: Any) -> None:
    """Small elements, either way as whole words, of which each is taken where it is used: so a register has several."""
    accesses, moved = pieces_of(bytes_each, count)
    per_word, element = 4 // bytes_each, source.type.pointee
    with builder.if_else(is_aligned) as (whole, one_by_one):
        with whole:
            words = []
            for piece in range(accesses):
                at = _at(builder, source, piece * (count // accesses))
                bits = builder.load(builder.bitcast(at, moved.as_pointer()))
                bits.align = _width(moved)
                words += words_of(builder, bits)
            from_whole = builder.block
        with one_by_one:
            found = [builder.load(_at(builder, source, k)) for k in range(count)]
            made = [access_of(builder, found[k : k + per_word], WORD) for k in range(0, count, per_word)]
            from_parts = builder.block
    joined = [builder.phi(WORD) for _ in words]
    for word, one, other in zip(joined, words, made):
        word.add_incoming(one, from_whole)
        word.add_incoming(other, from_parts)
    for n, word in enumerate(joined):
        for k, value in enumerate(elements_of(builder, as_it_is(builder, word), element, per_word)):
            builder.store(value, _at(builder, target, n * per_word + k))


def _write_whole(builder: Any, source: Any, target: Any, bytes_each: int, count: int) -> None:
    accesses, moved = pieces_of(bytes_each, count)
    each = count // accesses
    for piece in range(accesses):
        places = range(piece * each, (piece + 1) * each)
        bits = access_of(builder, [builder.load(_at(builder, source, k)) for k in places], moved)
        wide = builder.bitcast(_at(builder, target, piece * each), moved.as_pointer())
        builder.store(bits, wide).align = _width(moved)


def _width(moved: Any) -> int:
    """Bytes of an access."""
    return int(moved.width // 8 if isinstance(moved, ir.IntType) else moved.count * moved.element.width // 8)


load_1, load_2, load_4, load_8, load_16 = map(loading, (1, 2, 4, 8, 16))
store_1, store_2, store_4, store_8, store_16 = map(storing, (1, 2, 4, 8, 16))


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def beyond(typing: Any, memory: Any, address: Any, count: Any) -> Any:
    """How many elements lie between an address and the last before it from which `count` may be accessed at once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = pointer_to(context, builder, signature.args[0], *arguments[:2])
        each = ir.Constant(LONG, _bytes_of(signature.args[0], context))
        wide = builder.mul(arguments[2], each)
        return builder.udiv(builder.urem(builder.ptrtoint(start, LONG), wide), each)

    return types.int64(memory, types.int64, types.int64), generate


beyond.simulated_as = "vectors.beyond"


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def is_aligned(typing: Any, memory: Any) -> Any:
    """Whether memory begins at a place that the widest access may begin at."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = pointer_to(context, builder, signature.args[0], arguments[0], ir.Constant(LONG, 0))
        rest = builder.and_(builder.ptrtoint(start, LONG), ir.Constant(LONG, WIDEST - 1))
        return builder.icmp_unsigned("==", rest, ir.Constant(LONG, 0))

    return types.boolean(memory), generate


is_aligned.simulated_as = "vectors.is_aligned"
