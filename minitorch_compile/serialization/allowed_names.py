"""The names that a pickle may use: those of which PyTorch's files of tensors are made, and what the user adds.

A pickle is a little program that says which functions to call, on what. Ours may call only these, so reading a file
can't do anything but make tensors and containers.

>>> find("collections", "OrderedDict").call([("a", 1)])
OrderedDict([('a', 1)])
>>> find("os", "system")
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: the file wants to call os.system, ...
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from minitorch_compile.nn import Buffer, Parameter
from minitorch_compile.serialization.checked_tensor import (
    check_differentiable,
    checked_meta_tensor,
    checked_tensor,
    counts,
    shortened,
)
from minitorch_compile.serialization.plain_data import check_key
from minitorch_compile.serialization.unreadable_file import UnreadableFileError, refuse
from minitorch_compile.tensor import Size, Tensor, device
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.numerics.dtype import FROM_NAME, FROM_NUMPY, dtype, uint8
from minitorch_compile.tensor.ops.reinterpretation import ReinterpretedStorage
from minitorch_compile.tensor.tensor_class.own_attributes import OWN_ATTRIBUTES


class ReadStorage(Storage):
    """A storage from a file, whose dtype is known."""

    __slots__ = ("dtype",)

    def __init__(self, buffer: Any, element: dtype) -> None:
        super().__init__(buffer)
        self.dtype = element


@dataclass(frozen=True, eq=False)
class Global:
    """The name of something that is no data. `call` is what a pickle that calls it gets; None if it can't be called."""

    name: str
    call: Callable[..., Any] | None = None
    stored: dtype | None = None  # of torch.FloatStorage and its kin: the dtype of a storage's bytes
    added: Any = None  # what the user added under this name


# ------------------------------------------------------------------------------------------------ what may be called


def rebuild_tensor(
    storage: Any, offset: Any, sizes: Any, strides: Any, requires_grad: Any = False, hooks: Any = None, meta: Any = None
) -> Tensor:
    """A tensor over a storage that was read."""
    if not isinstance(storage, ReadStorage):
        raise refuse(f"a tensor over what is no storage but {shortened(storage)}")
    result = checked_tensor(storage, offset, sizes, strides, storage.dtype)
    return result.requires_grad_() if check_differentiable(storage.dtype, requires_grad) else result


def rebuild_of_bytes(
    storage: Any, offset: Any, sizes: Any, strides: Any, requires_grad: Any, hooks: Any, element: Any, meta: Any = None
) -> Tensor:
    """A tensor over a storage of bytes, which says itself what dtype it has."""
    if not isinstance(storage, ReadStorage) or storage.dtype is not uint8 or not isinstance(element, dtype):
        raise refuse("a tensor of bytes over what is no storage of bytes")
    elements = ReinterpretedStorage(storage, element.numpy)
    result = checked_tensor(elements, offset, sizes, strides, element)
    return result.requires_grad_() if check_differentiable(element, requires_grad) else result


def rebuild_meta(element: Any, sizes: Any, strides: Any, requires_grad: Any) -> Tensor:
    """A tensor on meta."""
    if not isinstance(element, dtype):
        raise refuse(f"a tensor of the dtype {shortened(element)}")
    result = checked_meta_tensor(sizes, strides, element)
    return result.requires_grad_() if check_differentiable(element, requires_grad) else result


def rebuild_parameter(data: Any, requires_grad: Any = True, hooks: Any = None) -> Parameter:
    """nn.Parameter as PyTorch pickles it."""
    if not isinstance(data, Tensor):
        raise refuse(f"a parameter of what is no tensor but {shortened(data)}")
    return Parameter(data, check_differentiable(data.dtype, requires_grad))


def rebuild_parameter_with_state(data: Any, requires_grad: Any, hooks: Any, state: Any) -> Any:
    """nn.Parameter with attributes of the user's."""
    return set_attributes(rebuild_parameter(data, requires_grad), state)


def rebuild_from_type(function: Any, cls: Any, arguments: Any, state: Any) -> Any:
    """A tensor with attributes of the user's, or nn.Buffer."""
    if not isinstance(function, Global) or function.call not in (rebuild_tensor, rebuild_of_bytes, rebuild_meta):
        raise refuse("a tensor made by a function that makes none")
    if not isinstance(cls, Global) or cls.name not in TENSOR_CLASSES or not isinstance(arguments, tuple):
        raise refuse("a tensor of a class that is not known")
    made = function.call(*arguments)
    kind = TENSOR_CLASSES[cls.name]
    return set_attributes(made if kind is Tensor else kind(made), state)


def set_attributes(tensor: Any, state: Any) -> Any:
    """The tensor with attributes that are the user's: none that a tensor has itself."""
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    if slots or type(attributes) is not dict:
        raise refuse("the attributes of a tensor are no dictionary")
    for name, value in attributes.items():
        if type(name) is not str or name in OWN_ATTRIBUTES or (hasattr(type(tensor), name) and name != "persistent"):
            raise refuse(f"a tensor gets {name!r:.100} as an attribute, which is its own")
        tensor.__dict__[name] = value
    return tensor


def contents(items: Any) -> Any:
    """The items, if they are those of a container that is there: a range may have any number of them."""
    if type(items) not in (list, tuple, dict, set, frozenset):
        raise refuse(f"a container of the items of a {type(items).__name__}")
    return items


def items_of(cls: type) -> Callable[..., Any]:
    """A set or frozenset of items that can be hashed at once."""
    return lambda items=(): cls(check_key(item) for item in contents(items))


