"""From a real object to its tracker.

`build` is for objects from outside: it looks at the type, installs the guards that make the tracker true at the next
call, and makes it. `from_python` is for values that were computed while tracing.

>>> from minitorch_compile.dynamo.capture.output_graph import OutputGraph
>>> from minitorch_compile.dynamo.guards.source import LocalSource
>>> output = OutputGraph({}, ("items",))
>>> build(output, [1, 2], LocalSource("items"))
<ListVariable from items>
>>> print(list(output.guards)[-1])
TYPE_MATCH       type(items) is list
"""

from __future__ import annotations

import collections
import enum
import functools
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.autograd.function import Function
from minitorch_compile.control import compiled_from
from minitorch_compile.dynamo.errors import RunPlainly
from minitorch_compile.dynamo.guards import content_guards, guards, value_guards
from minitorch_compile.dynamo.guards.source import AttrSource, ConstantSource, ItemSource, Source
from minitorch_compile.dynamo.guards.tensor_guards import tensor_match
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.builtins.builtin_variable import BuiltinVariable
from minitorch_compile.dynamo.variables.builtins.environment import Environ, EnvironVariable
from minitorch_compile.dynamo.variables.builtins.legacy_types import LegacyTypeVariable
from minitorch_compile.dynamo.variables.call_rules import handler_of
from minitorch_compile.dynamo.variables.constant import LITERAL_TYPES, ConstantVariable, is_constant_value, name_of
from minitorch_compile.dynamo.variables.containers.deques import DequeVariable
from minitorch_compile.dynamo.variables.containers.dicts import DICT_TYPES, DictVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.mapping_proxies import CopiedDictSource, MappingProxyVariable
from minitorch_compile.dynamo.variables.containers.outside_iterators import (
    OVER_RANGES,
    OVER_SEQUENCES,
    OutsideIterator,
)
from minitorch_compile.dynamo.variables.containers.sequences import (
    NamedTupleVariable,
    SizeVariable,
    TupleVariable,
    is_plain_named_tuple,
)
from minitorch_compile.dynamo.variables.containers.sets import SetVariable
from minitorch_compile.dynamo.variables.containers.user_containers import UserContainerVariable, container_base
from minitorch_compile.dynamo.variables.functions.autograd_functions import ApplyVariable
from minitorch_compile.dynamo.variables.functions.checkpoints import CheckpointVariable
from minitorch_compile.dynamo.variables.functions.functions import (
    MethodVariable,
    PartialVariable,
    UserFunctionVariable,
)
from minitorch_compile.dynamo.variables.functions.functools_wrappers import (
    SINGLE_DISPATCH_CODE,
    CachedFunctionVariable,
    LruCacheWrapper,
    SingleDispatchVariable,
)
from minitorch_compile.dynamo.variables.functions.getters import GETTERS, GetterVariable
from minitorch_compile.dynamo.variables.functions.marked_functions import mark_of
from minitorch_compile.dynamo.variables.objects.class_lookup import is_library, look_up
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable
from minitorch_compile.dynamo.variables.objects.enum_classes import EnumVariable
from minitorch_compile.dynamo.variables.objects.enum_members import MemberVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.objects.modules import ModuleVariable
from minitorch_compile.dynamo.variables.objects.namespaces import NamespaceVariable
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable, is_user_class
from minitorch_compile.dynamo.variables.objects.opaque import OpaqueVariable
from minitorch_compile.dynamo.variables.objects.tensor_methods import tensor_method
from minitorch_compile.dynamo.variables.objects.type_forms import FORMS, TypeFormVariable
from minitorch_compile.dynamo.variables.tensors.arrays import LARGEST_GUARDED, ArrayVariable
from minitorch_compile.dynamo.variables.tensors.grad_mode import GradModeVariable
from minitorch_compile.dynamo.variables.tensors.graph_arrays import GraphArrayVariable
from minitorch_compile.dynamo.variables.tensors.numbers import NumberVariable
from minitorch_compile.dynamo.variables.tensors.numpy_numbers import NumpyNumberVariable
from minitorch_compile.dynamo.variables.tensors.operations import OperationVariable
from minitorch_compile.dynamo.variables.tensors.sym_int import SymIntVariable
from minitorch_compile.dynamo.variables.tensors.torch_function import Overrides
from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor import Op, Size, enable_grad, no_grad, set_grad_enabled
from minitorch_compile.tensor.dispatch.overrides import PLAIN, overrides
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.tensor.tensor_class.legacy_types import LegacyTensorType, TypeOnAGPU

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output

