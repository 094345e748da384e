"""Matrix products by cuBLASLt, by way of the bindings of nvmath-python.

cuBLAS knows matrices by columns. A matrix by rows is the transpose of one by columns, and the transpose of a product is
the product of the transposes the other way round: so b is the first factor here, a the second, and nothing is copied.

What a product takes to be described is made once, for each precision and for each alignment of its memory. What
cuBLASLt writes for itself goes to one block for each stream, since what is in one stream runs in its order.

>>> from minitorch_compile.cuda_runtime.allocator import CachingAllocator
>>> from minitorch_compile.cuda_runtime.fake_cublas_lt import FakeCublasLt
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> driver, stream = FakeDriver(), StreamHandle(0)
>>> library = CublasLt(driver, StreamWorkspaces([CachingAllocator(driver, 0)]), FakeCublasLt(driver))
>>> a, b, out = (driver.allocate(0, 512) for _ in range(3))
>>> driver.bytes_at(a, 16).view(np.float32)[:] = [1, 2, 3, 4]
>>> driver.bytes_at(b, 16).view(np.float32)[:] = [1, 0, 0, 10]
>>> by_rows, by_columns = Matrix(by_columns=False, step=2), Matrix(by_columns=True, step=2)
>>> product = library.prepared(Product("float32", 1, 2, 2, 2, by_rows, by_columns), Precision)
>>> product([a, b, out], stream)
>>> driver.bytes_at(out, 16).view(np.float32).tolist()
[1.0, 20.0, 3.0, 40.0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.stream_workspaces import StreamWorkspaces

WORKSPACE_BYTES = 32 << 20  # what NVIDIA advises for its largest GPUs
COARSEST = 256  # bytes of alignment beyond which nothing is faster
# cudaDataType_t, and what sums are kept in: cublasComputeType_t, and the type of alpha and beta.
R_32F, R_64F, R_16F, C_32F, C_64F, R_16BF = 0, 1, 2, 4, 5, 14
COMPUTE_32F, COMPUTE_64F, COMPUTE_32F_FAST_TF32 = 68, 70, 77
TYPES: dict[str, tuple[int, int, int, np.dtype[Any]]] = {
    "float16": (R_16F, COMPUTE_32F, R_32F, np.dtype(np.float32)),
    "bfloat16": (R_16BF, COMPUTE_32F, R_32F, np.dtype(np.float32)),
    "float32": (R_32F, COMPUTE_32F, R_32F, np.dtype(np.float32)),
    "float64": (R_64F, COMPUTE_64F, R_64F, np.dtype(np.float64)),
    "complex64": (C_32F, COMPUTE_32F, C_32F, np.dtype(np.complex64)),
    "complex128": (C_64F, COMPUTE_64F, C_64F, np.dtype(np.complex128)),
}
# cublasLtEpilogue_t: what is done to a result before it is stored. Gelu is the one with tanh.
EPILOGUES = {"BIAS": 4, "GELU_BIAS": 36}
# cublasOperation_t, and cublasLtReductionScheme_t: where the parts of a sum that is cut up are added.
PLAIN, TRANSPOSED = 0, 1
IN_WIDE_SUMS, ANYWHERE = 2, 7


class Matrix(NamedTuple):
    """How the matrices of a batch lie: the elements between rows, or columns, and from one matrix to the next."""

    by_columns: bool
    step: int
    apart: int = 0


class Product(NamedTuple):
    """`batch` products of (rows, inner) and (inner, columns); the results lie by rows, one after another. `epilogue`: a
    name in EPILOGUES; then a bias, a number for each column, is added first."""

    element: str
    batch: int
    rows: int
    columns: int
    inner: int
    a: Matrix
    b: Matrix
    epilogue: str = ""


class Precision(NamedTuple):
    """`tf32`: factors of float32 are rounded to 10 bits. `reduced`: parts of a sum may be added as 2-byte floats."""

    tf32: bool = False
    reduced: bool = True


class CublasLt:
    """The library, with a handle for each device."""

    def __init__(self, driver: Any, workspaces: StreamWorkspaces, bindings: Any) -> None:
        self.driver, self.workspaces, self.bindings = driver, workspaces, bindings
        self.handles: dict[int, int] = {}

    def prepared(self, product: Product, precision: Callable[[], Precision]) -> PreparedProduct:
        """A function of addresses and a stream. `precision` is asked at each call, since programs switch it."""
        return PreparedProduct(self, product, precision)

    def handle(self, device: int) -> int:
        """Makes the device this thread's, too."""
        self.driver.enter(device)
        found = self.handles.get(device)
        if found is None:
            found = self.handles[device] = self.bindings.create()
        return found


