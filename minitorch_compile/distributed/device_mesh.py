"""A mesh of processes: this one, in as many dimensions as a program likes to have.

>>> from minitorch_compile import distributed
>>> distributed.init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=1)
>>> mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
>>> mesh, mesh["data"].size(), mesh.get_coordinate()
(DeviceMesh((data=1, model=1), 'cpu'), 1, (0, 0))
>>> distributed.destroy_process_group()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.distributed.process_group import ProcessGroup, init_process_group, is_initialized, the_group
from minitorch_compile.tensor import Tensor, device, int32, tensor


class DeviceMesh:
    """Ranks in rows and columns. RuntimeError for more than there are, and for names that don't fit the dimensions."""

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: Sequence[str] | None = None,
        backend_override: Any = None,
        _init_backend: bool = True,
        _rank: int | None = None,
        _layout: Any = None,
        _rank_map: Any = None,
        _root_mesh: Any = None,
    ) -> None:
        self.device_type = _kind(device_type)
        self.mesh = mesh.to(int32) if isinstance(mesh, Tensor) else tensor(mesh, dtype=int32)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        if self.mesh.numel() > 1:
            raise RuntimeError(
                f"Mesh should not be bigger than default world size 1, but found {self.mesh.numel()} ranks!"
            )
        _check_names(self.mesh_dim_names, self.mesh.ndim)
        the_group()

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self.mesh.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """How many processes along each."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many processes along a dimension, or in all."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.size(mesh_dim)

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The mesh of some dimensions. KeyError for a name it doesn't have."""
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else mesh_dim_names
        known = list(self.mesh_dim_names or ())
        if unknown := [name for name in names if name not in known]:
            raise KeyError(f"Invalid mesh_dim_names {tuple(unknown)} specified. Valid mesh_dim_names are {known}.")
        return DeviceMesh(self.device_type, self.mesh.reshape((1,) * len(names)), mesh_dim_names=names)

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of the processes along a dimension. RuntimeError if there are several and none is named."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions: get_group needs mesh_dim, or use get_all_groups()"
            )
        return the_group()

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of all dimensions."""
        return [the_group() for _ in range(self.ndim)]

    def get_rank(self) -> int:
        """Which process this is."""
        return the_group().rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Which one along a dimension."""
        return self.get_group(mesh_dim).rank()

    def get_coordinate(self) -> tuple[int, ...]:
        """Where this process stands."""
        return (0,) * self.ndim

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.device_type, self.shape, self.mesh_dim_names

    def __repr__(self) -> str:
        names = self.mesh_dim_names
        sizes = [f"{names[i]}={size}" if names else str(size) for i, size in enumerate(self.shape)]
        return f"DeviceMesh(({', '.join(sizes)}), {self.device_type!r})"


def _kind(device_type: str) -> str:
    """The name of a kind of device. RuntimeError for one device of them ("cuda:0"), or if there is none here."""
    if device(device_type).index is not None:
        raise RuntimeError(f"Device type with index is not supported but got {device_type}; give {device_type[:-2]!r}")
    if device_type != "cpu":
        raise RuntimeError(f"device_type must be 'cpu', where tensors live here, got {device_type!r}")
    return device_type


def _check_names(names: tuple[str, ...] | None, dimensions: int) -> None:
    if names is None:
        return
    if len(set(names)) != len(names):
        raise RuntimeError(f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names {names}")
    if len(names) != dimensions:
        raise RuntimeError(
            "mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names):"
            f" {len(names)} and len(mesh_shape):{dimensions}."
        )


def init_device_mesh(
    device_type: str,
    mesh_shape: Sequence[int],
    *,
    mesh_dim_names: Sequence[str] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """A mesh of these sizes, which must all be 1. It begins the group of all processes if that is not there yet."""
    count = 1
    for size in mesh_shape:
        count *= size
    _check_names(None if mesh_dim_names is None else tuple(mesh_dim_names), len(mesh_shape))
    if not is_initialized():
        init_process_group()
    return DeviceMesh(device_type, tensor([*range(count)]).reshape(tuple(mesh_shape)), mesh_dim_names=mesh_dim_names)