GRAD_MODES = (no_grad, enable_grad, set_grad_enabled)
BUILTIN_CALLABLES = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, MethodWrapperType)

APPLY = Function.apply.__func__  # type: ignore[attr-defined]
METHOD_OWNERS = (list, dict, set, frozenset, str, collections.deque)

Build = Callable[["Output", Any, Source], VariableTracker]
_by_type: dict[type, Build] = {}


def builds(*types: type) -> Callable[[Build], Build]:
    """Registers how values of exactly these types become trackers."""

    def register(function: Build) -> Build:
        _by_type.update(dict.fromkeys(types, function))
        return function

    return register


def build(output: Output, value: Any, source: Source) -> VariableTracker:
    """The tracker of an object from outside. Looks at its type only: isinstance() may run code of the program."""
    cls = type(value)
    if is_constant_value(value):
        return _constant(output, value, source)
    if issubclass(cls, TensorBase):
        if hasattr(cls, "materialize"):
            raise RunPlainly("a parameter of a lazy layer has no sizes before the first call, which finds them out.")
        if hasattr(cls, "__torch_dispatch__"):
            raise RunPlainly(f"{cls.__name__} has a __torch_dispatch__, which is not followed.")
        if cls not in PLAIN and overrides(cls):
            Overrides.of(output)
        layout = output.sizes.layout_of(value, source)
        output.guards.add(*tensor_match(source, value, output.names, layout))
        return output.graph_input(value, source, layout)
    known = _by_type.get(cls)
    if known is not None:
        return known(output, value, source)
    if issubclass(cls, type):
        _guard_identity(output, value, source, value.__name__)
        tracker = EnumVariable if issubclass(cls, enum.EnumMeta) else ClassVariable
        return tracker(value, output.constant_source(value, value.__name__))
    if issubclass(cls, Op):
        _guard_identity(output, value, source, value.name)
        return OperationVariable(value, output.constant_source(value, value.name))
    if issubclass(cls, ModuleType):
        name = value.__name__.rpartition(".")[2]
        _guard_identity(output, value, source, name)
        return ModuleVariable(value, output.constant_source(value, name))
    guard_type(output, value, source)
    return _instance(output, value, source)


def _instance(output: Output, value: Any, source: Source) -> VariableTracker:
    """An object whose type is guarded already."""
    cls = type(value)
    if is_plain_named_tuple(cls):
        return NamedTupleVariable(cls, (), source, value, output)
    base = container_base(cls)
    if base is not None:
        return UserContainerVariable(cls, base, source, value, output)
    if is_user_class(cls):
        if hasattr(cls, "_call_is_forward"):  # a module
            output.sizes.policy.modules.add(source)
        return UserObjectVariable(cls, source, value)
    return OpaqueVariable(value, source)


def guard_type(output: Output, value: Any, source: Source) -> None:
    if not isinstance(source, ConstantSource):
        output.guards.add(guards.type_is(source, type(value), output.names))


def _guard_identity(output: Output, value: Any, source: Source, hint: str) -> None:
    if not isinstance(source, ConstantSource):
        output.guards.add(guards.identity(source, value, output.names, hint))


