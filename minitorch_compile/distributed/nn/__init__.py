"""Collectives as a part of what a model computes: they give new tensors, with gradients.

>>> from minitorch_compile import distributed, ones
>>> distributed.init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=1)
>>> all_gather(ones(2))
(tensor([1., 1.]),)
>>> distributed.destroy_process_group()
"""

from minitorch_compile.distributed.nn.functional import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
)

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]
