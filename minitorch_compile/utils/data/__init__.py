"""Datasets, and running through them in batches.

>>> from minitorch_compile import tensor
>>> [batch for batch in DataLoader([1, 2, 3], batch_size=2)]
[tensor([1, 2]), tensor([3])]
"""

from minitorch_compile.utils.data.collate import default_collate, default_convert
from minitorch_compile.utils.data.dataloader import DataLoader
from minitorch_compile.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from minitorch_compile.utils.data.distributed import DistributedSampler
from minitorch_compile.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from minitorch_compile.utils.data.worker import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]
