"""torch.distributed for one process: programs written for many run as the only one; more are refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minitorch_compile as torch
import minitorch_compile.distributed as dist


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As torchrun starts one process."""
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    dist.init_process_group("gloo")
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def test_the_group_begins_and_ends(alone: None) -> None:
    assert (dist.is_available(), dist.is_initialized(), dist.get_backend()) == (True, True, "gloo")
    assert (dist.get_rank(), dist.get_world_size(), dist.get_node_local_rank()) == (0, 1, 0)
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group("gloo")
    dist.destroy_process_group()
    assert not dist.is_initialized()
    with pytest.raises(ValueError, match="has not been initialized"):
        dist.barrier()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"backend": "gloo"}, ValueError, "RANK expected"),
        ({"backend": "gloo", "rank": 0, "world_size": 2}, NotImplementedError, "run one"),
        ({"backend": "gloo", "rank": 1, "world_size": 1}, ValueError, "below world_size"),
        ({"backend": "nccl", "rank": 0, "world_size": 1}, RuntimeError, "NCCL"),
        ({"init_method": "tcp://localhost:1", "world_size": 1}, ValueError, "rank"),
    ],
)
def test_what_cannot_begin_says_why(
    arguments: dict[str, object], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(error, match=message):
        dist.init_process_group(**arguments)
    assert not dist.is_initialized()


def test_what_is_exchanged_stays(alone: None) -> None:
    x = torch.tensor([1.0, 2.0])
    for op in dist.ReduceOp:
        dist.all_reduce(x, op)
    dist.broadcast(x, 0)
    dist.reduce(x, dst=0)
    assert x.tolist() == [1, 2]
    got = [torch.zeros(2)]
    dist.all_gather(got, x)
    assert torch.equal(got[0], x)
    rows = torch.zeros(1, 2)
    work = dist.all_gather_into_tensor(rows, x, async_op=True)
    assert work.wait() and rows.tolist() == [[1, 2]]
    objects = [None]
    dist.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]


def test_what_does_not_fit_is_refused(alone: None) -> None:
    x = torch.ones(2)
    with pytest.raises(ValueError, match="only rank"):
        dist.broadcast(x, 1)
    with pytest.raises(RuntimeError, match="each of 1 processes"):
        dist.all_gather([], x)
    with pytest.raises(RuntimeError, match="sizes"):
        dist.all_gather([torch.zeros(3)], x)
    with pytest.raises(RuntimeError, match="float64"):
        dist.scatter(torch.zeros(2, dtype=torch.float64), [x])
    with pytest.raises(ValueError, match="only one"):
        dist.send(x, 0)
    with pytest.raises(ValueError, match="world size"):
        dist.new_group([0, 1])
    assert dist.get_rank(dist.new_group([])) == -1


@pytest.mark.parametrize("compiled", [False, True])
def test_a_distributed_model_trains_as_the_module_it_holds(alone: None, compiled: bool) -> None:
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 1)
    model = torch.nn.parallel.DistributedDataParallel(module)
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    run = torch.compile(model, backend="aot_eager") if compiled else model
    x = torch.randn(4, 3)
    with model.no_sync():
        run(x).sum().backward()
    assert torch.allclose(module.weight.grad, x.sum(0, keepdim=True))


def test_a_distributed_model_says_what_it_needs(alone: None) -> None:
    with pytest.raises(RuntimeError, match="not needed"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU())
    with pytest.raises(ValueError, match="device_ids"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=[0])
    dist.destroy_process_group()
    with pytest.raises(ValueError, match="init_process_group"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))


def test_a_sampler_asks_which_part_is_its(alone: None) -> None:
    assert list(torch.utils.data.DistributedSampler(range(3), shuffle=False)) == [0, 1, 2]
    dist.destroy_process_group()
    with pytest.raises(ValueError, match="init_process_group"):
        torch.utils.data.DistributedSampler(range(3))


def test_a_mesh_of_one_process(alone: None) -> None:
    # repr and answers as PyTorch's, but for the strides in its repr
    mesh = dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    assert repr(mesh) == "DeviceMesh((dp=1, tp=1), 'cpu')"
    assert (mesh.ndim, mesh.shape, mesh.size(), mesh.size(0)) == (2, (1, 1), 1, 1)
    assert (mesh.get_rank(), mesh.get_local_rank("dp"), mesh.get_coordinate()) == (0, 0, (0, 0))
    assert (mesh["dp"].ndim, mesh["dp"].mesh_dim_names, len(mesh.get_all_groups())) == (1, ("dp",), 2)
    assert mesh == dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    with pytest.raises(KeyError, match="Invalid mesh_dim_names"):
        mesh["pp"]
    with pytest.raises(RuntimeError, match="2 dimensions"):
        mesh.get_group()


@pytest.mark.parametrize(
    ("device", "shape", "names", "message"),
    [
        ("cpu", (2,), None, "bigger than default world size 1"),
        ("cpu:0", (1,), None, "with index"),
        ("cpu", (1,), ("a", "b"), "same length"),
        ("cpu", (1, 1), ("a", "a"), "unique"),
    ],
)
def test_a_mesh_that_cannot_be(
    device: str, shape: tuple[int, ...], names: tuple[str, ...] | None, message: str, alone: None
) -> None:
    with pytest.raises(RuntimeError, match=message):
        dist.init_device_mesh(device, shape, mesh_dim_names=names)


def test_how_tensors_may_lie_on_a_mesh() -> None:
    from minitorch_compile.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
    from minitorch_compile.distributed.tensor.placement_types import _StridedShard

    placements = [Shard(1), _StridedShard(0, 2), Replicate(), Partial(), Partial("avg")]
    assert [*map(str, placements)] == ["S(1)", "_S(0, 2)", "R", "P(sum)", "P(avg)"]
    assert [*map(repr, placements[:4])] == [
        "Shard(dim=1)",
        "_StridedShard(dim=0, sf=2)",
        "Replicate()",
        "Partial(sum)",
    ]
    assert [placement.is_shard() for placement in placements] == [True, True, False, False, False]
    assert (Shard(0).is_shard(1), Shard(0) == Shard(0), Shard(0) == Shard(1)) == (False, True, False)
    assert not isinstance(torch.ones(1), DTensor)
    with pytest.raises(NotImplementedError, match="leave it out"):
        distribute_tensor(torch.ones(1))
    with pytest.raises(NotImplementedError, match="DTensor"):
        DTensor(torch.ones(1))


def test_the_reductions_have_the_type_of_pytorchs_name() -> None:
    assert isinstance(dist.ReduceOp.SUM, dist.ReduceOp.RedOpType)


@pytest.mark.parametrize(
    "exchange",
    [
        lambda x, nn: nn.all_reduce(x),
        lambda x, nn: nn.reduce(x, 0),
        lambda x, nn: nn.broadcast(x, 0),
        lambda x, nn: nn.scatter([x]),
        lambda x, nn: nn.reduce_scatter(torch.zeros(2), [x]),
        lambda x, nn: nn.all_to_all_single(torch.zeros(2), x),
        lambda x, nn: nn.gather(x)[0],
        lambda x, nn: nn.all_gather(x)[0],
        lambda x, nn: nn.all_to_all([torch.zeros(2)], [x])[0],
    ],
)
def test_exchanged_in_a_model_gradients_come_back(exchange, alone: None) -> None:
    import minitorch_compile.distributed.nn as nn

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    received = exchange(x, nn)
    (received * 3).sum().backward()
    assert received is not x and received.tolist() == [1.0, 2.0]
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0]  # as PyTorch 2.13 with one process of gloo
    dist.destroy_process_group()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        exchange(x, nn)
