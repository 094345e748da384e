"""torch.library: operations that a program defines, which compilers, autograd and vmap treat like their own.

>>> from minitorch_compile.tensor import Tensor, ones
>>> @custom_op("docs::twice", mutates_args=())
... def twice(x: Tensor) -> Tensor:
...     return x * 2
>>> twice(ones(2))
tensor([2., 2.])
"""

from minitorch_compile.library.custom_op import CustomOpDef
from minitorch_compile.library.dynamic_sizes import get_ctx
from minitorch_compile.library.fragment import (
    Library,
    Tag,
    custom_op,
    define,
    impl,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_vmap,
)
from minitorch_compile.library.opcheck import OpCheckError, opcheck
from minitorch_compile.library.schema import infer_schema

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "Tag",
    "custom_op",
    "define",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]
