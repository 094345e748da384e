"""torch.distributed.checkpoint: a file for each process. One process has torch.save and torch.load.

>>> load({}, checkpoint_id="folder")
Traceback (most recent call last):
NotImplementedError: distributed.checkpoint.load: processes can't work together here; with one, leave it out, ...
"""

from enum import Enum
from typing import Any, NoReturn

from minitorch_compile.distributed.across_processes import refuse


class SerializationFormat(Enum):
    """What a file of a checkpoint is."""

    TORCH_SAVE = "torch_save"
    SAFETENSORS = "safetensors"


class DefaultLoadPlanner:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(
        self, flatten_state_dict: Any = True, flatten_sharded_tensors: Any = True, allow_partial_load: Any = False
    ) -> None:
        refuse("DefaultLoadPlanner")


class DefaultSavePlanner:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(
        self,
        flatten_state_dict: Any = True,
        flatten_sharded_tensors: Any = True,
        dedup_replicated_tensors: Any = None,
        dedup_save_to_lowest_rank: Any = False,
        enable_plan_caching: Any = False,
    ) -> None:
        refuse("DefaultSavePlanner")


class FileSystemReader:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self, path: Any, _extension_registry: Any = None) -> None:
        refuse("FileSystemReader")


class FileSystemWriter:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(
        self,
        path: Any,
        single_file_per_rank: Any = True,
        sync_files: Any = True,
        thread_count: Any = 1,
        per_thread_copy_ahead: Any = 10000000,
        cache_staged_state_dict: Any = False,
        overwrite: Any = True,
        _extensions: Any = None,
        serialization_format: Any = SerializationFormat.TORCH_SAVE,
    ) -> None:
        refuse("FileSystemWriter")


class HuggingFaceStorageReader:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self, path: Any, thread_count: Any = 1) -> None:
        refuse("HuggingFaceStorageReader")


class HuggingFaceStorageWriter:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(
        self,
        path: Any,
        fqn_to_index_mapping: Any = None,
        thread_count: Any = 1,
        save_distributed: Any = False,
        enable_consolidation: Any = False,
        thread_count_consolidation: Any = 1,
    ) -> None:
        refuse("HuggingFaceStorageWriter")


def load(
    state_dict: Any,
    *,
    checkpoint_id: Any = None,
    storage_reader: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: Any = False,
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("distributed.checkpoint.load")


def load_state_dict(
    state_dict: Any,
    storage_reader: Any,
    process_group: Any = None,
    coordinator_rank: Any = 0,
    no_dist: Any = False,
    planner: Any = None,
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("distributed.checkpoint.load_state_dict")


def save(
    state_dict: Any,
    *,
    checkpoint_id: Any = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: Any = False,
    use_collectives: Any = True,
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("distributed.checkpoint.save")


def save_state_dict(
    state_dict: Any,
    storage_writer: Any,
    process_group: Any = None,
    coordinator_rank: Any = 0,
    no_dist: Any = False,
    planner: Any = None,
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("distributed.checkpoint.save_state_dict")
