"""Composite ops that are one operation in PyTorch, and the name of the node that it leaves behind.

Who prints a loss, or follows `loss.grad_fn.next_functions`, finds the graph that PyTorch's page shows: one node for
`F.mse_loss`, not those of a difference, a product and a mean. A name may depend on the arguments.

>>> from minitorch_compile import nn, ones
>>> loss = nn.functional.mse_loss(ones(2, requires_grad=True) * 2, ones(2))
>>> loss, loss.grad_fn.next_functions[0][0].name()
(tensor(1., grad_fn=<MseLossBackward0>), 'MulBackward0')

Source: PyTorch's derivatives.yaml.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Name = str | Callable[..., str]


def _by_dim(whole: str, along: str) -> Callable[..., str]:
    """The overload without `dim` has one name, the one with it another."""
    return lambda input, dim=None, *others, **named: whole if dim is None else along


def _for_images(one: str, two: str) -> Callable[..., str]:
    """Classes of images are a function of their own."""
    return lambda input, *others, **named: two if len(input.sizes) > 2 else one


def _product(input: Any, other: Any, **named: Any) -> str:
    """matmul is the function that its arguments' dimensions call for."""
    return {(1, 1): "DotBackward0", (2, 1): "MvBackward0"}.get((len(input.sizes), len(other.sizes)), "")


def _resized(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", *others: Any, **named: Any
) -> str:
    words = {"nearest": "Nearest", "nearest-exact": "NearestExact", "linear": "Linear", "bilinear": "Bilinear"}
    words |= {"bicubic": "Bicubic", "trilinear": "Trilinear"}
    return f"Upsample{words[mode]}{len(input.sizes) - 2}DBackward0" if mode in words else ""


def _sampled(input: Any, *others: Any, **named: Any) -> str:
    return f"GridSampler{len(input.sizes) - 2}DBackward0"


def _split(tensor: Any, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None) -> str:
    """A list of sizes is another op's, which has left its node."""
    wanted = split_size if split_size_or_sections is None else split_size_or_sections
    return "" if isinstance(wanted, (list, tuple)) else "SplitBackward0"


LOSSES: dict[str, Name] = {
    "F.mse_loss": "MseLossBackward0",
    "F.smooth_l1_loss": "SmoothL1LossBackward0",
    "F.huber_loss": "HuberLossBackward0",
    "F.nll_loss": _for_images("NllLossBackward0", "NllLoss2DBackward0"),
    "F.binary_cross_entropy": "BinaryCrossEntropyBackward0",
    "F.binary_cross_entropy_with_logits": "BinaryCrossEntropyWithLogitsBackward0",
    "F.soft_margin_loss": "SoftMarginLossBackward0",
    "F.multi_margin_loss": "MultiMarginLossBackward0",
    "F.multilabel_margin_loss": "MultilabelMarginLossBackward0",
}

LAYERS: dict[str, Name] = {
    "F.mish": "MishBackward0",
    "F.softshrink": "SoftshrinkBackward0",
    "hardshrink": "HardshrinkBackward0",
    "F.threshold": "ThresholdBackward0",
    "F.glu": "GluBackward0",
    "F.celu": "CeluBackward0",
    "prelu": "PreluKernelBackward0",
    "F.dropout": "MulBackward0",
    "F.group_norm": "NativeGroupNormBackward0",
    "adaptive_max_pool2d": "AdaptiveMaxPool2DBackward0",
    "F.embedding_bag": "EmbeddingBagBackward0",
    "F.interpolate": _resized,
    "F.grid_sample": _sampled,
    "F.affine_grid": "AffineGridGeneratorBackward0",
    "pixel_shuffle": "PixelShuffleBackward0",
    "pixel_unshuffle": "PixelUnshuffleBackward0",
    "scaled_dot_product_attention": "ScaledDotProductFlashAttentionForCpuBackward0",
}

REDUCTIONS: dict[str, Name] = {
    "std": "StdBackward0",
    "var": "VarBackward0",
    "std_mean": "StdMeanBackward0",
    "var_mean": "VarMeanBackward0",
    "max": _by_dim("MaxBackward1", "MaxBackward0"),
    "min": _by_dim("MinBackward1", "MinBackward0"),
    "median": _by_dim("MedianBackward0", "MedianBackward1"),
    "nanmedian": _by_dim("NanmedianBackward0", "NanmedianBackward1"),
    "aminmax": "AminmaxBackward0",
    "nansum": "NansumBackward0",
    "logsumexp": "LogsumexpBackward0",
    "dist": "DistBackward0",
    "trace": "TraceBackward0",
    "sort": "SortBackward0",
    "topk": "TopkBackward0",
    "kthvalue": "KthvalueBackward0",
    "mode": "ModeBackward0",
    "cummax": "CummaxBackward0",
    "cummin": "CumminBackward0",
}

PRODUCTS: dict[str, Name] = {
    "matmul": _product,
    "dot": "DotBackward0",
    "mv": "MvBackward0",
    "addmv": "AddmvBackward0",
    "addr": "AddrBackward0",
    "baddbmm": "BaddbmmBackward0",
    "addbmm": "AddbmmBackward0",
    "cdist": "CdistBackward0",
    "linalg_cross": "LinalgCrossBackward0",
}

ELEMENTS: dict[str, Name] = {
    "stack": "StackBackward0",
    "repeat": "RepeatBackward0",
    "roll": "RollBackward0",
    "rot90": "Rot90Backward0",
    "block_diag": "BlockDiagBackward0",
    "masked_fill": "MaskedFillBackward0",
    "masked_select": "MaskedSelectBackward0",
    "index_select": "IndexSelectBackward0",
    "index_add": "IndexAddBackward0",
    "index_copy": "IndexCopyBackward0",
    "index_fill": "IndexFillBackward0",
    "take": "TakeBackward0",
    "put": "PutBackward0",
    "clamp_min": "ClampMinBackward0",
    "clamp_max": "ClampMaxBackward0",
    "frac": "FracBackward0",
    "nan_to_num": "NanToNumBackward0",
    "sinc": "SincBackward0",
    "renorm": "RenormBackward0",
}

PARTS: dict[str, Name] = {  # what goes back through these is in autograd/parts_node.py
    "split": _split,
    "split_with_sizes": "SplitWithSizesBackward0",
    "unbind": "UnbindBackward0",
}

NODE_NAMES: dict[str, Name] = {**PARTS, **LOSSES, **LAYERS, **REDUCTIONS, **PRODUCTS, **ELEMENTS}
