"""What a graph passes to the kernels of attention: where its tensors lie, as numbers.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, whole
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> query, key, value = (whole(Buffer.contiguous(name, (1, 2, 100, 8), float32)) for name in "qkv")
>>> out, sums = Buffer.contiguous("out", (1, 2, 100, 8), float32), Buffer.contiguous("sums", (1, 2, 100, 2), float32)
>>> call = ExternCall("flash_attention", [query, key, value], [out, sums], (None, True, 0.5, 0.0, False))
>>> extent, multiplications, plan = arguments_of(call)
>>> extent, multiplications                     # two blocks of queries in each head; half of the scores, twice
(4, 160000)
>>> shape_of_call(call).rows, mask_dtype(call)
(64, 'float32')
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, matrix_layout
from minitorch_compile.kernel_library.attention_plan import (
    AttentionBackwardPlan,
    AttentionPlan,
    Matrices,
    Shape,
    Strides,
    parts_of_backward,
    parts_of_forward,
    shape_of,
    strides_of,
)

# The function that compiles each kernel; generated files import it by name.
KERNELS = {"flash_attention": "attention_kernel", "flash_attention_backward": "attention_backward_kernel"}
TENSORS = {"flash_attention": 3, "flash_attention_backward": 6}  # besides the mask, which is the last input


def _mask(call: ExternCall) -> StridedView | None:
    return call.inputs[-1] if len(call.inputs) > TENSORS[call.kernel] else None


def mask_dtype(call: ExternCall) -> str:
    """The element type behind the mask's pointer; without a mask, that pointer is never followed."""
    mask = _mask(call)
    return (call.inputs[0] if mask is None else mask).buffer.dtype.name


def with_mask(call: ExternCall, pointers: Sequence[str]) -> list[str]:
    """The texts for inputs and outputs, with one in the place of a mask that there isn't."""
    count = TENSORS[call.kernel]
    return [*pointers] if _mask(call) else [*pointers[:count], pointers[0], *pointers[count:]]


def shape_of_call(call: ExternCall) -> Shape:
    first = 0 if call.kernel == "flash_attention" else 1
    query, key, value = (view.sizes for view in call.inputs[first : first + 3])
    mask = _mask(call)
    how = [*call.parameters[-4:]] if call.kernel == "flash_attention" else [*call.parameters[-3:], False]
    return shape_of(query, key, value, None if mask is None else mask.buffer, how)


def workspace_bytes(call: ExternCall) -> int:
    """The scratch memory that a call needs, for one thread."""
    parts_of = parts_of_forward if call.kernel == "flash_attention" else parts_of_backward
    return parts_of(shape_of_call(call))[1] * call.outputs[0].dtype.itemsize


def matrices_of(view: StridedView) -> Matrices:
    layout = matrix_layout(view)
    assert layout is not None, "lowering makes matrices that BLAS can read"
    return Matrices(view.strides[0], view.strides[1], int(layout[0]), layout[1])


def broadcast_strides(view: StridedView | None) -> Strides:
    """The strides of a mask: 0 where one entry stands for all, and where there is no mask."""
    if view is None:
        return Strides()
    return strides_of([0 if size == 1 else stride for size, stride in zip(view.sizes, view.strides)])


def arguments_of(call: ExternCall) -> tuple[int, int, AttentionPlan | AttentionBackwardPlan]:
    """How far the kernel's range goes, how many multiplications its products take, and its plan."""
    shape, mask = shape_of_call(call), broadcast_strides(_mask(call))
    if call.kernel == "flash_attention":
        query, key, value = call.inputs[:3]
        plan = AttentionPlan(
            shape, strides_of(query.strides), matrices_of(key), matrices_of(value), mask,
            out=strides_of(call.outputs[0].strides), parts=parts_of_forward(shape)[0],
        )  # fmt: skip
        count = shape.batches * shape.heads * shape.query_blocks
        return count, shape.scores * (shape.width + shape.value_width), plan
    grad, query, key, value, out = call.inputs[:5]
    grad_query, grad_key, grad_value = (strides_of(buffer.strides) for buffer in call.outputs)
    backward_plan = AttentionBackwardPlan(
        shape, strides_of(query.strides), matrices_of(key), matrices_of(value), mask,
        grad=strides_of(grad.strides), out=strides_of(out.strides), grad_query=grad_query, grad_key=grad_key,
        grad_value=grad_value, parts=parts_of_backward(shape)[0],
    )  # fmt: skip
    products = shape.scores * (3 * shape.width + 2 * shape.value_width)
    return shape.batches * shape.groups, products, backward_plan
