"""Which parts of a module FullyShardedDataParallel would hold on their own.

>>> ModuleWrapPolicy([int])
Traceback (most recent call last):
NotImplementedError: ModuleWrapPolicy: processes can't work together here; with one, leave it out, ...
"""

from minitorch_compile.distributed.across_processes import refused_class, refused_function

CustomPolicy = refused_class("CustomPolicy")
ModuleWrapPolicy = refused_class("ModuleWrapPolicy")
always_wrap_policy = refused_function("always_wrap_policy")
enable_wrap = refused_function("enable_wrap")
lambda_auto_wrap_policy = refused_function("lambda_auto_wrap_policy")
size_based_auto_wrap_policy = refused_function("size_based_auto_wrap_policy")
transformer_auto_wrap_policy = refused_function("transformer_auto_wrap_policy")
wrap = refused_function("wrap")
