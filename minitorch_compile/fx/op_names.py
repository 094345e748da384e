"""What PyTorch calls an op, and with which of its arguments it is written down.

PyTorch has three kinds of functions. Those of `torch` are built in, and a call is traced as it was written. So are
some of `torch.nn.functional`, whose home is `torch._C._nn`. The others of `torch.nn.functional` are written in Python;
a call of these is traced with some arguments by position and all others by name, defaults too.

>>> from minitorch_compile.nn import functional as F
>>> from minitorch_compile.tensor import ops
>>> qualified_op_name(ops.relu), qualified_op_name(F.relu), qualified_op_name(F.softplus)
('torch.relu', 'torch.nn.functional.relu', 'torch._C._nn.softplus')
>>> positional_arguments(F.dropout, ("x", 0.1), {})
(('x',), {'p': 0.1, 'training': True, 'inplace': False})
"""

from __future__ import annotations

from typing import Any


def _each(names: str, count: int) -> dict[str, int]:
    return dict.fromkeys(names.split(), count)


# Functions of torch.nn.functional that are built in.
BUILT_IN = frozenset((
    "avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "logsigmoid", "one_hot",
    "scaled_dot_product_attention", "softplus", "softshrink",
))  # fmt: skip
OTHER_NAMES = {"logsigmoid": "log_sigmoid"}  # in torch._C._nn
# Of those that are written in Python: how many arguments are traced by position.
BY_POSITION = {
    **_each("dropout alpha_dropout dropout1d dropout2d dropout3d feature_alpha_dropout relu glu hardtanh relu6", 1),
    **_each("elu selu celu leaky_relu rrelu tanhshrink softsign softmin softmax gumbel_softmax log_softmax", 1),
    **_each("hardsigmoid silu mish hardswish instance_norm interpolate normalize", 1),
    **_each("fractional_max_pool2d fractional_max_pool3d max_pool1d max_pool2d max_pool3d adaptive_max_pool1d", 2),
    **_each("adaptive_max_pool2d adaptive_max_pool3d adaptive_avg_pool2d adaptive_avg_pool3d embedding", 2),
    **_each("embedding_bag layer_norm rms_norm group_norm local_response_norm nll_loss poisson_nll_loss kl_div", 2),
    **_each("cross_entropy binary_cross_entropy binary_cross_entropy_with_logits smooth_l1_loss huber_loss", 2),
    **_each("l1_loss mse_loss hinge_embedding_loss multilabel_margin_loss soft_margin_loss", 2),
    **_each("multilabel_soft_margin_loss multi_margin_loss grid_sample affine_grid pad unfold", 2),
    **_each("max_unpool1d max_unpool2d max_unpool3d lp_pool1d lp_pool2d lp_pool3d threshold batch_norm fold", 3),
    **_each("gaussian_nll_loss margin_ranking_loss cosine_embedding_loss triplet_margin_loss", 3),
    "triplet_margin_with_distance_loss": 3,
    "ctc_loss": 4,
    "multi_head_attention_forward": 13,
}


def qualified_op_name(op: Any) -> str:
    """The dotted name under which a PyTorch program finds the op."""
    name = op.name.rpartition(".")[2]
    if not in_functional(op):
        return f"torch.{op.name.removeprefix('F.')}"
    return f"torch._C._nn.{OTHER_NAMES.get(name, name)}" if name in BUILT_IN else f"torch.nn.functional.{name}"


def in_functional(op: Any) -> bool:
    """Whether the op is at home in torch.nn.functional. Where one op is in both places, PyTorch may have two."""
    if "functional" not in op.namespaces:
        return False
    return "torch" not in op.namespaces or op.name.rpartition(".")[2] in BY_POSITION


def positional_arguments(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as PyTorch's tracer gets them."""
    count = BY_POSITION.get(op.name.rpartition(".")[2]) if in_functional(op) else None
    if count is None:
        return args, kwargs
    bound = op.__signature__.bind(*args, **kwargs)
    bound.apply_defaults()
    values = list(bound.arguments.items())
    return tuple(value for _, value in values[:count]), dict(values[count:])
