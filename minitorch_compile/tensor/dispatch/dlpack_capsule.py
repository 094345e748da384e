"""DLPack for memory on a device: NumPy makes and reads capsules of main memory only, so these are written by hand.

A capsule holds the address of a C struct: where the memory is, its dtype, sizes and strides, and a function that is
called when nobody reads it any more. Version 1 of the protocol puts a version and flags before that.

https://dmlc.github.io/dlpack/latest/c_api.html

>>> import numpy as np
>>> dtype_code(FROM_NUMPY[np.dtype("float32")])
(2, 32)
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object
from typing import Any, NamedTuple

from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY, dtype
from minitorch_compile.tensor.tensor_base import TensorBase

CUDA, CUDA_MANAGED = GPUS = 2, 13  # DLPack's numbers for memory that a GPU reads
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
BFLOAT = 4
NAME, NAME_OF_VERSION_1 = b"dltensor", b"dltensor_versioned"


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class _ManagedOfVersion1(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    ]


# What was handed over, by the address of its struct: the struct, its arrays, and the tensor, which keeps the memory.
_handed_over: dict[int, tuple[Any, ...]] = {}


@_Deleter
def _let_go(address: int) -> None:
    _handed_over.pop(address, None)


@ctypes.PYFUNCTYPE(None, c_void_p)
def _unread(capsule: int) -> None:
    """A capsule is gone. Who read it has renamed it; if nobody did, nobody will call the deleter."""
    for name in (NAME, NAME_OF_VERSION_1):
        if _is_valid(capsule, name):
            _handed_over.pop(_pointer(capsule, name), None)


_api = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _api))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_SetName", _api))


def dtype_code(element: dtype) -> tuple[int, int]:
    """(kind, bits) of a dtype, in DLPack's numbers. BufferError for one that it lacks."""
    kind = BFLOAT if element.name == "bfloat16" else KINDS.get(element.numpy.kind)
    if kind is None:
        raise BufferError(f"__dlpack__: DLPack has no number for {element}")
    return kind, element.itemsize * 8


def capsule_of(x: TensorBase, version_1: bool) -> Any:
    """A capsule of a tensor's memory on a GPU, which it keeps."""
    count = len(x.sizes)
    shape, strides = (c_int64 * count)(*x.sizes), (c_int64 * count)(*x.strides)
    code, bits = dtype_code(x.dtype)
    address = x.storage.block.address + x.offset * x.dtype.itemsize
    tensor = _Tensor(address, CUDA, x.device.index or 0, count, code, bits, 1, shape, strides, 0)
    deleter = ctypes.cast(_let_go, c_void_p)
    managed: Any = _ManagedOfVersion1(1, 0, None, deleter, 0, tensor) if version_1 else _Managed(tensor, None, deleter)
    place = ctypes.addressof(managed)
    _handed_over[place] = managed, shape, strides, x
    return _new(place, NAME_OF_VERSION_1 if version_1 else NAME, ctypes.cast(_unread, c_void_p))


class Described(NamedTuple):
    """What a capsule says: an owner that keeps the memory, where it is, and how it is read."""

    owner: Any
    device_index: int
    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: dtype


def device_type(capsule: Any) -> int:
    """DLPack's number for where the memory of a capsule is; 0 if somebody has read it."""
    name = _name_of(capsule)
    return 0 if name is None else int(_tensor_in(capsule, name)[1].device_type)


def _name_of(capsule: Any) -> bytes | None:
    return next((name for name in (NAME, NAME_OF_VERSION_1) if _is_valid(id(capsule), name)), None)


def _tensor_in(capsule: Any, name: bytes) -> tuple[Any, Any]:
    """The struct of a capsule, and what it says of the tensor."""
    managed = (_Managed if name is NAME else _ManagedOfVersion1).from_address(_pointer(id(capsule), name))
    return managed, managed.tensor


class _Owner:
    """Calls the deleter of a capsule that was read, when nobody has the memory any more."""

    def __init__(self, deleter: int | None, place: int) -> None:
        self._deleter, self._place = deleter, place

    def __del__(self) -> None:
        if self._deleter:
            _Deleter(self._deleter)(self._place)


def read(capsule: Any) -> Described:
    """What a capsule says; it can't be read again. BufferError for what isn't on a GPU, TypeError for a dtype that
    isn't here, or a capsule that was read before."""
    name = _name_of(capsule)
    if name is None:
        raise TypeError("from_dlpack: expected a DLPack capsule that nobody has read, got another one")
    managed, tensor = _tensor_in(capsule, name)
    if tensor.device_type not in GPUS:
        raise BufferError(f"from_dlpack: expected memory of a GPU, got device type {tensor.device_type}")
    known = {
        dtype_code(each): each for each in FROM_NUMPY.values() if each.name == "bfloat16" or each.numpy.kind in "iufcb"
    }
    element = known.get((tensor.code, tensor.bits))
    if element is None or tensor.lanes != 1:
        raise TypeError(
            f"from_dlpack: no dtype here has DLPack's code {tensor.code} with {tensor.bits} bits, {tensor.lanes} lanes"
        )
    sizes = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else contiguous_strides(sizes)
    _rename(id(capsule), USED[name])
    owner = _Owner(managed.deleter, ctypes.addressof(managed))
    return Described(owner, tensor.device_id, (tensor.data or 0) + tensor.byte_offset, sizes, strides, element)


USED = {NAME: b"used_dltensor", NAME_OF_VERSION_1: b"used_dltensor_versioned"}
