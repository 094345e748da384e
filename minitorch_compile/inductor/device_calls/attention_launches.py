"""Attention by a kernel of ours as a launch: which there is one for, and what it is called with.

>>> from minitorch_compile.cuda_runtime.cudnn_attention import row_major
>>> rows = row_major((2, 8, 1024, 64))
>>> has_attention_kernel(Attention("bfloat16", rows, rows, rows, is_causal=True, scale=0.125))
True
>>> wide = row_major((2, 8, 1024, 80))
>>> has_attention_kernel(Attention("bfloat16", wide, wide, wide, is_causal=True, scale=0.125))
False
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from minitorch_compile.cuda_runtime.cudnn_attention import Attention
from minitorch_compile.inductor.device_calls.flash_attention import AttentionKernel
from minitorch_compile.inductor.device_calls.launcher import Kernel, Launch, Launcher, memory_dtype
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.product_launches import OnAlignedFactors
from minitorch_compile.inductor.device_calls.tensor_core_product import ELEMENTS
from minitorch_compile.inductor.ir.extern_call import ExternCall

Compile = Callable[[str, str, Sequence[str]], Kernel]
CALL = "tensor_core_attention"
DIMS = (16, 32, 64, 128)
KEYS = {16: 64, 32: 64, 64: 64, 128: 32}  # of a tile: two of keys and two of values have room in shared memory
SIMULATED_KEYS = 16


def has_attention_kernel(attention: Attention) -> bool:
    """Whether the template computes this: forward, and heads of one of the sizes it unrolls."""
    q, k, v = attention.query.sizes, attention.key.sizes, attention.value.sizes
    fits = attention.element in ELEMENTS and q[3] in DIMS and q[3] == k[3] == v[3]
    return fits and not attention.backward and attention.scale > 0 and 0 not in (*q, *k)


def attention_launch(call: ExternCall, launcher: Launcher, libraries: Libraries, compile: Compile) -> Launch:
    """A function of the addresses of query, key, value, result and logarithms, and of a stream."""
    (attention,) = call.parameters
    q, k, v = attention.query, attention.key, attention.value
    warps = launcher.threads // 32
    keys = KEYS[q.sizes[3]] if warps > 1 else SIMULATED_KEYS
    kernel = AttentionKernel(q.sizes[3], attention.element, warps, keys)
    batch, heads, rows, _ = q.sizes
    sizes = [batch, heads, heads // k.sizes[1], rows, k.sizes[2], int(attention.is_causal)]
    strides = [step for layout in (q, k, v) for step in layout.strides[:3]]
    blocks = batch * heads * -(-rows // kernel.rows)
    buffers = [*(view.buffer for view in call.inputs), *call.outputs]
    reaches = [(buffer.length, memory_dtype(buffer.dtype)) for buffer in buffers]
    compiled = compile(kernel.text, kernel.name, kernel.parameters)
    numbers = [*sizes, *strides, attention.scale * math.log2(math.e)]
    launch = compiled(max(1, min(blocks, launcher.most_blocks)), reaches, numbers)
    return OnAlignedFactors(launch, call.inputs, libraries, call.outputs[0])