def _constant(output: Output, value: Any, source: Source) -> VariableTracker:
    if not isinstance(source, ConstantSource):
        if type(value) in (int, float):
            output.guards.add(guards.type_is(source, type(value), output.names))
            if type(value) is int and not _is_of_class(output, source) and output.sizes.policy.of_number(value, source):
                return SymIntVariable(output, output.sizes.number(value, source))
            changing = type(value) is float and output.sizes.policy.of_float(value, source)
            return NumberVariable(output, value, source, changing=changing)
        if isinstance(value, np.generic):
            output.guards.add(guards.type_is(source, type(value), output.names))
            return NumpyNumberVariable(output, value, source)
        by_value = (
            isinstance(value, LITERAL_TYPES)
            and value is not None
            and not isinstance(value, (bool, enum.Enum, type(Ellipsis), type(NotImplemented)))
        )
        if by_value:
            output.guards.add(*value_guards.equals(source, value, output.names))
        elif isinstance(value, range):
            output.guards.add(*value_guards.same_range(source, value, output.names))
        else:
            _guard_identity(output, value, source, name_of(value))
    return MemberVariable(value) if isinstance(value, enum.Enum) else ConstantVariable(value)


def _is_of_class(output: Output, source: Source) -> bool:
    """Whether it is read from a class: a setting, which stays."""
    return isinstance(source.root, ConstantSource) and isinstance(output.names.values.get(source.root.constant), type)


@builds(tuple)
def _tuple(output: Output, value: tuple[Any, ...], source: Source) -> VariableTracker:
    guard_type(output, value, source)
    return TupleVariable((), source, value, output)


@builds(Size)
def _size(output: Output, value: Size, source: Source) -> VariableTracker:
    guard_type(output, value, source)
    return SizeVariable((), source, value, output)


@builds(list)
def _list(output: Output, value: list[Any], source: Source) -> VariableTracker:
    guard_type(output, value, source)
    return ListVariable((), source, value, output)


@builds(collections.deque)
def _deque(output: Output, value: collections.deque[Any], source: Source) -> VariableTracker:
    guard_type(output, value, source)
    return DequeVariable((), source, value, output)


@builds(*OVER_SEQUENCES, *OVER_RANGES)
def _iterator(output: Output, value: Any, source: Source) -> VariableTracker:
    guard_type(output, value, source)
    if source.name().startswith("__stack"):  # of a loop that broke: one version is for all of its rounds
        return OpaqueVariable(value, source)
    return OutsideIterator(output, value, source)


@builds(np.ndarray)
def _array(output: Output, value: np.ndarray, source: Source) -> VariableTracker:
    guard_type(output, value, source)
    if value.size <= LARGEST_GUARDED and value.dtype.kind in "biu":
        return ArrayVariable.from_outside(output, value, source)
    is_regular = all(stride >= 0 and stride % value.itemsize == 0 for stride in value.strides)
    if value.dtype in FROM_NUMPY and is_regular and not isinstance(source, ConstantSource):
        return GraphArrayVariable.from_outside(output, value, source)
    return OpaqueVariable(value, source)


@builds(np.ufunc, type(np.cumsum))
def _numpy_function(output: Output, value: Any, source: Source) -> VariableTracker:
    _guard_identity(output, value, source, value.__name__)
    return BuiltinVariable(value, output.constant_source(value, value.__name__))


@builds(LegacyTensorType, TypeOnAGPU)
def _legacy_type(output: Output, value: LegacyTensorType, source: Source) -> VariableTracker:
    _guard_identity(output, value, source, "legacy_type")
    return LegacyTypeVariable(value, output.constant_source(value, "legacy_type"))


@builds(Environ)
def _environ(output: Output, value: Any, source: Source) -> VariableTracker:
    _guard_identity(output, value, source, "environ")
    return EnvironVariable(value, output.constant_source(value, "environ"))


@builds(*FORMS)
def _type_form(output: Output, value: Any, source: Source) -> VariableTracker:
    _guard_identity(output, value, source, "type_form")
    return TypeFormVariable(value, output.constant_source(value, "type_form"))


@builds(SimpleNamespace)
def _namespace(output: Output, value: SimpleNamespace, source: Source) -> VariableTracker:
    guard_type(output, value, source)
    return NamespaceVariable(SimpleNamespace, source, value)


