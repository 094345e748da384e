"""torch.utils.dlpack: memory shared with other libraries.

>>> from minitorch_compile import ones
>>> from_dlpack(to_dlpack(ones(2)))
tensor([1., 1.])
"""

from enum import IntEnum

from minitorch_compile.tensor.tensor_class.exchange import from_dlpack, to_dlpack


class DLDeviceType(IntEnum):
    """Where memory lies, by the numbers that DLPack gives."""

    kDLCPU, kDLCUDA, kDLCUDAHost = 1, 2, 3
    kDLOpenCL, kDLVulkan, kDLMetal, kDLVPI, kDLROCM, kDLROCMHost, kDLExtDev = 4, 7, 8, 9, 10, 11, 12
    kDLCUDAManaged, kDLOneAPI, kDLWebGPU, kDLHexagon, kDLMAIA = 13, 14, 15, 16, 17


__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
