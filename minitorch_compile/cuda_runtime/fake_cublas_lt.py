"""A stand-in for cuBLASLt's bindings: it takes the same calls, checks what they say, and multiplies with NumPy.

It works on the memory of a driver without a GPU, when its stream comes to it. ValueError says which argument of which
call could not be right.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> library = FakeCublasLt(FakeDriver())
>>> library.matrix_layout_create(0, 4, 5, 3)
Traceback (most recent call last):
ValueError: matrix_layout_create: a column of 4 elements doesn't fit into a step of 3
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import DEVICE_STRIDE, FakeDriver

ELEMENTS = {
    0: np.dtype(np.float32), 1: np.dtype(np.float64), 2: np.dtype(np.float16), 4: np.dtype(np.complex64),
    5: np.dtype(np.complex128), 14: np.dtype(ml_dtypes.bfloat16),
}  # fmt: skip
# What each type of sums goes with: the types of elements, and the types of alpha and beta.
COMPUTES = {68: ((0, 2, 14, 4), (0, 4)), 70: ((1, 5), (1, 5)), 77: ((0,), (0,))}


EPILOGUES: dict[int, Callable[[np.ndarray], np.ndarray]] = {  # of what has its bias
    4: lambda x: x,
    36: lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
}


class MatmulDescAttribute(IntEnum):
    TRANSA, TRANSB, EPILOGUE, BIAS_POINTER = 3, 4, 7, 8


class MatrixLayoutAttribute(IntEnum):
    BATCH_COUNT, STRIDED_BATCH_OFFSET = 5, 6


class MatmulPreferenceAttribute(IntEnum):
    MAX_WORKSPACE_BYTES, REDUCTION_SCHEME_MASK = 1, 3
    MIN_ALIGNMENT_A_BYTES, MIN_ALIGNMENT_B_BYTES, MIN_ALIGNMENT_C_BYTES, MIN_ALIGNMENT_D_BYTES = 5, 6, 7, 8


BYTES_OF: dict[type[IntEnum], dict[Any, int]] = {
    MatmulDescAttribute: {**dict.fromkeys(MatmulDescAttribute, 4), MatmulDescAttribute.BIAS_POINTER: 8},
    MatrixLayoutAttribute: {MatrixLayoutAttribute.BATCH_COUNT: 4, MatrixLayoutAttribute.STRIDED_BATCH_OFFSET: 8},
    MatmulPreferenceAttribute: {**dict.fromkeys(MatmulPreferenceAttribute, 4), 1: 8},
}


class Multiplication(NamedTuple):
    """The arguments of cublasLtMatmul."""

    light_handle: int
    compute_desc: int
    alpha: int
    a: int
    adesc: int
    b: int
    bdesc: int
    beta: int
    c: int
    cdesc: int
    d: int
    ddesc: int
    algo: int
    workspace: int
    workspace_size_in_bytes: int
    stream: int


class FakeCublasLt:
    """What `nvmath.bindings.cublasLt` has, as far as it is used. `asked` counts searches for algorithms."""

    MatmulDescAttribute = MatmulDescAttribute
    MatrixLayoutAttribute = MatrixLayoutAttribute
    MatmulPreferenceAttribute = MatmulPreferenceAttribute
    matmul_heuristic_result_dtype = np.dtype([("algo", "<u8", (8,)), ("workspace_size", "<u8"), ("rest", "<u8", (3,))])

    def __init__(self, driver: FakeDriver) -> None:
        self.driver, self.asked = driver, 0
        self.objects: dict[int, dict[Any, Any]] = {}
        self.numbers = itertools.count(1)

    def _new(self, kind: str, **fields: Any) -> int:
        number = next(self.numbers)
        self.objects[number] = {"kind": kind, **fields}
        return number

    def _get(self, call: str, kind: str, number: int) -> dict[Any, Any]:
        _require(self.objects.get(number, {}).get("kind") == kind, call, f"{number} is no {kind}")
        return self.objects[number]

    def _destroy(self, call: str, kind: str, number: int) -> None:
        self._get(call, kind, number)
        del self.objects[number]

    def _set(self, kind: str, names: type[IntEnum], number: int, attribute: int, buf: int, size: int) -> None:
        known = names(attribute)
        _require(size == BYTES_OF[names][known], kind, f"{known.name} has {BYTES_OF[names][known]} bytes, not {size}")
        value = int.from_bytes(ctypes.string_at(buf, size), "little", signed=True)
        self._get("set_attribute", kind, number)[known] = value

    # ------------------------------------------------------------------------------------------ descriptions

    def create(self) -> int:
        return self._new("handle")

    def matmul_desc_create(self, compute_type: int, scale_type: int) -> int:
        _require(compute_type in COMPUTES, "matmul_desc_create", f"compute type {compute_type} isn't known")
        allowed = COMPUTES[compute_type][1]
        _require(scale_type in allowed, "matmul_desc_create", f"scale type {scale_type} isn't among {allowed}")
        return self._new("product", compute=compute_type, scale=scale_type)

    def matmul_desc_destroy(self, matmul_desc: int) -> None:
        self._destroy("matmul_desc_destroy", "product", matmul_desc)

    def matmul_desc_set_attribute(self, matmul_desc: int, attr: int, buf: int, size_in_bytes: int) -> None:
        self._set("product", MatmulDescAttribute, matmul_desc, attr, buf, size_in_bytes)

    def matrix_layout_create(self, type: int, rows: int, cols: int, ld: int) -> int:
        call = "matrix_layout_create"
        _require(type in ELEMENTS, call, f"{type} is no type of elements")
        _require(min(rows, cols) > 0, call, f"sizes are at least 1, got {rows} and {cols}")
        _require(ld >= rows, call, f"a column of {rows} elements doesn't fit into a step of {ld}")
        return self._new("layout", element=type, rows=rows, columns=cols, step=ld)

    def matrix_layout_destroy(self, mat_layout: int) -> None:
        self._destroy("matrix_layout_destroy", "layout", mat_layout)

    def matrix_layout_set_attribute(self, mat_layout: int, attr: int, buf: int, size_in_bytes: int) -> None:
        self._set("layout", MatrixLayoutAttribute, mat_layout, attr, buf, size_in_bytes)

    def matmul_preference_create(self) -> int:
        return self._new("preference")

    def matmul_preference_destroy(self, pref: int) -> None:
        self._destroy("matmul_preference_destroy", "preference", pref)

    def matmul_preference_set_attribute(self, pref: int, attr: int, buf: int, size_in_bytes: int) -> None:
        self._set("preference", MatmulPreferenceAttribute, pref, attr, buf, size_in_bytes)

    def matmul_algo_get_heuristic(self, *arguments: int) -> None:
        """The algorithm is its alignment: who multiplies at other addresses is told."""
        call = "matmul_algo_get_heuristic"
        handle, product, a, b, c, d, preference, _, results, count = arguments
        self._get(call, "handle", handle)
        self._check(call, product, a, b, c, d)
        wanted = self._get(call, "preference", preference)
        least = min(wanted.get(attribute, 256) for attribute in list(MatmulPreferenceAttribute)[2:])
        self.asked += 1
        result = np.zeros(1, self.matmul_heuristic_result_dtype)
        result["algo"][0, 0] = least
        ctypes.memmove(results, result.ctypes.data, result.nbytes)
        ctypes.memmove(count, np.ones(1, np.int32).ctypes.data, 4)

    # ------------------------------------------------------------------------------------------ products

    def matmul(self, *arguments: int) -> None:
        call = Multiplication(*arguments)
        self._get("matmul", "handle", call.light_handle)
        product = self._check("matmul", call.compute_desc, call.adesc, call.bdesc, call.cdesc, call.ddesc)
        least = int.from_bytes(ctypes.string_at(call.algo, 8), "little")
        for address in (call.a, call.b, call.c, call.d):
            _require(address % least == 0, "matmul", f"{address:#x} isn't divisible by {least}, as was said")
        self.driver.bytes_at(call.workspace, call.workspace_size_in_bytes)
        scale = ELEMENTS[product["scale"]]
        one, zero = (np.frombuffer(ctypes.string_at(x, 16), scale)[0] for x in (call.alpha, call.beta))
        _require((one, zero, call.c) == (1, 0, call.d), "matmul", f"only a b is computed, not {one} a b + {zero} c")
        factors = [self._view(call.a, call.adesc), self._view(call.b, call.bdesc)]
        for place, name in enumerate((MatmulDescAttribute.TRANSA, MatmulDescAttribute.TRANSB)):
            if product.get(name):
                factors[place] = factors[place].swapaxes(1, 2)
        target, finish = self._view(call.d, call.ddesc), self._epilogue(product, call.ddesc, least)

        def multiply() -> None:
            left, right = (x.astype(np.float32) if x.dtype.itemsize == 2 else x for x in factors)
            target[...] = finish(np.matmul(left, right)).astype(target.dtype)

        self.driver.launch(multiply, StreamHandle(call.d // DEVICE_STRIDE - 1, call.stream))

    def _epilogue(self, product: dict[Any, Any], number: int, least: int) -> Callable[[np.ndarray], np.ndarray]:
        """What is done to results before they are rounded; a bias has a number for each row of them."""
        chosen, layout = product.get(MatmulDescAttribute.EPILOGUE), self.objects[number]
        if chosen is None:
            return lambda result: result
        _require(chosen in EPILOGUES, "matmul", f"the epilogue {chosen} isn't among {list(EPILOGUES)}")
        address, element = product.get(MatmulDescAttribute.BIAS_POINTER, 0), ELEMENTS[layout["element"]]
        _require(bool(address) and address % least == 0, "matmul", f"a bias can't be at {address:#x}")
        bias = self.driver.bytes_at(address, layout["rows"] * element.itemsize).view(element)
        return lambda result: EPILOGUES[chosen](result + bias.astype(result.dtype)[:, None])

    def _check(self, call: str, operation: int, *layouts: int) -> dict[Any, Any]:
        """The product, if its matrices go together."""
        product = self._get(call, "product", operation)
        a, b, c, d = (self._get(call, "layout", layout) for layout in layouts)
        types = {x["element"] for x in (a, b, c, d)}
        _require(len(types) == 1, call, f"the matrices are of the types {sorted(types)}")
        allowed = COMPUTES[product["compute"]][0]
        _require(types <= set(allowed), call, f"sums of type {product['compute']} aren't kept for {types}")
        shapes = [
            (x["columns"], x["rows"]) if product.get(name) else (x["rows"], x["columns"])
            for name, x in zip((MatmulDescAttribute.TRANSA, MatmulDescAttribute.TRANSB, None, None), (a, b, c, d))
        ]
        (rows, inner), (same, columns) = shapes[:2]
        fits = inner == same and shapes[2] == shapes[3] == (rows, columns)
        _require(fits, call, f"the sizes don't go together: {shapes}")
        counts = {x.get(MatrixLayoutAttribute.BATCH_COUNT, 1) for x in (a, b, c, d)}
        _require(len(counts) == 1, call, f"the batches have {sorted(counts)} matrices")
        return product

    def _view(self, address: int, number: int) -> np.ndarray:
        """The matrices of a batch in memory."""
        layout = self.objects[number]
        element = ELEMENTS[layout["element"]]
        count = layout.get(MatrixLayoutAttribute.BATCH_COUNT, 1)
        apart = layout.get(MatrixLayoutAttribute.STRIDED_BATCH_OFFSET, 0)
        length = (count - 1) * apart + (layout["columns"] - 1) * layout["step"] + layout["rows"]
        memory = self.driver.bytes_at(address, length * element.itemsize).view(element)
        strides = [n * element.itemsize for n in (apart, 1, layout["step"])]
        return np.lib.stride_tricks.as_strided(memory, (count, layout["rows"], layout["columns"]), strides)


def _require(holds: bool, call: str, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{call}: {otherwise}")