class PreparedProduct:
    """A product without its addresses: of a, of b, of the bias if there is one, and of the result."""

    def __init__(self, library: CublasLt, product: Product, precision: Callable[[], Precision]) -> None:
        self.library, self.product, self.precision = library, product, precision
        self.plans: dict[tuple[int, int, Precision], ProductPlan] = {}

    def __call__(self, addresses: Sequence[int], stream: StreamHandle) -> None:
        library = self.library
        a, b, *biases, out = addresses
        handle = library.handle(stream.device)
        bits = (a | b | out) & (COARSEST - 1)
        if biases:
            bits |= biases[0] & (COARSEST - 1)
        key = stream.device, bits & -bits or COARSEST, self.precision()
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = ProductPlan(library.bindings, handle, self.product, key[1], key[2], *biases)
        with library.workspaces.turn:
            if biases and biases[0] != plan.bias:
                plan.tell_bias(biases[0])
            library.bindings.matmul(
                *(handle, plan.product, plan.one, b, plan.b, a, plan.a, plan.zero, out, plan.out, out, plan.out),
                *(plan.algorithm, library.workspaces.of(stream, WORKSPACE_BYTES), WORKSPACE_BYTES, stream.handle),
            )


class ProductPlan:
    """cuBLASLt's description of a product, and the algorithm that it chose for it."""

    def __init__(
        self, bindings: Any, handle: int, product: Product, alignment: int, precision: Precision, bias: int = 0
    ) -> None:
        self.bindings, self.bias = bindings, 0
        element, compute, scale, numbers = TYPES[product.element]
        if precision.tf32 and product.element == "float32":
            compute = COMPUTE_32F_FAST_TF32
        self.numbers = np.array([1, 0], numbers)
        self.one, self.zero = self.numbers.ctypes.data, self.numbers.ctypes.data + numbers.itemsize
        self.product = bindings.matmul_desc_create(compute, scale)
        for name, matrix in (("TRANSA", product.b), ("TRANSB", product.a)):
            attribute = getattr(bindings.MatmulDescAttribute, name)
            _set(bindings.matmul_desc_set_attribute, self.product, attribute, np.int32(matrix.by_columns))
        if product.epilogue:
            attribute = bindings.MatmulDescAttribute.EPILOGUE
            _set(bindings.matmul_desc_set_attribute, self.product, attribute, np.uint32(EPILOGUES[product.epilogue]))
            self.tell_bias(bias)
        by_rows = Matrix(False, product.columns, product.rows * product.columns)
        self.a = self.layout(element, product.batch, product.rows, product.inner, product.a)
        self.b = self.layout(element, product.batch, product.inner, product.columns, product.b)
        self.out = self.layout(element, product.batch, product.rows, product.columns, by_rows)
        self.results = np.zeros(1, bindings.matmul_heuristic_result_dtype)
        self.algorithm = self.results.ctypes.data  # what a result begins with
        self.choose(handle, product, alignment, precision)

    def layout(self, element: int, batch: int, rows: int, columns: int, matrix: Matrix) -> int:
        """The matrix as one by columns: what lies by rows is seen transposed."""
        sizes = (rows, columns) if matrix.by_columns else (columns, rows)
        layout: int = self.bindings.matrix_layout_create(element, *sizes, matrix.step)
        if batch > 1:
            names, setter = self.bindings.MatrixLayoutAttribute, self.bindings.matrix_layout_set_attribute
            _set(setter, layout, names.BATCH_COUNT, np.int32(batch))
            _set(setter, layout, names.STRIDED_BATCH_OFFSET, np.int64(matrix.apart))
        return layout

    def tell_bias(self, address: int) -> None:
        """Where the bias is, which belongs to the description."""
        attribute = self.bindings.MatmulDescAttribute.BIAS_POINTER
        _set(self.bindings.matmul_desc_set_attribute, self.product, attribute, np.uint64(address))
        self.bias = address

    def choose(self, handle: int, product: Product, alignment: int, precision: Precision) -> None:
        """Asks for the algorithm that is probably the fastest. RuntimeError if there is none."""
        bindings = self.bindings
        names, setter = bindings.MatmulPreferenceAttribute, bindings.matmul_preference_set_attribute
        wanted = bindings.matmul_preference_create()
        try:
            _set(setter, wanted, names.MAX_WORKSPACE_BYTES, np.uint64(WORKSPACE_BYTES))
            sums = ANYWHERE if precision.reduced else IN_WIDE_SUMS
            _set(setter, wanted, names.REDUCTION_SCHEME_MASK, np.uint32(sums))
            for matrix in "ABCD":
                attribute = getattr(names, f"MIN_ALIGNMENT_{matrix}_BYTES")
                _set(setter, wanted, attribute, np.uint32(alignment))
            found = np.zeros(1, np.int32)
            layouts = self.b, self.a, self.out, self.out
            bindings.matmul_algo_get_heuristic(
                *(handle, self.product, *layouts, wanted, 1, self.results.ctypes.data, found.ctypes.data)
            )
        finally:
            bindings.matmul_preference_destroy(wanted)
        if not found[0]:
            raise RuntimeError(f"cuBLASLt has no algorithm for {product}, at addresses divisible by {alignment}")

    def __del__(self) -> None:
        if "out" in self.__dict__:
            for layout in (self.a, self.b, self.out):
                self.bindings.matrix_layout_destroy(layout)
            self.bindings.matmul_desc_destroy(self.product)


def _set(setter: Callable[..., None], what: int, attribute: int, value: np.generic) -> None:
    """Attributes are handed over as bytes."""
    memory = np.array([value])
    setter(what, attribute, memory.ctypes.data, memory.nbytes)
