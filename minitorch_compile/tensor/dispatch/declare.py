"""The decorators that declare an op: one for each family of `op.py`.

Each registers the op in the table under the kernel's name and says where it is visible: `torch` (the package),
`methods` (of Tensor), `functional` (nn.functional). One with a name such as `linalg_inv` is `torch.linalg.inv`. A
pointwise op that is a method has an in-place twin, `name_`, a method, too; `inplace_function`: it is also
`torch.name_`, as a twin of one tensor is if nothing is said. The namespaces take what is declared for them
(`visible_in`), so the declaration is the only place that lists an op.

>>> from minitorch_compile.tensor.dispatch.op import table
>>> table["add_"].functional
ops.add
>>> visible_in("linalg")["inv"], visible_in("torch")["exp_"]
(ops.linalg_inv, ops.exp_)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from minitorch_compile.tensor.dispatch.op import Op, table
from minitorch_compile.tensor.dispatch.op_families import (
    AliasOp,
    CompositeOp,
    FactoryOp,
    InplaceCompositeOp,
    InplaceOp,
    KernelOp,
    ReductionOp,
    ViewOp,
)
from minitorch_compile.tensor.dispatch.pointwise_op import DEFAULT, PointwiseOp, WherePointwiseOp
from minitorch_compile.tensor.dispatch.transfer_op import TransferOp
from minitorch_compile.tensor.numerics.dtype import dtype

OWN_NAMESPACES = ("linalg", "fft", "special")  # where the ops are whose names begin so

Kernel = Callable[..., Any]
AnyOp = TypeVar("AnyOp", bound=Op)


def register(op: AnyOp) -> AnyOp:
    """Enters the op in the table, with the line of the module that declares it; a name can be taken once."""
    if op.name in table:
        raise ValueError(f"ops: {op.name!r} is declared twice")
    table[op.name] = op
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    space = op.name.partition("_")[0]
    if space in OWN_NAMESPACES:
        op.namespaces |= {space}
    op.declared_at = frame.f_code.co_filename, frame.f_lineno
    return op


def visible_in(namespace: str) -> dict[str, Op]:
    """The ops that are declared to be visible in "torch", "functional", "linalg", "fft" or "special", by the names that
    they have there. ValueError if two have the same."""
    found: dict[str, Op] = {}
    for op in table.values():
        if namespace in op.namespaces:
            name = op.__name__.removeprefix(f"{namespace}_")
            if name in found:
                raise ValueError(f"ops: {found[name]!r} and {op!r} are both declared to be {namespace}'s {name!r}")
            found[name] = op
    return found


def where_visible(torch: bool, methods: bool, functional: bool) -> list[str]:
    return [name for name, visible in (("torch", torch), ("method", methods), ("functional", functional)) if visible]


def pointwise(
    promotion: str = DEFAULT,
    *,
    torch: bool = True,
    methods: bool = True,
    functional: bool = False,
    inplace: bool | None = None,
    inplace_function: bool | None = None,
    condition: bool = False,
    family: type[PointwiseOp] = PointwiseOp,
) -> Callable[[Kernel], PointwiseOp]:
    """An elementwise op. `condition`: the first tensor chooses and doesn't take part in promotion. `family`: a class
    with a promotion of its own."""

    def declare(kernel: Kernel) -> PointwiseOp:
        op = register(
            (WherePointwiseOp if condition else family)(
                kernel, promotion=promotion, namespaces=where_visible(torch, methods, functional)
            )
        )
        if methods if inplace is None else inplace:
            as_function = torch and len(op.tensor_parameters) == 1 if inplace_function is None else inplace_function
            register(InplaceOp(op, namespaces=where_visible(as_function, True, False)))
        return op

    return declare


def reduction(
    dtype_rule: Callable[[dtype], dtype],
    *,
    empty: bool = True,
    no_dims_mean_all: bool = True,
    floats_asked: bool = False,
    torch: bool = True,
) -> Callable[[Kernel], ReductionOp]:
    """An op that collapses dimensions. `empty`: whether reducing over no elements has a value. `no_dims_mean_all`:
    whether dim=() collapses all dimensions, not none. `floats_asked`: whether only a dtype of floats can be asked
    for."""
    return lambda kernel: register(
        ReductionOp(
            kernel,
            dtype_rule=dtype_rule,
            empty=empty,
            no_dims_mean_all=no_dims_mean_all,
            floats_asked=floats_asked,
            namespaces=where_visible(torch, True, False),
        )
    )


def view(
    *, torch: bool = True, methods: bool = True, gather_dims: bool = False, differentiable: bool = True
) -> Callable[[Kernel], ViewOp]:
    """An op that shares its input's storage; the decorated function returns (sizes, strides, offset)."""
    row = {"namespaces": where_visible(torch, methods, False), "gather_dims": gather_dims}
    return lambda rule: register(ViewOp(rule, differentiable=differentiable, **row))


