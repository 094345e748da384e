"""Which ops autocast runs in low precision, which in float32, and which in the widest type of their arguments.

Each type of device has lists of its own. Those here are PyTorch's for the CPU, `autocast_cuda_lists.py` has a GPU's.
What is in none of them computes in the dtypes that it is given.

>>> rules = LISTS["cpu"].rules
>>> rules["mm"], rules["mse_loss"], rules["cat"], "softmax" in rules
('low', 'float32', 'widest', False)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LOW, FLOAT32, WIDEST, GIVEN, RESULT, REFUSED = "low", "float32", "widest", "as given", "low result", "refused"

# What says it of a call whose arguments decide: it gets the arguments of the op.
Chooser = Callable[..., str]


@dataclass
class Lists:
    """What is done about calls on one type of device: by the op's name, and where that isn't enough by arguments."""

    rules: Mapping[str, str]
    by_arguments: Mapping[str, Chooser] = field(default_factory=dict)

    def rule_for(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """What is done about a call of the op of this name; None for nothing."""
        if name in self.by_arguments:
            return self.by_arguments[name](*args, **kwargs)
        return self.rules.get(name)


LOW_PRECISION = """
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
    mm bmm addmm addbmm baddbmm matmul linear linalg_vecdot prelu scaled_dot_product_attention lstm
"""
IN_FLOAT32 = """
    avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d max_unpool1d max_unpool2d max_unpool3d
    fractional_max_pool2d fractional_max_pool3d
    binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss
    hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss
    nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss
    grid_sample polar prod quantile nanquantile stft cdist trace view_as_complex
    cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse geqrf qr svd triangular_solve
    linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky linalg_cholesky_ex linalg_svdvals linalg_eigvals
    linalg_eigvalsh linalg_inv linalg_inv_ex linalg_householder_product linalg_tensorinv linalg_tensorsolve linalg_qr
    linalg_svd linalg_eig linalg_eigh linalg_lstsq
    fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn
    fft_hfft fft_ihfft
"""
PROMOTED = "cat stack index_copy"
# Ops that PyTorch computes in one go, in the dtypes that they are given; here they are written in ops of the lists.
AS_GIVEN = "mv bilinear linalg_lu_solve"
# Ops whose last step is a product, so that the result is in low precision.
LOW_RESULT = "linalg_pinv"
OTHER_NAMES = {"concat": "cat", "concatenate": "cat", "__matmul__": "matmul"}


def rules_of(**names: str) -> dict[str, str]:
    """A table from the names of ops to the rule under which they are listed; other names of an op are in it, too."""
    rules = {name: RULES[rule] for rule, listed in names.items() for name in listed.split()}
    return rules | {name: rules[same] for name, same in OTHER_NAMES.items() if same in rules}


RULES = {"low": LOW, "float32": FLOAT32, "widest": WIDEST, "given": GIVEN, "low_result": RESULT, "refused": REFUSED}


def _of_padding(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> str:
    listed = mode == "replicate" or (mode == "reflect" and len(pad) < 6)
    return FLOAT32 if listed else GIVEN


LISTS: dict[str, Lists] = {
    "cpu": Lists(
        rules_of(low=LOW_PRECISION, float32=IN_FLOAT32, widest=PROMOTED, given=AS_GIVEN, low_result=LOW_RESULT),
        # Ops that PyTorch takes to one op of its lists or another, by their arguments.
        {
            "inner": lambda input, other: GIVEN if input.ndim == other.ndim == 1 else LOW,
            "local_response_norm": lambda input, *rest, **options: FLOAT32 if input.ndim > 3 else GIVEN,
            "max_pool3d": lambda *rest, return_indices=False, **options: GIVEN if return_indices else FLOAT32,
            "pad": _of_padding,
        },
    )
}
