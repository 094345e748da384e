"""Where a call on a GPU differs from PyTorch's on the same one, and why that is as it should be.

>>> explanation("torch.histc(i(4))", "", "RuntimeError: HalfTensor is not supported, here a result")
"PyTorch's CUDA has no such kernel"
"""

from __future__ import annotations

import re

from benchmarks.explained import reason_for

# A pattern for the call and its variation (such as "transposed float16 with gradients"), one for the difference, the
# reason.
EXPLAINED: list[tuple[str, str, str]] = [
    (
        "logsigmoid|fft|linalg|svd|ormqr|scaled_dot_product_attention|multi_head_attention",
        "^strides",
        "the layout is that of PyTorch's CPU kernel, which its CUDA kernel or library doesn't share",
    ),
    (r"(scatter_?|put_?|index_copy_?)\(", "^values", "indices occur twice, and which of the values stays is not said"),
    (
        "",
        "not implemented for|not supported on CUDA|is not currently supported|Could not run",
        "PyTorch's CUDA has no such kernel",
    ),
    ("", "derivative for .* is not implemented", "this PyTorch has no derivative of it"),
    ("", "view size is not compatible", "a copy is made where PyTorch's implementation can't"),
    ("softsign|abs", "here NotImplementedError: abs", "PyTorch's CUDA has abs of bools, its CPU, as here, has not"),
    (
        r"embedding\(.*max_norm",
        "^values",
        "PyTorch's CUDA kernel reads a row as if it lay together: its CPU's values are ours",
    ),
    ("polygamma", "^values", "PyTorch's CUDA kernel sums a series to 1e-9 of float64"),
    (
        "rnn|lstm|gru",
        "cudnn RNN backward can only be called in training mode",
        "no mode is in the way of a gradient here",
    ),
    ("linalg", "^_LinAlgError.*here LinAlgError", "each package has its own LinAlgError, a RuntimeError"),
    (
        "rrelu|logcumsumexp",
        "here NotImplementedError",
        "of integers without an element: there is nothing to compute",
    ),
    ("ldexp", "^strides", "PyTorch's powers of two lie in an order that depends on the dtype, ours in one"),
    ("histc", "here NotImplementedError", "PyTorch's CUDA counts integers, its CPU, as here, doesn't"),
    ("histc", "HalfTensor is not supported", "PyTorch's CUDA has no such kernel"),
    ("hardswish|hardsigmoid", "^values|^gradient", "PyTorch multiplies by a sixth of float32, also in float64: 3e-8"),
    (
        "",
        "not support.* complex|for complex|In-place abs",
        "PyTorch refuses complex numbers, which are computed here",
    ),
    ("", "automatic differentiation for outputs with complex", "PyTorch has no derivative of it for complex numbers"),
    ("logcumsumexp.* complex", "here NotImplementedError", "no running sum of exponentials of complex numbers here"),
    (
        "bincount.* complex",
        "here (TypeError|RuntimeError)",
        "complex weights are refused here; PyTorch drops a part",
    ),
    ("cumprod.*dtype", "^gradient", "PyTorch's formula multiplies the numbers as they were before they got the dtype"),
    ("matrix_exp", "Low precision", "floats of two bytes are refused here, with advice: the algorithm is LAPACK's"),
    ("(digamma|polygamma).* float64", "^gradient", "PyTorch sums a series to 1e-9 of float64"),
    ("nll_loss", "^IndexError: Target", "an index that would end PyTorch's CUDA process: the error is its CPU's"),
    (
        r"fft\..* float16",
        "here RuntimeError.*Unsupported dtype",
        "PyTorch's CUDA transforms halves, its CPU, as here, not",
    ),
    ("nansum.* complex", "Unknown Complex ScalarType", "PyTorch has no complex dtype for integers"),
    (
        "batch_norm.* float64",
        "here RuntimeError.*mixed dtype",
        "PyTorch's CUDA mixes dtypes, its CPU, as here, doesn't",
    ),
    ("median.* bool", "here NotImplementedError", "PyTorch's CUDA finds it of bools, its CPU, as here, doesn't"),
    ("grid_sample.* b?float16", "^gradient", "a sum whose parts are rounded to two bytes at other steps"),
    ("sinc.* b?float16", "^gradient", "two numbers that nearly cancel, each rounded to two bytes"),
    (
        "(group_norm|scaled_dot_product_attention|rnn|gru|lstm).* b?float16",
        "^gradient|^values",
        "what nearly cancels, or saturates, is rounded to two bytes at other steps",
    ),
    (
        r"special\(.* complex",
        "^values",
        "infinite complex numbers: which part is NaN, and which limit is meant, is not said",
    ),
    (r"\.to\(.cpu., .*True", "^values", "the call doesn't wait for its copy, and the sheet doesn't either"),
    ("_copy", "does not support automatic differentiation", "PyTorch has no derivative under this name"),
    ("sort|topk|median|mode", "^values", "which of equal elements comes first (0.0 and -0.0 are equal) is not said"),
]


def explanation(call: str, variation: str, difference: str) -> str | None:
    """The reason; None if nobody has said one."""
    for of_call, of_difference, reason in EXPLAINED:
        if re.search(of_call, f"{call} {variation}") and re.search(of_difference, difference):
            return reason
    return reason_for(call, variation, difference)
