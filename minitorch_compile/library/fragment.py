"""Library: ops by schema and implementation, one step after the other; and the functions that register the rest.

>>> from minitorch_compile.tensor import ones
>>> lib = Library("docs_lib", "DEF")
>>> lib.define("scaled(Tensor x, float k=2.0) -> Tensor")
'scaled'
>>> lib.impl("scaled", lambda x, k=2.0: x * k, "CPU")
>>> find("docs_lib::scaled")(ones(2))
tensor([2., 2.])
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from minitorch_compile.library.custom_op import ANY_DEVICE, AUTOCAST_DEVICES, CustomOpDef, find
from minitorch_compile.library.namespaces import enter, leave, registry
from minitorch_compile.library.schema import infer_schema, parse
from minitorch_compile.tensor.numerics.dtype import dtype

KINDS = ("IMPL", "DEF", "FRAGMENT")
# The devices that PyTorch's dispatch keys are about.
DEVICES = {
    "CPU": "cpu",
    "CUDA": "cuda",
    "XPU": "xpu",
    "MPS": "mps",
    "CompositeExplicitAutograd": ANY_DEVICE,
    "": ANY_DEVICE,
}
WHOLE = ("CompositeImplicitAutograd", "Autograd", "AutogradCPU")  # run above the tape, which records the ops inside


class Tag(enum.Enum):
    """What may be said of an op. The compiler here asks nothing of them."""

    core = enum.auto()
    data_dependent_output = enum.auto()
    dynamic_output_shape = enum.auto()
    flexible_layout = enum.auto()
    inplace_view = enum.auto()
    needs_exact_strides = enum.auto()
    needs_fixed_stride_order = enum.auto()
    nondeterministic_bitwise = enum.auto()
    nondeterministic_seeded = enum.auto()
    pointwise = enum.auto()
    pt2_compliant_tag = enum.auto()


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Sequence[Tag] | None = None,
) -> Any:
    """Makes an op of a Python function: compilers don't look into it. Also a decorator.

    name: "namespace::name", under which it is `torch.ops.namespace.name`.
    mutates_args: the names of the tensors that the function writes to; it must write to no others.
    device_types: the devices that the function is for; None for all.
    schema: what it takes and gives; None to read it off the annotations.
    ValueError for a name without a namespace, or annotations that a schema has no word for.
    """

    def define(function: Callable[..., Any]) -> CustomOpDef:
        names = name.split("::")
        if len(names) != 2:
            raise ValueError(f"custom_op: name must be 'namespace::name', but got {name!r}")
        text = schema or infer_schema(function, mutates_args=mutates_args)
        made = CustomOpDef(replace(parse(text), qualname=name))
        made.__doc__, made.__module__ = function.__doc__, function.__module__
        made.register_kernel(device_types, function)
        enter(name, made)
        return made

    return define if fn is None else define(fn)


class Library:
    """The ops of a namespace: "DEF" and "FRAGMENT" define some, "IMPL" implements what others have defined."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in KINDS:
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._defined: list[str] = []

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Tag | Sequence[Tag] = ()) -> str:
        """Defines an op by its schema, "name(Tensor x) -> Tensor"; gives its name. RuntimeError if there is one."""
        if self.kind == "IMPL":
            raise RuntimeError("define: a Library of kind 'IMPL' only implements ops; make one with 'FRAGMENT'")
        found = parse(schema)
        qualname = f"{self.ns}::{found.qualname.rpartition('::')[2]}"
        if qualname in registry:
            raise RuntimeError(
                f"Tried to register an operator ({schema}) with the same name and overload name multiple times. Each"
                " overload's schema should only be registered with a single call to def()."
            )
        enter(qualname, CustomOpDef(replace(found, qualname=qualname)))
        self._defined.append(qualname)
        return qualname.partition("::")[2]

    def impl(
        self,
        op_name: str | CustomOpDef,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Says what computes an op. dispatch_key: "CPU", "CUDA", "Meta" for fakes, or "CompositeImplicitAutograd" for a
        function of ops, which is looked into. TypeError unless it is a function; RuntimeError for another key, and for
        one that has an implementation already, unless `allow_override`."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        op, key = self.op(op_name), dispatch_key or self.dispatch_key
        if not allow_override and is_implemented(op, key):
            raise RuntimeError(f"impl: {op.name} already has an implementation for {key!r}; pass allow_override=True")
        implement(op, fn, key)

    def op(self, op_name: str | CustomOpDef) -> CustomOpDef:
        """The op of a name in this namespace."""
        return op_name if isinstance(op_name, CustomOpDef) else find(f"{self.ns}::{op_name.rpartition('::')[2]}")

    def _destroy(self) -> None:
        """Forgets what was defined here."""
        for qualname in self._defined:
            leave(qualname)


def is_implemented(op: CustomOpDef, key: str) -> bool:
    """Whether something is entered under a dispatch key of PyTorch's."""
    if key == "Meta":
        return op._fake is not None
    if key in WHOLE:
        return op.is_composite
    return DEVICES.get(key) in op.kernels or key.removeprefix("Autocast").lower() in op.autocasts


def implement(op: CustomOpDef, fn: Callable[..., Any], key: str) -> None:
    """Enters an implementation under a dispatch key of PyTorch's."""
    if key == "Meta":
        op.register_fake(fn)
    elif key in WHOLE:
        op.is_composite = True
        op.register_kernel(None, fn)
    elif key in DEVICES:
        op.register_kernel(DEVICES[key], fn)
    elif key.removeprefix("Autocast").lower() in AUTOCAST_DEVICES:
        op.autocasts[key.removeprefix("Autocast").lower()] = fn
    else:
        raise RuntimeError(
            f"impl: no dispatch key {key!r} here; expected one of {', '.join([*DEVICES, 'Meta', *WHOLE])}"
        )


def find_op(op: Any) -> CustomOpDef:
    """The op that a register_ function is given: itself, or "namespace::name". TypeError for others."""
    if isinstance(op, CustomOpDef):
        return op
    if not isinstance(op, str):
        raise ValueError(f"register_...({op}): got unexpected type for op: {type(op)}")
    return find(op)


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Defines the op "namespace::name" by its schema. ValueError for a name without a namespace."""
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, mark, name = qualname.partition("::")
    if not mark:
        raise ValueError(f"define(qualname, ...): expected qualname 'namespace::name', but got {qualname!r}")
    (lib or Library(namespace, "FRAGMENT")).define(name + schema, tags=tags)


def impl(
    qualname: str | CustomOpDef,
    types: str | Sequence[str],
    func: Callable[..., Any] | None = None,
    *,
    lib: Library | None = None,
) -> Any:
    """Says what computes an op on these types of devices, "default" for all. Also a decorator."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for each in [types] if isinstance(types, str) else types:
            implement(
                find_op(qualname),
                function,
                "" if each == "default" else {d: k for k, d in DEVICES.items()}.get(each, each),
            )
        return function

    return register if func is None else register(func)


def register_fake(
    op: str | CustomOpDef,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Says what the results of an op look like, without data. Also a decorator.

    RuntimeError if somebody has said it already, unless `allow_override`.
    """
    known = find_op(op)
    if not allow_override and known._fake is not None:
        raise RuntimeError(f"register_fake: {known.name} already has a fake implementation; pass allow_override=True")
    return known.register_fake if func is None else known.register_fake(func)


def impl_abstract(
    qualname: str | CustomOpDef,
    func: Callable[..., Any] | None = None,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
) -> Any:
    """register_fake, by its name before PyTorch 2.4."""
    return register_fake(qualname, func, lib=lib)


def register_kernel(
    op: str | CustomOpDef,
    device_types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Says what computes an op on these devices, None for all. Also a decorator."""
    return find_op(op).register_kernel(device_types, func)


def register_autograd(
    op: str | CustomOpDef,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Says what the gradient of an op is."""
    find_op(op).register_autograd(backward, setup_context=setup_context)


def register_autocast(
    op: str | CustomOpDef, device_type: str, cast_inputs: dtype, /, *, lib: Library | None = None
) -> None:
    """Says what the arguments of an op are cast to under autocast."""
    find_op(op).register_autocast(device_type, cast_inputs)


def register_vmap(
    op: str | CustomOpDef, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Says what an op is on a batch. Also a decorator."""
    return find_op(op).register_vmap(func)
