"""The partitioners by name, for `config.partitioner` and `compile(options={"partitioner": ...})`.

    default       saves what the backward pass reads of the forward pass
    min_cut       saves the fewest bytes from which the rest can cheaply be made again; what `compile` uses
    min_traffic   saves what is in memory anyway, and of the rest the fewest bytes; what `compile` uses on a GPU

Another one is any function from a `JointGraph` to a `Partition`; `partition.cut` makes one of a choice of nodes.

>>> import minitorch_compile as torch
>>> from minitorch_compile.aot.partitioning.partition import Sides, cut
>>> def save_arguments_only(joint):
...     sides = Sides(joint)
...     return cut(joint, sides, sides.inputs)
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> f = torch.compile(lambda x: x.exp().sin().sum(), options={"partitioner": save_arguments_only})
>>> f(x).backward()
>>> x.grad
tensor([-2.4783,  3.3129])
>>> lookup_partitioner("mincut")
Traceback (most recent call last):
ValueError: partitioner: no partitioner named 'mincut'. Choose one of: default, min_cut, min_traffic; or pass ...
"""

from __future__ import annotations

from minitorch_compile import config
from minitorch_compile.aot.joint_graph import JointGraph
from minitorch_compile.aot.partitioning.in_memory import min_traffic_partition
from minitorch_compile.aot.partitioning.min_cut import min_cut_partition
from minitorch_compile.aot.partitioning.partition import Partition, PartitionFunction, default_partition

PARTITIONERS: dict[str, PartitionFunction] = {
    "default": default_partition,
    "min_cut": min_cut_partition,
    "min_traffic": min_traffic_partition,
}


def lookup_partitioner(choice: object) -> PartitionFunction:
    """The partitioner of that name; a function is its own. ValueError for an unknown name, TypeError otherwise."""
    if callable(choice):
        return choice
    if not isinstance(choice, str):
        raise TypeError(f"partitioner: expected a name or a function of a joint graph, got {type(choice).__name__}")
    if choice not in PARTITIONERS:
        raise ValueError(
            f"partitioner: no partitioner named {choice!r}. Choose one of: {', '.join(PARTITIONERS)}; or pass a"
            " function from a JointGraph to a Partition."
        )
    return PARTITIONERS[choice]


def chosen_partition(joint: JointGraph) -> Partition:
    """The partition by the partitioner in `config`. TypeError if a user's function returns something else."""
    partition = lookup_partitioner(config.partitioner)(joint)
    if not isinstance(partition, Partition):
        raise TypeError(
            f"partitioner: expected {config.partitioner!r} to return a Partition, as partition.cut makes it, but it"
            f" returned {type(partition).__name__}"
        )
    return partition
