"""PyTorch's lists for tensors on a GPU, which are longer than the CPU's: exp, norms and sums run in float32 there.

>>> rules = LISTS["cuda"].rules
>>> rules["mm"], rules["exp"], rules["dot"], "relu" in rules
('low', 'float32', 'widest', False)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.amp.autocast_lists import FLOAT32, GIVEN, LISTS, Chooser, Lists, rules_of

LOW_PRECISION = """
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
    addbmm addmm addmv addr baddbmm bmm chain_matmul einsum linalg_multi_dot linalg_vecdot linear matmul mm mv
    prelu scaled_dot_product_attention
    lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
"""
IN_FLOAT32 = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p pow square reciprocal rsqrt sinh softplus tan
    layer_norm native_layer_norm group_norm rms_norm frobenius_norm nuclear_norm cosine_similarity
    cdist dist pdist renorm logsumexp
    binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy hinge_embedding_loss huber_loss kl_div l1_loss
    margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss
    soft_margin_loss triplet_margin_loss
"""
PROMOTED = "addcdiv addcmul atan2 bilinear cat cross dot grid_sample index_put scatter_add stack tensordot vdot inner"
# Ops that PyTorch computes in one go, in the dtypes that they are given; here they are written in ops of the lists.
AS_GIVEN = "affine_grid embedding_bag ldexp linalg_lu_solve lu_solve mish nanmean nansum ormqr trace vander"
# A sigmoid before it would have been rounded: PyTorch wants the two in one.
REFUSED = "binary_cross_entropy"
# In float32, unless the caller says by `dtype=` what to compute in.
UNLESS_DTYPE = "cumprod cumsum linalg_matrix_norm linalg_vector_norm log_softmax norm prod softmax sum"


def _unless_dtype(*args: Any, dtype: Any = None, **kwargs: Any) -> str:
    return FLOAT32 if dtype is None else GIVEN


def _of_interpolation(*args: Any, mode: str = "nearest", **kwargs: Any) -> str:
    """Averages over areas are a pooling, which isn't listed."""
    return GIVEN if "area" in (mode, *args[3:4]) else FLOAT32


BY_ARGUMENTS: dict[str, Chooser] = {
    **dict.fromkeys(UNLESS_DTYPE.split(), _unless_dtype),
    "interpolate": _of_interpolation,
}

LISTS["cuda"] = Lists(
    rules_of(low=LOW_PRECISION, float32=IN_FLOAT32, widest=PROMOTED, given=AS_GIVEN, refused=REFUSED),
    BY_ARGUMENTS,
)
