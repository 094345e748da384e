"""`torch._functorch.partitioners`: how the joint graph of forward and backward is cut in two.

>>> from minitorch_compile._functorch.aot_autograd import aot_function
>>> from minitorch_compile._functorch.compilers import nop
>>> from minitorch_compile.tensor import ones
>>> aot_function(lambda x: x.sin() * 2, nop, partition_fn=min_cut_rematerialization_partition)(ones(1))
tensor([1.6829])

They are values for `partition_fn`: what they are called with there is the compiler's joint graph.
"""

from minitorch_compile.aot.partitioning.min_cut import min_cut_partition as min_cut_rematerialization_partition
from minitorch_compile.aot.partitioning.partition import default_partition

__all__ = ["default_partition", "min_cut_rematerialization_partition"]