def kernel_op(
    kind: str,
    *,
    torch: bool = True,
    methods: bool = False,
    functional: bool = False,
    inplace: bool = False,
    inplace_function: bool = False,
    rows: bool = False,
) -> Callable[[Kernel], KernelOp]:
    """Any other op with a kernel; give it a `shape_rule` as well. `rows`: it works on the last dimensions of its
    tensors, and those in front are a batch, as many as there are; so vmap needs no rule for it."""

    def declare(kernel: Kernel) -> KernelOp:
        op = register(KernelOp(kernel, kind=kind, rows=rows, namespaces=where_visible(torch, methods, functional)))
        if inplace:
            register(InplaceOp(op, namespaces=where_visible(inplace_function, True, False)))
        return op

    return declare


def transfer() -> Callable[[Kernel], TransferOp]:
    """The op that copies a tensor to a device; what is decorated only says its parameters."""
    return lambda says: register(TransferOp(says, namespaces=()))


def factory(kind: str = "creation", *, torch: bool = True) -> Callable[[Kernel], FactoryOp]:
    """An op that makes a tensor from sizes and numbers; give it a `shape_rule` as well."""
    return lambda kernel: register(FactoryOp(kernel, kind=kind, namespaces=where_visible(torch, False, False)))


def composite(
    *,
    torch: bool = True,
    methods: bool = False,
    functional: bool = False,
    gather_dims: bool = False,
    inplace: bool = False,
    inplace_function: bool = False,
) -> Callable[[Kernel], CompositeOp]:
    """An op written in other ops. `inplace`: it has a twin `name_` that stores the result in the first argument."""

    def declare(body: Kernel) -> CompositeOp:
        op = register(CompositeOp(body, namespaces=where_visible(torch, methods, functional), gather_dims=gather_dims))
        if inplace:
            register(InplaceCompositeOp(op, namespaces=where_visible(inplace_function, True, False)))
        return op

    return declare


def alias(name: str, of: Op, *, inplace_function: bool = True) -> AliasOp:
    """Another name for an op, visible where the first is; and `name_` for its in-place twin, if it has one.

    >>> from minitorch_compile.tensor import ops, tensor
    >>> ops.absolute(tensor([-1.0])), tensor([-1.0]).absolute_()
    (tensor([1.]), tensor([1.]))
    """
    twin = table.get(f"{of.name}_")
    if twin is not None:
        register(AliasOp(f"{name}_", twin)).namespaces -= set() if inplace_function else {"torch"}
    return register(AliasOp(name, of))


def alias_in(namespace: str, of: Op) -> AliasOp:
    """An op as another namespace has it, "functional" or "special", where it takes no `out`."""
    made = register(AliasOp(f"{'F.' if namespace == 'functional' else f'{namespace}_'}{of.__name__}", of))
    made.namespaces = frozenset((namespace,))
    return made


def functional(*, torch: bool = False) -> Callable[[Kernel], CompositeOp]:
    """The form that an operation takes in nn.functional, where it differs from the op of the same name: F.relu has
    `inplace`, torch.relu hasn't. Its name in the table is `F.relu`. `torch`: the package has it, too, under its own
    name unless another op has that."""

    def declare(body: Kernel) -> CompositeOp:
        apart = torch and body.__name__ not in table  # else the package's method of that name is another op
        visible = where_visible(torch and not apart, False, True)
        op = register(CompositeOp(body, name=f"F.{body.__name__}", namespaces=visible))
        if apart:
            register(AliasOp(f"torch.{body.__name__}", op)).namespaces = frozenset(("torch",))
        return op

    return declare
