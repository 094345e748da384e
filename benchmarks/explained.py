"""Where this package differs from PyTorch on purpose, or because PyTorch itself is not consistent, and why.

A row: a pattern for the call, a pattern for the variation, a pattern for the difference, the reason.
"""

from __future__ import annotations

import re

EXPLAINED: list[tuple[str, str, str, str]] = [
    (r"(select|slice|diagonal|as_strided)_scatter", "every second", "strides", "PyTorch copies the gaps, too"),
    ("as_strided_scatter", "gradients", "gradient 0", "PyTorch's is that of another window"),
    ("vander", "gradients", "here a result", "PyTorch overwrites what its own backward pass needs"),
    (r"kron|take_along_dim", "", "view size is not compatible", "a copy is made where PyTorch's implementation can't"),
    (r"scatter\(|index_reduce|addmm_|baddbmm_", "", "here a result", "PyTorch has not implemented this combination"),
    (r"_\(", "expanded", "more than one element", "what is written into repeated elements depends on the order"),
    ("complex", "float16", "torch.float16", "there is no complex32 here: NumPy has none"),
    ("polar", "gradients", "gradient 0", "for a negative abs PyTorch turns its gradient round; ours is the slope"),
    ("ihfft[2n]", "", "strides", "PyTorch transforms the dimensions one by one; the layout is that of its last step"),
    (r"lstsq", "", "strides", "PyTorch returns a window of LAPACK's work array"),
    (r"_loss|entropy", "gradients", "not differentiable with respect to", "weights of losses get gradients here"),
    (r"multi_head_attention", "gradients", "gradient", "sums of large numbers that nearly cancel: the same in float64"),
    (r"group_norm\(f\(2, 6\), 6\)", "gradients", "gradient 0", "groups of one number: 0 up to rounding in both"),
    (r"embedding_bag.*include_last_offset", "", "values", "PyTorch's mean also counts entries that are in no bag"),
    ("native_channel_shuffle", "gradients", "here a result", "PyTorch has no derivative under this name"),
    (
        r"//|floor_divide|heaviside| % ",
        "gradients",
        "derivative for",
        "PyTorch raises when going back; here no gradient is asked",
    ),
    (
        r"unique|bincount|histogram",
        "gradients",
        "here a result",
        "PyTorch raises when going back; here no gradient is asked",
    ),
    (
        r"dtype=torch.int64",
        "gradients",
        "Autograd not support",
        "PyTorch lets integers require grad on the way; here nothing does",
    ),
    (
        r"special\.|histogram",
        "float16",
        "not implemented for 'Half'",
        "computed in single precision here, as PyTorch's others are",
    ),
    (r"histc", "float16", "values", "PyTorch finds the bins in half precision"),
    (
        r"(var|std)\(.*, \(\)",
        "gradients",
        "gradient 0",
        "PyTorch's formula takes () for no dimensions, its result for all",
    ),
    (
        r"median|kthvalue",
        "expanded",
        "values",
        "PyTorch reads outside of a repeated row (the indices of equals, or garbage)",
    ),
    (r"sort\(|kthvalue", "every second|transposed", "strides", "strides of dimensions of size 1, which lead nowhere"),
    (r"gelu\(special", "", "values", "PyTorch's vectorised gelu is NaN at infinity, its other one isn't"),
    (
        r"topk|kthvalue",
        "",
        "values",
        "among equal elements PyTorch's choice follows its partial sort; ours is the first",
    ),
    (
        r"embedding.*max_norm",
        "expanded",
        "single memory location",
        "renorming rows that share memory has no one result",
    ),
    (r"unique\(0\)", "", "must be bool", "a number counts as a bool for `sorted`"),
    (
        r"linalg|matrix_power",
        "",
        "_LinAlgError, here LinAlgError",
        "each package has its own LinAlgError, a RuntimeError",
    ),
]


def reason_for(call: str, variation: str, difference: str) -> str | None:
    """Why this difference is as it should be; None if nobody has said so."""
    for of_call, of_variation, of_difference, reason in EXPLAINED:
        if re.search(of_call, call) and re.search(of_variation, variation) and re.search(of_difference, difference):
            return reason
    return None