def pairs_of(cls: Callable[[], Any]) -> Callable[..., Any]:
    """An OrderedDict or Counter of a dictionary or of pairs."""

    def make(items: Any = ()) -> Any:
        result = cls()
        for key, value in dict.items(items) if isinstance(items, dict) else contents(items):
            result[check_key(key)] = value
        return result

    return make


def default_dictionary(factory: Any = None, items: Any = ()) -> Any:
    """A defaultdict whose factory is one of Python's types."""
    if factory is not None and (not isinstance(factory, Global) or factory.name not in FACTORIES):
        raise refuse(f"a defaultdict with the factory {getattr(factory, 'name', shortened(factory))}")
    kind = None if factory is None else FACTORIES[factory.name]
    return pairs_of(lambda: defaultdict(kind))(items)


def complex_of(real: Any, imag: Any) -> complex:
    """A complex number of two numbers."""
    if type(real) is not float or type(imag) is not float:
        raise refuse("a complex number of what are no floats")
    return complex(real, imag)


def bytes_of_text(text: Any, encoding: Any) -> bytes:
    """Bytes as protocol 2 has them."""
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise refuse("a string encoded in another way than bytes are pickled")
    return text.encode("latin1")


def byte_array(content: Any = b"", encoding: Any = "latin-1") -> bytearray:
    """A bytearray of bytes, never of a length."""
    return bytearray(content if type(content) is bytes else bytes_of_text(content, encoding))


# ------------------------------------------------------------------------------------------------ the list

_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "ComplexHalfStorage": "complex32",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
}
TENSOR_CLASSES = {
    "torch.Tensor": Tensor,
    "torch._tensor.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.nn.parameter.Buffer": Buffer,
}
FACTORIES: dict[str, Any] = {
    **{f"builtins.{kind.__name__}": kind for kind in (list, dict, set, tuple, str, bytes, int, float, bool, complex)},
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
}
CALLS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": pairs_of(OrderedDict),
    "collections.Counter": pairs_of(Counter),
    "collections.defaultdict": default_dictionary,
    "builtins.set": items_of(set),
    "builtins.frozenset": items_of(frozenset),
    "builtins.complex": complex_of,
    "builtins.bytearray": byte_array,
    "builtins.bytes": lambda: b"",
    "builtins.range": range,
    "builtins.slice": slice,
    "_codecs.encode": bytes_of_text,
    "torch.Size": lambda sizes=(): Size(counts("sizes", sizes)),
    "torch.device": device,
    "torch._utils._rebuild_tensor": rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": rebuild_tensor,
    "torch._utils._rebuild_tensor_v3": rebuild_of_bytes,
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild_meta,
    "torch._utils._rebuild_parameter": rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": rebuild_from_type,
    "torch.nn.parameter.Parameter": rebuild_parameter,
}
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # protocol 2 has the names of Python 2
_PYTHON_2_NAMES = {"builtins.xrange": "builtins.range", "builtins.unicode": "builtins.str"}

ALLOWED: dict[str, Any] = {
    **{name: Global(name) for name in (*FACTORIES, *TENSOR_CLASSES)},
    **{name: Global(name, call) for name, call in CALLS.items()},
    "torch.storage.UntypedStorage": Global("torch.storage.UntypedStorage", stored=uint8),
    **{f"torch.{name}": Global(name, stored=FROM_NAME[element]) for name, element in _STORAGES.items()},
    **{f"torch.{element.name}": element for element in FROM_NUMPY.values()},
}


def allow_call(name: str, function: Callable[..., Any]) -> None:
    """One more function that pickles may call, of a floor above: whatever it is given, it makes data alone."""
    ALLOWED[name] = Global(name, function)


def find(module: str, name: str) -> Any:
    """What a pickle means by a name: a dtype, or a Global. UnreadableFileError for one that is not allowed."""
    full = f"{_PYTHON_2.get(module, module)}.{name}"
    full = _PYTHON_2_NAMES.get(full, full)
    if full in ALLOWED:
        return ALLOWED[full]
    if full in _added:
        return Global(full, _added[full], added=_added[full])
    raise refuse(
        f"the file wants to call {full:.200}, which may be any code, so it is not read; a file that holds state_dict()"
        " needs no such thing. If you trust the file and have the class: add_safe_globals([...])"
    )


def is_allowed(module: str, name: str) -> bool:
    """Whether a pickle may use the name."""
    try:
        find(module, name)
    except UnreadableFileError:
        return False
    return True


# ------------------------------------------------------------------------------------------------ what the user adds

_added: dict[str, Any] = {}


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allows classes and functions in the files that load() reads from now on.

    They are found by module and name; a pair (class, "module.name") gives it another name.
    """
    _added.update(map(_named, safe_globals))


def _named(added: Any) -> tuple[str, Any]:
    if not isinstance(added, tuple):
        return f"{added.__module__}.{getattr(added, '__qualname__', added.__name__)}", added  # an op has none
    if len(added) != 2 or not isinstance(added[1], str):
        raise ValueError(f"Expected tuple of (callable, str), but got {added!r}")
    return added[1], added[0]


def get_safe_globals() -> list[Any]:
    """What add_safe_globals() allowed."""
    return list(_added.values())


def clear_safe_globals() -> None:
    """Forgets what add_safe_globals() allowed."""
    _added.clear()


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Allows classes and functions, a list of `safe_globals`, within a `with`: load() may make objects of them.

    >>> with torch.serialization.safe_globals([dict]):
    ...     dict in torch.serialization.get_safe_globals()
    True
    """
    before = dict(_added)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _added.clear()
        _added.update(before)


def is_added(cls: Any) -> bool:
    """Whether the user added this very class or function."""
    return any(cls is added for added in _added.values())
