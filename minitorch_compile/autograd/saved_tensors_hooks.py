"""Hooks on what is kept for the backward pass: pack it on the way in, unpack it on the way out.

>>> from minitorch_compile.tensor import float16, float32, ones
>>> x = ones(3, requires_grad=True)
>>> with saved_tensors_hooks(lambda t: t.to(float16), lambda packed: packed.to(float32)):
...     y = x.exp()                 # its result is kept in half the memory
>>> y.sum().backward()
>>> x.grad
tensor([2.7188, 2.7188, 2.7188])

Checkpointing is such a pair of hooks: pack keeps nothing, unpack computes everything again (utils/checkpoint.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import FREED, NO_EDGE, Edge, Grad, Node
from minitorch_compile.autograd.op_node import OpNode, _as_result, twin
from minitorch_compile.autograd.watching import watchers
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.tensor_base import TensorBase

Pack = Callable[[Any], Any]
Unpack = Callable[[Any], Any]


class _Active(threading.local):
    """The hooks of one thread, the innermost last; and why none may be used, if so."""

    def __init__(self) -> None:
        self.hooks: list[tuple[Pack, Unpack]] = []
        self.forbidden: list[str] = []


_active = _Active()


class saved_tensors_hooks:
    """Inside, `pack_hook(tensor)` decides what is kept of each tensor that an operation saves, and
    `unpack_hook(packed)` makes a tensor of it when the backward pass asks."""

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _active.forbidden:
            raise RuntimeError(_active.forbidden[-1])
        _active.hooks.append((self.pack_hook, self.unpack_hook))
        watchers.append(_packing)

    def __exit__(self, *error: object) -> None:
        _active.hooks.pop()
        watchers.remove(_packing)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, using saved_tensors_hooks raises RuntimeError with that message."""
    if _active.hooks:
        raise RuntimeError(error_message)
    _active.forbidden.append(error_message)
    try:
        yield
    finally:
        _active.forbidden.pop()


class _Packing:
    """The watcher that replaces what a new node saved by what the innermost pack hook makes of it."""

    def recorded(self, node: Node) -> None:
        if not _active.hooks:
            return
        if isinstance(node, OpNode):
            pack_op_node(node, *_active.hooks[-1])
        elif hasattr(node, "pack_saved"):
            node.pack_saved(*_active.hooks[-1])


_packing = _Packing()


WRITTEN_BY_PACK_HOOK = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be"
    " modified by in-place operations as this can lead to unexpected side-effects: return a new tensor."
)


class Packed:
    """What a pack hook returned, and what is needed to put the unpacked tensor back into the graph."""

    def __init__(self, x: Any, pack: Pack, unpack: Unpack, result_of: Edge = NO_EDGE) -> None:
        """`result_of`: the node itself and which of its results `x` is, if it is one: the node keeps a twin of that."""
        maker, index = result_of
        self.edge = gradient_edge(x) if maker is None else NO_EDGE
        self.is_leaf = maker is None and x.grad_fn is None
        self.unpack = unpack
        version = x.storage.version
        with no_grad():
            self.content = pack(x if maker is None else _as_result(x, maker, index))
        if x.storage.version != version:
            raise RuntimeError(WRITTEN_BY_PACK_HOOK)

    def tensor(self) -> Any:
        """The tensor again, with its history."""
        with no_grad():
            result = self.unpack(self.content)
        if not isinstance(result, TensorBase):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type"
                f" {type(result).__name__}"
            )
        if self.edge[0] is None:
            return result
        result = twin(result)
        result.requires_grad = True
        if self.is_leaf:
            result.accumulator = self.edge
        else:
            result.grad_fn, result.output_index = self.edge
        return result


class PackedOpNode(OpNode):
    """An OpNode whose saved tensors are `Packed`."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if not isinstance(found, Packed):
            return found
        return _as_result(found.tensor(), self, 0) if name == "_saved_result" else found.tensor()

    def apply(self, grads: list[Grad], wanted: Sequence[bool], maker: Node | None = None) -> Sequence[Grad]:
        if self.parameters is None:
            raise RuntimeError(FREED)
        packed = self.parameters, self.outputs, self.kept
        self.kept = [(x, version) for x, version in self.kept if not isinstance(x, Packed)]
        try:
            parameters = list(self.parameters)
            for position in saving_order(self.op):
                parameters[position] = _unpacked(parameters[position])
            self.parameters, self.outputs = parameters, _unpacked(self.outputs)
            return super().apply(grads, wanted, maker)
        finally:
            self.parameters, self.outputs, self.kept = packed


@cache
def _packed_class(name: str) -> type[PackedOpNode]:
    """The class of these nodes that has the name of the others': programs that draw graphs see no difference."""
    return type(name, (PackedOpNode,), {"__slots__": (), "__doc__": PackedOpNode.__doc__})


@cache
def saving_order(op: Op) -> list[int]:
    """The positions of an op's parameters in the order in which PyTorch saves them, and hooks see them: that of their
    names, of which the first is `self` in most ops."""
    names = ["self" if name == "input" else name for name in op.parameters]
    return sorted(range(len(names)), key=names.__getitem__)


def pack_op_node(node: OpNode, pack: Pack, unpack: Unpack) -> None:
    """Replaces the tensors that a node keeps."""
    kept = {id(x) for x, _ in node.kept}
    if not kept or any(x.is_fake for x, _ in node.kept):  # a tracer's tensors have nothing to pack
        return
    packed: list[Packed] = []

    def replace(value: Any, result_of: Edge = NO_EDGE) -> Any:
        if type(value) is tuple:
            maker, _ = result_of
            return tuple(replace(item, NO_EDGE if maker is None else (maker, i)) for i, item in enumerate(value))
        if id(value) not in kept:
            return value
        packed.append(Packed(value, pack, unpack, result_of))
        return packed[-1]

    assert node.parameters is not None
    parameters = list(node.parameters)
    for position in saving_order(node.op):
        parameters[position] = replace(parameters[position])
    node.parameters, node.outputs = parameters, replace(node.outputs, (node, 0))
    node.kept = [(p, 0) for p in packed]  # so that release() knows of something to let go
    node.__class__ = _packed_class(type(node).__name__)


class SavedTensor:
    """What keeps a tensor for the backward pass: `grad_fn._raw_saved_self`. `position`: of the parameter; None for the
    result."""

    def __init__(self, node: OpNode, position: int | None) -> None:
        self._node = node
        self._position = position

    def register_hooks(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        """Keeps what `pack_hook` makes of the tensor instead; `unpack_hook` makes a tensor of it again.

        RuntimeError once it is freed, or where there is such a pair of hooks already.
        """
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("register_hooks(): pack_hook and unpack_hook must be functions of one argument")
        node, position = self._node, self._position
        if node.parameters is None:
            raise RuntimeError(f"Calling register_hooks on a saved tensor after it has been freed. {FREED}")
        value = node.outputs if position is None else node.parameters[position]
        if isinstance(value, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of"
                " hooks is allowed at a time."
            )
        packed = Packed(value, pack_hook, unpack_hook, (node, 0) if position is None else NO_EDGE)
        if position is None:
            node.outputs = packed
        else:
            node.parameters = [*node.parameters[:position], packed, *node.parameters[position + 1 :]]
        others = [kept for kept in node.kept if kept[0] is not value or any(x is value for x in node.parameters)]
        node.kept = [*others, (packed, 0)]
        node.__class__ = _packed_class(type(node).__name__)


def _unpacked(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(_unpacked(item) for item in value)
    return value.tensor() if isinstance(value, Packed) else value
