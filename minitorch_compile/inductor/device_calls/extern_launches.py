"""How a GPU runs the calls in a graph that aren't loops: a library of NVIDIA's, or a kernel that isn't generated.

A rule makes a launch of a call: a function of addresses, those of its inputs and then of its outputs, and of a stream.
It is the counterpart of `inductor/kernels/calls.py`, which says the same for the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from minitorch_compile.cuda_runtime.cublas_lt import TYPES, Matrix, Product
from minitorch_compile.cuda_runtime.cudnn_attention import prepared_attention
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.device_calls import (
    attention_launches,
    convolution_rules,
    cudnn_rules,
    library_epilogues,
    tile_product,
)
from minitorch_compile.inductor.device_calls.launcher import Kernel, Launch, Launcher, Reach
from minitorch_compile.inductor.device_calls.libraries import (
    PRECISIONS,
    PRECISIONS_OF_CONVOLUTIONS,
    Libraries,
    Precisions,
    convolution_switches,
    full_precision,
)
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernel
from minitorch_compile.inductor.device_calls.product_launches import has_kernel, tensor_core_product
from minitorch_compile.inductor.device_calls.transform_launches import transform_launch
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, matrix_layout, whole
from minitorch_compile.tensor.functions.settings import settings


class Resources(NamedTuple):
    """What a rule can use: libraries, and a compiler of kernels, given text, name and the kinds of parameters. `ahead`
    is told of all that a graph will compile."""

    libraries: Libraries
    launcher: Launcher
    compile: Callable[[str, str, Sequence[str]], Kernel]
    ahead: Callable[[Sequence[LiftedKernel]], None] = lambda kernels: None


Rule = Callable[[ExternCall, Resources], Launch]
launches: dict[str, Rule] = {}  # by the name of the extern kernel


def launched_by(*kernels: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        launches.update(dict.fromkeys(kernels, rule))
        return rule

    return declare


def launch_of(call: ExternCall, resources: Resources) -> Launch:
    """What runs a call; its inputs' addresses are those of buffers, of which it may read a part."""
    launch = launches[call.kernel](call, resources)
    offsets = [view.offset * view.buffer.dtype.itemsize for view in call.inputs] + [0] * len(call.outputs)
    if not any(offsets):
        return launch

    def shifted(addresses: Sequence[int], stream: StreamHandle) -> None:
        launch([address + offset for address, offset in zip(addresses, offsets, strict=True)], stream)

    return shifted


# ------------------------------------------------------------------------------------------ matrix products


@launched_by("mm", "bmm")
def _(call: ExternCall, resources: Resources) -> Launch:
    return multiplication(call, resources, PRECISIONS)


@launched_by(library_epilogues.CALL)
def _(call: ExternCall, resources: Resources) -> Launch:
    library, (name,) = resources.libraries.products, call.parameters
    assert library is not None, "only then are there such calls"
    precision = PRECISIONS[call.outputs[0].dtype.name]
    return library.prepared(product_of(call)._replace(epilogue=name), precision)


@launched_by(convolution_rules.PRODUCT)
def _(call: ExternCall, resources: Resources) -> Launch:
    return multiplication(call, resources, PRECISIONS_OF_CONVOLUTIONS)


def multiplication(call: ExternCall, resources: Resources, precisions: Precisions) -> Launch:
    """By cuBLASLt if it is there and knows the dtype, else by kernels of ours: on tensor cores, if these can."""
    element = call.outputs[0].dtype.name
    if resources.libraries.products is None and resources.libraries.has_tensor_cores and has_kernel(call):
        at_start = [replace(view, offset=0) for view in call.inputs]  # `launch_of` is told addresses of views
        product = tensor_core_product(replace(call, inputs=at_start), resources.launcher)
        return product.launch(resources.compile, resources.launcher, resources.libraries)
    if resources.libraries.products is None or element not in TYPES:
        return _by_tiles(call, resources)
    return resources.libraries.products.prepared(product_of(call), precisions.get(element, full_precision))


def product_of(call: ExternCall) -> Product:
    """A product in cuBLASLt's terms.

    >>> from minitorch_compile.inductor.ir.buffer import Buffer
    >>> from minitorch_compile.tensor.numerics.dtype import float32
    >>> x, out = Buffer.contiguous("x", (4, 8), float32), Buffer.contiguous("out", (4, 4), float32)
    >>> product_of(ExternCall("mm", [whole(x), StridedView(x, (8, 4), (1, 8))], [out]))
    Product(element='float32', batch=1, rows=4, columns=4, inner=8, a=Matrix(by_columns=False, step=8, apart=0), \
b=Matrix(by_columns=True, step=8, apart=0), epilogue='')
    """
    a, b, *_ = call.inputs
    batch = a.sizes[0] if len(a.sizes) == 3 else 1
    return Product(
        call.outputs[0].dtype.name, batch, a.sizes[-2], b.sizes[-1], a.sizes[-1], _matrix_of(a), _matrix_of(b)
    )


def _matrix_of(view: StridedView) -> Matrix:
    layout = matrix_layout(view)
    assert layout, "lowering makes matrices that BLAS can read"
    return Matrix(*layout, view.strides[0] if len(view.sizes) == 3 else 0)


def _by_tiles(call: ExternCall, resources: Resources) -> Launch:
    (a, b), element = call.inputs, call.outputs[0].dtype.name
    batched = len(a.sizes) == 3
    batch, threads = a.sizes[0] if batched else 1, resources.launcher.threads
    text, name = tile_product.tile_product(element, threads)
    kernel = resources.compile(text, name, tile_product.parameters(element))
    tiles = tile_product.tiles_of(batch, a.sizes[-2], b.sizes[-1], threads)
    strides = [n for view in (a, b) for n in (view.strides if batched else (0, *view.strides))]
    sizes = [batch, a.sizes[-2], b.sizes[-1], a.sizes[-1], *strides]
    return kernel(min(tiles, resources.launcher.most_blocks), [*map(reach, (a, b, whole(call.outputs[0])))], sizes)


def reach(view: StridedView) -> Reach:
    """How many elements of its buffer a view spans, and what they are."""
    length = 1 + sum((size - 1) * stride for size, stride in zip(view.sizes, view.strides))
    return length, view.buffer.dtype.numpy


# ------------------------------------------------------------------------------------------ convolutions


@launched_by(cudnn_rules.CALL)
def _(call: ExternCall, resources: Resources) -> Launch:
    library = resources.libraries.convolutions
    assert library is not None, "only then are there such calls"
    return library.prepared(call.parameters[0], convolution_switches)


@launched_by(attention_launches.CALL)
def _(call: ExternCall, resources: Resources) -> Launch:
    at_start = replace(call, inputs=[replace(view, offset=0) for view in call.inputs])
    return attention_launches.attention_launch(at_start, resources.launcher, resources.libraries, resources.compile)


@launched_by("cudnn_attention")
def _(call: ExternCall, resources: Resources) -> Launch:
    library = resources.libraries.convolutions
    assert library is not None, "only then are there such calls"
    return prepared_attention(library, call.parameters[0], settings.deterministic)


# ------------------------------------------------------------------------------------------ Fourier transforms


@launched_by("fft_c2c", "fft_r2c", "fft_c2r")
def _(call: ExternCall, resources: Resources) -> Launch:
    assert resources.libraries.transforms is not None, "only then are there such calls"
    return transform_launch(call, resources.libraries.transforms, resources.launcher, resources.compile)
