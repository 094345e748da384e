"""The ops of torchvision's compiled library, which detection models call: regions of images, and which boxes to keep.

torchvision itself says what their fakes and gradients are, once `torch.ops.load_library` has defined them.

>>> from minitorch_compile import ops, tensor
>>> define()
>>> boxes = tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
>>> ops.torchvision.nms(boxes, tensor([0.5, 0.9, 0.1]), 0.5)         # the first is nearly the second
tensor([1, 2])
"""

from collections.abc import Callable
from typing import Any

from minitorch_compile.interop.torchvision_ops import deformed_convolution, kept_boxes, regions
from minitorch_compile.library import Library
from minitorch_compile.library.namespaces import registry

BOXES = "Tensor dets, Tensor scores, float iou_threshold"
REGION = "Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
IMAGE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
CONVOLUTION = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w,"
    " SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups,"
    " bool use_mask"
)
POOLED = REGION.replace("Tensor rois", "Tensor rois, Tensor {}")

OPS: dict[str, Callable[..., Any]] = {
    f"nms({BOXES}) -> Tensor": kept_boxes.nms,
    f"roi_align(Tensor input, {REGION}, int sampling_ratio, bool aligned) -> Tensor": regions.roi_align,
    f"_roi_align_backward(Tensor grad, {REGION}, {IMAGE}, int sampling_ratio, bool aligned) -> Tensor": (
        regions.roi_align_backward
    ),
    f"roi_pool(Tensor input, {REGION}) -> (Tensor, Tensor)": regions.roi_pool,
    f"_roi_pool_backward(Tensor grad, {POOLED.format('argmax')}, {IMAGE}) -> Tensor": regions.roi_pool_backward,
    f"ps_roi_align(Tensor input, {REGION}, int sampling_ratio) -> (Tensor, Tensor)": regions.ps_roi_align,
    f"_ps_roi_align_backward(Tensor grad, {POOLED.format('channel_mapping')}, int sampling_ratio, {IMAGE}) -> Tensor": (
        regions.ps_roi_align_backward
    ),
    f"ps_roi_pool(Tensor input, {REGION}) -> (Tensor, Tensor)": regions.ps_roi_pool,
    f"_ps_roi_pool_backward(Tensor grad, {POOLED.format('channel_mapping')}, {IMAGE}) -> Tensor": (
        regions.ps_roi_pool_backward
    ),
    f"deform_conv2d({CONVOLUTION}) -> Tensor": deformed_convolution.deform_conv2d,
    f"_deform_conv2d_backward(Tensor grad, {CONVOLUTION}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)": (
        deformed_convolution.deform_conv2d_backward
    ),
    "_cuda_version() -> int": lambda: -1,
}
# On quantised tensors, which there are none of: they have names, and say that nothing computes them.
WITHOUT_A_KERNEL = (
    f"qnms({BOXES}) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale,"
    " int rois_zero_point, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio,"
    " bool aligned) -> Tensor",
)


def define() -> None:
    """Defines them, if that was not done."""
    if "torchvision::nms" in registry:
        return
    library = Library("torchvision", "DEF")
    for schema, kernel in OPS.items():
        library.impl(library.define(schema), kernel, "CPU")
    for schema in WITHOUT_A_KERNEL:
        library.define(schema)
