"""Attention and its gradients by kernels of ours as launches: which there are some for, and what they are called with.

>>> from minitorch_compile.cuda_runtime.cudnn_attention import row_major
>>> rows = row_major((2, 8, 1024, 64))
>>> has_attention_kernel(Attention("bfloat16", rows, rows, rows, is_causal=True, scale=0.125))
True
>>> wide = row_major((2, 8, 1024, 72))
>>> has_attention_kernel(Attention("bfloat16", wide, wide, wide, is_causal=True, scale=0.125))
False
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from minitorch_compile.cuda_runtime.cudnn_attention import Attention
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.device_calls.attention_products import width_of
from minitorch_compile.inductor.device_calls.flash_attention import AttentionKernel
from minitorch_compile.inductor.device_calls.flash_attention_backward import GradientKernel
from minitorch_compile.inductor.device_calls.launcher import Kernel, Launch, Launcher, memory_dtype
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.product_launches import OnAlignedFactors
from minitorch_compile.inductor.device_calls.tensor_core_product import ELEMENTS
from minitorch_compile.inductor.ir.extern_call import ExternCall

Compile = Callable[..., Kernel]  # of a text, a name, the kinds of parameters, and a block's shape
CALL = "tensor_core_attention"
WARP = 32
DIMS = range(16, 129, 16)
# Of a tile, by the width of its lines: two of keys and two of values have room in shared memory.
KEYS = {16: 64, 32: 64, 64: 64, 128: 32}
# Of a tile that rows of queries, or of keys, are multiplied with for the gradients: more would not stay in registers.
SPANS = {False: {16: 64, 32: 64, 64: 64, 128: 32}, True: {16: 32, 32: 32, 64: 32, 128: 16}}
# The same where warpgroups multiply.
GROUPED_KEYS = {64: 64, 128: 128}
GROUPED_SPANS = {False: {64: 64, 128: 64}, True: {64: 64, 128: 32}}
SIMULATED_KEYS = 16
# What the kernel of queries' gradients, which comes first, is given, and that of keys' and values': before a mask, and
# behind it.
PASSED = {
    False: (("query", "grad", "key", "value", "out"), ("logs", "terms", "by_query")),
    True: (("key", "value", "query", "grad"), ("terms", "by_key", "by_value")),
}


def has_attention_kernel(attention: Attention) -> bool:
    """Whether the templates compute this: heads of one of the sizes that they unroll."""
    q, k, v = attention.query.sizes, attention.key.sizes, attention.value.sizes
    fits = attention.element in ELEMENTS and q[3] in DIMS and q[3] == k[3] == v[3]
    return fits and attention.scale > 0 and 0 not in (*q, *k)


def strides_of(attention: Attention) -> list[int]:
    """Of query, key and value, whose rows lie together; and all of a mask's."""
    layouts = attention.query, attention.key, attention.value
    return [step for layout in layouts for step in layout.strides[:3]] + list(
        attention.mask.strides if attention.mask else ()
    )


def attention_launch(call: ExternCall, launcher: Launcher, libraries: Libraries, compile: Compile) -> Launch:
    """A function of the addresses of query, key, value, of a mask if there is one, of result and logarithms, and of a
    stream; or of what `gradients_launch` says."""
    (attention,) = call.parameters
    if attention.backward:
        return gradients_launch(call, launcher, libraries, compile)
    q, k = attention.query, attention.key
    keys, is_grouped = tile_lines(launcher, q.sizes[3], KEYS, GROUPED_KEYS)
    shape = attention.element, launcher.threads // WARP, keys, attention.mask is not None, is_grouped
    kernel = AttentionKernel(q.sizes[3], *shape)
    batch, heads, rows, _ = q.sizes
    sizes = [batch, heads, heads // k.sizes[1], rows, k.sizes[2], int(attention.is_causal)]
    strides = strides_of(attention)
    blocks = batch * heads * -(-rows // kernel.rows)
    buffers = [*(view.buffer for view in call.inputs), *call.outputs]
    reaches = [(buffer.length, memory_dtype(buffer.dtype)) for buffer in buffers]
    compiled = compile(kernel.text, kernel.name, kernel.parameters, BlockShape(shared=kernel.shared))
    numbers = [*sizes, *strides, attention.scale * math.log2(math.e)]
    launch = compiled(max(1, min(blocks, launcher.most_blocks)), reaches, numbers)
    return OnAlignedFactors(launch, call.inputs, libraries, call.outputs[0])


def tile_lines(launcher: Launcher, dim: int, lines: Mapping[int, int], grouped: Mapping[int, int]) -> tuple[int, bool]:
    """The lines of a tile, and whether warpgroups multiply by it."""
    width = width_of(dim)
    if launcher.has_warpgroups and width in grouped:
        return grouped[width], True
    return lines[width] if launcher.threads > WARP else SIMULATED_KEYS, False


def gradients_launch(call: ExternCall, launcher: Launcher, libraries: Libraries, compile: Compile) -> Launch:
    """A function of the addresses of the result's gradient, query, key, value, result, logarithms, of a mask if there
    is one, of the three gradients, and of memory for two numbers for each query; and of a stream."""
    (attention,) = call.parameters
    q, k, is_masked = attention.query, attention.key, attention.mask is not None
    batch, heads, rows, dim = q.sizes
    strides = strides_of(attention)
    sizes = [batch, heads, k.sizes[1], rows, k.sizes[2], int(attention.is_causal), *strides]
    numbers = [*sizes, attention.scale * math.log2(math.e), attention.scale]
    masks = ("mask",) if is_masked else ()
    names = ("grad", "query", "key", "value", "out", "logs", *masks, "by_query", "by_key", "by_value", "terms")
    buffers = dict(zip(names, [*(view.buffer for view in call.inputs), *call.outputs], strict=True))
    launches = []
    for of_keys, (read, made) in PASSED.items():
        used = (*read, *masks, *made)
        span, is_grouped = tile_lines(launcher, dim, SPANS[of_keys], GROUPED_SPANS[of_keys])
        shape = attention.element, launcher.threads // WARP, span, of_keys, is_masked, is_grouped
        kernel = GradientKernel(dim, *shape)
        matrices, lines = (k.sizes[1], k.sizes[2]) if of_keys else (heads, rows)
        blocks = batch * matrices * -(-lines // kernel.rows)
        reaches = [(buffers[name].length, memory_dtype(buffers[name].dtype)) for name in used]
        compiled = compile(kernel.text, kernel.name, kernel.parameters, BlockShape(shared=kernel.shared))
        launches.append((compiled(max(1, min(blocks, launcher.most_blocks)), reaches, numbers), used))

    def launch(addresses: Sequence[int], stream: StreamHandle) -> None:
        known = dict(zip(names, addresses))
        for run, used in launches:
            run([known[name] for name in used], stream)

    return OnAlignedFactors(launch, call.inputs, libraries)
