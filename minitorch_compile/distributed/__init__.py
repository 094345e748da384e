"""torch.distributed for one process: the group has one member, and what is exchanged is what each has already.

Programs that are written for many processes run as the only one. More than one is refused, with advice.

>>> import os
>>> os.environ |= {"RANK": "0", "WORLD_SIZE": "1"}
>>> init_process_group("gloo")
>>> get_rank(), get_world_size(), is_initialized()
(0, 1, True)
>>> destroy_process_group()
>>> init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=2)
Traceback (most recent call last):
NotImplementedError: init_process_group: world_size is 2, but processes can't work together here; run ...
"""

from minitorch_compile.distributed.collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    irecv,
    isend,
    monitored_barrier,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    send,
)
from minitorch_compile.distributed.device_mesh import DeviceMesh, init_device_mesh
from minitorch_compile.distributed.objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    scatter_object_list,
)
from minitorch_compile.distributed.process_group import (
    Backend,
    GroupMember,
    ProcessGroup,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    new_group,
)
from minitorch_compile.distributed.process_group import the_group as _get_default_group
from minitorch_compile.distributed.work import ReduceOp, Work, reduce_op