@builds(*GETTERS)
def _getter(output: Output, value: Any, source: Source) -> VariableTracker:
    _guard_identity(output, value, source, type(value).__name__)
    return GetterVariable.from_outside(output, value, source)


@builds(*DICT_TYPES)
def _dict(output: Output, value: dict[Any, Any], source: Source) -> VariableTracker:
    guard_type(output, value, source)
    return DictVariable(type(value), source, value, output)


@builds(MappingProxyType)
def _mapping_proxy(output: Output, value: MappingProxyType[Any, Any], source: Source) -> VariableTracker:
    guard_type(output, value, source)
    shown = CopiedDictSource(source)
    return MappingProxyVariable(DictVariable(dict, shown, dict(value), output), source)


@builds(set, frozenset)
def _set(output: Output, value: Any, source: Source) -> VariableTracker:
    guard_type(output, value, source)
    return SetVariable(type(value), source, value, output)


@builds(slice)
def _slice(output: Output, value: slice, source: Source) -> VariableTracker:
    from minitorch_compile.dynamo.variables.containers.sequences import SliceVariable

    guard_type(output, value, source)
    parts = [output.wrap(getattr(value, name), AttrSource(source, name)) for name in ("start", "stop", "step")]
    return SliceVariable(*parts)


@builds(FunctionType)
def _function(output: Output, value: FunctionType, source: Source) -> VariableTracker:
    original = compiled_from(value)
    if original is not None:  # a compiled function: what it wraps is inlined
        _guard_identity(output, value, source, value.__name__)
        return build(output, original, output.constant_source(original, value.__name__))
    if handler_of(value) is not None:
        _guard_identity(output, value, source, value.__name__)
        return BuiltinVariable(value, source)
    method = tensor_method(value) if is_library(value) else None
    if method is not None:
        _guard_identity(output, value, source, value.__name__)
        return method
    if value.__code__ is SINGLE_DISPATCH_CODE:
        _guard_identity(output, value, source, value.__name__)
        return SingleDispatchVariable(value, output.constant_source(value, value.__name__))
    marked = CheckpointVariable if "_dynamo_checkpoint" in value.__dict__ else mark_of(value)
    if marked is not None:
        _guard_identity(output, value, source, value.__name__)
        return marked(value, source)
    if not isinstance(source, ConstantSource):
        output.guards.add(*guards.function_match(source, value, output.names))
    return UserFunctionVariable(value, source)


@builds(LruCacheWrapper)
def _cached(output: Output, value: Any, source: Source) -> VariableTracker:
    _guard_identity(output, value, source, value.__name__)
    return CachedFunctionVariable(value, output.constant_source(value, value.__name__))


def is_tensor_method(method: MethodType) -> bool:
    """Whether it is a tensor's method that this package defines."""
    name = getattr(method, "__name__", "")
    found = look_up(type(method.__self__), name) if issubclass(type(method.__self__), TensorBase) else None
    return found is not None and found.value is method.__func__ and is_library(found.owner)


@builds(MethodType)
def _method(output: Output, value: MethodType, source: Source) -> VariableTracker:
    guard_type(output, value, source)
    if type(value.__self__) in GRAD_MODES:  # the __exit__ that waits on the stack of a resumed frame
        _guard_identity(output, value.__func__, AttrSource(source, "__func__"), value.__name__)
        manager = output.wrap(value.__self__, AttrSource(source, "__self__")).realize()
        return BuiltinMethodVariable(manager, value.__name__)
    if is_tensor_method(value):  # x.view, put on the stack before its arguments broke the graph
        _guard_identity(output, value.__func__, AttrSource(source, "__func__"), value.__name__)
        owner = output.wrap(value.__self__, AttrSource(source, "__self__")).realize()
        return BuiltinMethodVariable(owner, value.__name__)
    if value.__func__ is APPLY and issubclass(value.__self__, Function):  # type: ignore[arg-type]
        _guard_identity(output, value.__func__, AttrSource(source, "__func__"), "apply")
        _guard_identity(output, value.__self__, AttrSource(source, "__self__"), value.__self__.__name__)  # type: ignore[attr-defined]
        return ApplyVariable(value.__self__, source)  # type: ignore[arg-type]
    function = output.wrap(value.__func__, AttrSource(source, "__func__"))
    return MethodVariable(function, output.wrap(value.__self__, AttrSource(source, "__self__")), source)


