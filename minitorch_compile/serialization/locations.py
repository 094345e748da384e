"""Where storages are, as text in PyTorch's files, and how they come there again.

>>> from minitorch_compile.tensor import ones
>>> storage = ones(2).untyped_storage()
>>> location_tag(storage), default_restore_location(storage, "cpu") is storage
('cpu', True)
>>> default_restore_location(storage, "elsewhere")
Traceback (most recent call last):
RuntimeError: don't know how to restore data location of UntypedStorage (tagged with elsewhere); register_package() ...

load() itself moves whole tensors, as `map_location` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.tensor.memory.device import device

Tagger = Callable[[Any], str | None]
Deserializer = Callable[[Any, str], Any]
_packages: list[tuple[int, Tagger, Deserializer]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """For devices of another package: `tagger(storage)` names where a storage is, `deserializer(storage, location)`
    brings it there; either gives None for what isn't its own. The lowest `priority` is asked first."""
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """The name of the place where a storage is. RuntimeError if nobody knows it."""
    for _, tagger, _ in _packages:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError(f"don't know how to determine data location of {type(storage).__name__}")


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage, in the place of that name. RuntimeError if it isn't there, or nobody knows it."""
    for _, _, deserializer in _packages:
        restored = deserializer(storage, location)
        if restored is not None:
            return restored
    raise RuntimeError(
        f"don't know how to restore data location of {type(storage).__name__} (tagged with {location});"
        " register_package() tells of other devices, and load(file, map_location='cpu') needs none"
    )


def validate_cuda_device(location: str) -> int:
    """The number of the GPU that a name such as "cuda:1" means, 0 for "cuda". RuntimeError if it isn't there."""
    index = device(location).index or 0
    if not accelerators["cuda"].is_available():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are"
            " running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your"
            " storages to the CPU."
        )
    return int(accelerators["cuda"].device(index).index or 0)


def _tag(storage: Any) -> str | None:
    place = storage.device
    return str(place) if place.type in ("cpu", "cuda", "meta") else None


def _restored(storage: Any, location: str) -> Any:
    """Of storages in main memory and on GPUs."""
    if location.partition(":")[0] == "cuda":
        index = validate_cuda_device(location)
        if storage.device != device("cuda", index):
            raise NotImplementedError(
                "default_restore_location: a storage isn't moved to a GPU alone; move the tensor, by x.to(location)"
            )
        return storage
    return storage if location == str(storage.device) else None


register_package(10, _tag, _restored)
