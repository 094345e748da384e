"""DistributedSampler: the part of a dataset that one of several processes trains on.

>>> [list(DistributedSampler(range(5), num_replicas=2, rank=rank, shuffle=False)) for rank in (0, 1)]
[[0, 2, 4], [1, 3, 0]]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

from minitorch_compile.distributed import get_rank, get_world_size
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.random.generator import Generator
from minitorch_compile.utils.data.sampler import Sampler


class DistributedSampler(Sampler[int]):
    """Every num_replicas-th index, from `rank` on; all processes get equally many.

    For that the first indices are repeated, or, with `drop_last`, the last left out. Call `set_epoch` before an epoch,
    in all processes alike, for another order. Without num_replicas and rank it asks torch.distributed.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = ops.randperm(count, generator=generator).tolist()
        else:
            indices = list(range(count))
        repeated = indices * math.ceil(self.total_size / max(count, 1))
        return iter(repeated[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another epoch, another order."""
        self.epoch = epoch