@builds(*BUILTIN_CALLABLES)
def _builtin(output: Output, value: Any, source: Source) -> VariableTracker:
    owner = getattr(value, "__self__", None)
    if type(value) is BuiltinFunctionType and issubclass(type(owner), METHOD_OWNERS):
        guard_type(output, value, source)
        output.guards.add(*value_guards.equals(AttrSource(source, "__name__"), value.__name__, output.names))
        tracked = output.wrap(owner, AttrSource(source, "__self__")).realize()
        return BuiltinMethodVariable(tracked, value.__name__, source=source)
    _guard_identity(output, value, source, getattr(value, "__name__", "builtin"))
    return BuiltinVariable(value, output.constant_source(value, getattr(value, "__name__", "builtin")))


@builds(functools.partial)
def _partial(output: Output, value: functools.partial[Any], source: Source) -> VariableTracker:
    guard_type(output, value, source)
    args, keywords = AttrSource(source, "args"), AttrSource(source, "keywords")
    output.guards.add(
        content_guards.length(args, len(value.args)),
        content_guards.attribute_names("DICT_KEYS", keywords, list(value.keywords)),
    )
    return PartialVariable(
        output.wrap(value.func, AttrSource(source, "func")),
        [output.wrap(arg, ItemSource(args, i)) for i, arg in enumerate(value.args)],
        {name: output.wrap(arg, ItemSource(keywords, name)) for name, arg in value.keywords.items()},
        source,
        value,
    )


@builds(*GRAD_MODES)
def _grad_mode(output: Output, value: Any, source: Source) -> VariableTracker:
    guard_type(output, value, source)
    previous = output.wrap(value._previous, AttrSource(source, "_previous")).realize()
    assert isinstance(previous, ListVariable)
    before = getattr(value, "_before", None)
    if before is not None:
        for name in ("mode", "_before"):
            _guard_identity(output, getattr(value, name), AttrSource(source, name), name)
    return GradModeVariable(type(value), value.mode, previous, source, before)


# --- values made while tracing ----------------------------------------------------------------------------------------


def from_python(output: Output, value: Any) -> Value:
    """The tracker of a value that a computation on constants gave."""
    if is_constant_value(value):
        return MemberVariable(value) if isinstance(value, enum.Enum) else ConstantVariable(value)
    if isinstance(value, SymInt):
        constant = value.expression.constant
        return SymIntVariable(output, value) if constant is None else ConstantVariable(constant)
    if isinstance(value, SymFloat):
        return output.float_of(value)
    if type(value) is Size:
        return SizeVariable([from_python(output, item) for item in value])
    if type(value) is np.ndarray:
        return ArrayVariable(value)
    if type(value) is tuple:
        return TupleVariable([from_python(output, item) for item in value])
    if type(value) is list:
        return ListVariable([from_python(output, item) for item in value])
    if type(value) in DICT_TYPES:
        return output.tracer.build_map(
            [from_python(output, k) for k in value], [from_python(output, v) for v in value.values()]
        )
    if type(value) in (set, frozenset):
        return _new_set(output, value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return NamedTupleVariable(type(value), [from_python(output, item) for item in value])
    return output.wrap_constant(value, getattr(value, "__name__", type(value).__name__))


def _new_set(output: Output, value: Any) -> Value:
    made = SetVariable.of(output.tracer, [from_python(output, item) for item in value], type(value))
    if made.mirror is not None:
        made.mirror = value
    return made
