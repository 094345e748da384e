"""The group of processes: this one.

>>> from minitorch_compile import distributed
>>> distributed.init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=1)
>>> half = new_group([0])
>>> half.size(), get_backend(half), group.WORLD is None
(1, 'gloo', False)
>>> destroy_process_group()
>>> get_rank()
Traceback (most recent call last):
ValueError: Default process group has not been initialized, please make sure to call init_process_group.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlparse

default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of a library that processes speak through. ValueError if it is no text.

    >>> Backend("GLOO") == Backend.GLOO
    True
    """

    default_device_backend_map = {"cpu": "gloo"}  # which library is used for a kind of device
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"

    def __new__(cls, name: str) -> Backend:
        """Its name in small letters."""
        if not isinstance(name, str):
            raise ValueError(f"Backend: name must be a string, got {name!r}")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """Processes that work together: this one."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def rank(self) -> int:
        """Which one this is."""
        return 0

    def size(self) -> int:
        """How many there are."""
        return 1

    def name(self) -> str:
        """The library they speak through."""
        return self._backend

    def __repr__(self) -> str:
        return f"<ProcessGroup of one process, backend {self._backend!r}>"


class GroupMember:
    """`GroupMember.WORLD` and `group.WORLD` are all processes, or None before init_process_group."""

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER = -100  # what new_group gives processes outside the new group


group = GroupMember


def is_available() -> bool:
    """Whether programs that are written for several processes can run: as the only one."""
    return True


def is_initialized() -> bool:
    """Whether init_process_group was called."""
    return group.WORLD is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: Any = None,
) -> None:
    """Makes the group of all processes, which is this one.

    rank and world_size come from the arguments, from `init_method` (`tcp://...?rank=0&world_size=1`), or from the
    environment, where torchrun puts them. NotImplementedError for more than one process; RuntimeError for a backend
    that is not there; ValueError if it isn't known how many processes there are, or at the second call.
    """
    if group.WORLD is not None:
        raise ValueError("trying to initialize the default process group twice!")
    name = Backend(backend or Backend.GLOO)
    rank, size = _place(init_method, rank, world_size, store)
    if size != 1:
        raise NotImplementedError(
            f"init_process_group: world_size is {size}, but processes can't work together here; run one, with"
            " WORLD_SIZE=1 and RANK=0 (torchrun --nproc-per-node=1), on a larger batch"
        )
    if rank != 0:
        raise ValueError(f"init_process_group: rank must be below world_size, which is 1, got {rank}")
    if not is_backend_available(name):
        raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in: use backend='gloo'")
    group.WORLD = ProcessGroup(name)


def _place(init_method: str | None, rank: int, world_size: int, store: Any) -> tuple[int, int]:
    """Which process this is, and of how many."""
    url = urlparse(init_method or "env://")
    if store is None and url.scheme != "env":
        asked = parse_qs(url.query)
        rank = int(asked["rank"][0]) if rank < 0 and "rank" in asked else rank
        world_size = int(asked["world_size"][0]) if world_size < 0 and "world_size" in asked else world_size
    elif store is None:
        rank = _from_environment("RANK") if rank < 0 else rank
        world_size = _from_environment("WORLD_SIZE") if world_size < 0 else world_size
    if rank < 0 or world_size < 0:
        raise ValueError(f"init_process_group: rank and world_size must be given, got {rank} and {world_size}")
    return rank, world_size


def _from_environment(name: str) -> int:
    if name not in os.environ:
        raise ValueError(
            f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but"
            " not set; for one process, RANK=0 and WORLD_SIZE=1"
        )
    return int(os.environ[name])


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Ends a group; without an argument, that of all processes. AssertionError if there is none."""
    if GroupMember.WORLD is None:
        raise AssertionError("Process group cannot be None: destroy_process_group comes after init_process_group")
    if group is None or group is GroupMember.WORLD:
        GroupMember.WORLD = None


def the_group(group: Any = None) -> ProcessGroup:
    """The group that a call means: all processes, unless it names one. ValueError before init_process_group."""
    if GroupMember.WORLD is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    if group is not None and not isinstance(group, ProcessGroup):
        raise TypeError(f"group must be a ProcessGroup that new_group made, or None for all processes, got {group!r}")
    return group or GroupMember.WORLD


def new_group(
    ranks: Any = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """A group of some of the processes. ValueError for ranks that there are not."""
    world = the_group()
    members = [0] if ranks is None else list(ranks)
    if len(members) > 1:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group, which is"
            f" 1, got ranks {members}"
        )
    if members not in ([], [0]):
        raise ValueError(f"new_group: the only rank is 0, got ranks {members}")
    return ProcessGroup(Backend(backend or world.name())) if members else GroupMember.NON_GROUP_MEMBER


def get_rank(group: Any = None) -> int:
    """Which process of the group this is; -1 if none."""
    return -1 if group == GroupMember.NON_GROUP_MEMBER else the_group(group).rank()


def get_world_size(group: Any = None) -> int:
    """How many processes the group has; -1 for a group that this one is not in."""
    return -1 if group == GroupMember.NON_GROUP_MEMBER else the_group(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The library that the group speaks through."""
    return Backend(the_group(group).name())


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks in the group of all processes."""
    return [0] if the_group(group) else []


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in a group of a process."""
    return only_rank(the_group(group), global_rank, "get_group_rank")


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank among all processes of a member of a group."""
    return only_rank(the_group(group), group_rank, "get_global_rank")


def only_rank(group: ProcessGroup, rank: int | None, caller: str) -> int:
    """The rank, which must be 0; ValueError for any other."""
    if rank not in (None, 0):
        raise ValueError(f"{caller}: the only rank in {group} is 0, got {rank}")
    return 0


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Which process on this machine this is, as $LOCAL_RANK says, else `fallback_rank`. RuntimeError without both."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow get_node_local_rank to work,"
            " assuming you are not running in an environment that sets LOCAL_RANK"
        )
    return fallback_rank


def is_torchelastic_launched() -> bool:
    """Whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_backend_available(backend: str) -> bool:
    """Whether a library is there: 'gloo', the CPU's, alone or for some devices ('cpu:gloo')."""
    return all(part.rpartition(":")[2] == Backend.GLOO for part in backend.lower().split(","))


def get_default_backend_for_device(device: Any) -> str:
    """The library for a kind of device: 'gloo' for the CPU. ValueError for any other."""
    kind = str(getattr(device, "type", device)).partition(":")[0]
    if kind != "cpu":
        raise ValueError(f"get_default_backend_for_device: tensors live on the CPU here, got {device}")
    return Backend.GLOO


def is_gloo_available() -> bool:
    """Whether there is a backend of this name: one process needs no more than its name."""
    return True


def is_nccl_available() -> bool:
    """Whether GPUs can work together: there is none."""
    return False


def is_mpi_available() -> bool:
    """Whether processes can speak through MPI: no."""
    return False


def is_ucc_available() -> bool:
    """Whether processes can speak through UCC: no."""
    return False


def is_xccl_available() -> bool:
    """Whether Intel's GPUs can work together: there is none."""
    return False
