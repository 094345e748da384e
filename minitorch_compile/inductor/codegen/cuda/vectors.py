"""Several neighbouring elements at once, as functions for kernels: accesses of up to 16 bytes, the widest of a GPU.

A thread's elements lie in `registers`, an array of its own that is never indexed by what only a running kernel knows:
so the compiler keeps it in registers. `load_4(registers, place, memory, address, aligned)` fetches four elements from
`address` on into `registers[place]` and those behind it; `store_4` writes them. Where the elements aren't `aligned`, as
in a view that begins at another one's second element, each is fetched alone.

What is fetched for later stays whole words till then, of which two small elements share one: `fetch_4(words, ...)` is
`load_4` for an array of words, `take_4(registers, place, words, place)` takes the elements out of some.

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

from minitorch_compile.inductor.codegen.cuda.moved_words import (
    WIDEST,
    WORD,
    access_of,
    as_it_is,
    elements_of,
    pieces_of,
    width_of,
    words_of,
)

LONG = ir.IntType(64)


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


def fetching(count: int) -> Any:
    """What fetches `count` small elements into words."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def fetch(typing: Any, words: Any, place: Any, memory: Any, address: Any, aligned: Any) -> Any:
        """Elements of memory into words."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kept, first, source, start, is_aligned = arguments
            to = pointer_to(context, builder, signature.args[0], kept, first)
            at = pointer_to(context, builder, signature.args[2], source, start)
            for n, word in enumerate(_words_at(builder, at, _bytes_of(signature.args[2], context), count, is_aligned)):
                builder.store(word, _at(builder, to, n))
            return context.get_dummy_value()

        return _signature(words, memory), generate

    fetch.simulated_as = f"vectors.fetch_{count}"
    return fetch


def taking(count: int) -> Any:
    """What takes `count` small elements out of words."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def take(typing: Any, registers: Any, place: Any, words: Any, word: Any) -> Any:
        """Elements of words into registers."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            to = pointer_to(context, builder, signature.args[0], *arguments[:2])
            of = pointer_to(context, builder, signature.args[2], *arguments[2:])
            each = _bytes_of(signature.args[0], context)
            found = [builder.load(_at(builder, of, n)) for n in range(count * each // 4)]
            _take_out(builder, found, to, 4 // each)
            return context.get_dummy_value()

        return types.void(registers, types.int64, words, types.int64), generate

    take.simulated_as = f"vectors.take_{count}"
    return take


def _fetch_whole(builder: Any, source: Any, target: Any, bytes_each: int, count: int) -> None:
    accesses, moved = pieces_of(bytes_each, count)
    each = count // accesses
    for piece in range(accesses):
        bits = builder.load(builder.bitcast(_at(builder, source, piece * each), moved.as_pointer()))
        bits.align = width_of(moved)
        for k, one in enumerate(elements_of(builder, bits, source.type.pointee, each)):
            builder.store(one, _at(builder, target, piece * each + k))


def _fetch_words(builder: Any, source: Any, target: Any, bytes_each: int, count: int, is_aligned: Any) -> None:
    """Small elements as whole words, of which each is taken where it is used: so a register has several."""
    _take_out(builder, _words_at(builder, source, bytes_each, count, is_aligned), target, 4 // bytes_each)


def _take_out(builder: Any, words: list[Any], target: Any, per_word: int) -> None:
    """The elements of words into registers."""
    for n, word in enumerate(words):
        for k, value in enumerate(elements_of(builder, as_it_is(builder, word), target.type.pointee, per_word)):
            builder.store(value, _at(builder, target, n * per_word + k))


def _words_at(builder: Any, source: Any, bytes_each: int, count: int, is_aligned: Any) -> list[Any]:
    """The words of small elements, whichever way they are fetched."""
    accesses, moved = pieces_of(bytes_each, count)
    per_word = 4 // bytes_each
    with builder.if_else(is_aligned) as (whole, one_by_one):
        with whole:
            words = []
            for piece in range(accesses):
                at = _at(builder, source, piece * (count // accesses))
                bits = builder.load(builder.bitcast(at, moved.as_pointer()))
                bits.align = width_of(moved)
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
    return joined


def _write_whole(builder: Any, source: Any, target: Any, bytes_each: int, count: int) -> None:
    accesses, moved = pieces_of(bytes_each, count)
    each = count // accesses
    for piece in range(accesses):
        places = range(piece * each, (piece + 1) * each)
        bits = access_of(builder, [builder.load(_at(builder, source, k)) for k in places], moved)
        wide = builder.bitcast(_at(builder, target, piece * each), moved.as_pointer())
        builder.store(bits, wide).align = width_of(moved)


load_1, load_2, load_4, load_8, load_16 = map(loading, (1, 2, 4, 8, 16))
store_1, store_2, store_4, store_8, store_16 = map(storing, (1, 2, 4, 8, 16))
fetch_2, fetch_4, fetch_8, fetch_16 = map(fetching, (2, 4, 8, 16))
take_2, take_4, take_8, take_16 = map(taking, (2, 4, 8, 16))


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
