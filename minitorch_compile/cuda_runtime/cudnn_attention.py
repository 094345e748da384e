"""Attention and its gradient by cuDNN, block by block: the score matrix is never in memory.

Of the scores only the logarithm of each row's sum of exponentials is kept, from which the gradient makes any block of
the weights again (`tensor/ops/flash_attention.py`). Queries, keys and values are read as they lie, if each row lies
together; what is made lies in row-major order, or with the rows of all heads side by side.

>>> heads = Layout((2, 3, 8, 16), (384, 16, 48, 1))      # (N, L, heads * E), seen as (N, heads, L, E)
>>> attention = Attention("float16", heads, heads, heads, is_causal=True, scale=0.25)
>>> attention.out.strides, attention.statistics.sizes
((384, 128, 16, 1), (2, 3, 8, 1))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minitorch_compile.cuda_runtime.cudnn import (
    BYTES,
    Cudnn,
    Execution,
    Layout,
    NoAlgorithmError,
    PreparedCall,
    make,
    reach,
)
from minitorch_compile.cuda_runtime.driver import StreamHandle

ELEMENTS = {"float16": "HALF", "bfloat16": "BFLOAT16"}
STATISTICS_BYTES = 4
# The uids of the tensors, in the order in which their addresses come.
FORWARD = QUERY, KEY, VALUE, OUT, STATISTICS = 1, 2, 3, 4, 5
GRAD, BY_QUERY, BY_KEY, BY_VALUE = 6, 7, 8, 9
BACKWARD = GRAD, QUERY, KEY, VALUE, OUT, STATISTICS, BY_QUERY, BY_KEY, BY_VALUE


class Attention(NamedTuple):
    """softmax(scale * query key^T) value. query (N, H, L, E), key (N, G, S, E), value (N, G, S, Ev); with `is_causal`
    query i sees key j only for j <= i. `backward`: the gradients of the three. `heads_inside`: what is made lies as
    (N, L, H, E) does."""

    element: str
    query: Layout
    key: Layout
    value: Layout
    is_causal: bool
    scale: float
    backward: bool = False
    heads_inside: bool = False
    mask: Layout | None = None  # of truth values (N, H, L, S), which only kernels of ours look at

    @property
    def out(self) -> Layout:
        """Of the result, and of its gradient."""
        return self.made((*self.query.sizes[:3], self.value.sizes[3]))

    @property
    def gradients(self) -> tuple[Layout, Layout, Layout]:
        """Of those of query, key and value."""
        return self.made(self.query.sizes), self.made(self.key.sizes), self.made(self.value.sizes)

    def made(self, sizes: Sequence[int]) -> Layout:
        """How a result of these sizes lies."""
        n, heads, rows, columns = sizes
        if not self.heads_inside:
            return row_major(sizes)
        return Layout((n, heads, rows, columns), (rows * heads * columns, columns, heads * columns, 1))

    @property
    def statistics(self) -> Layout:
        """Of the logarithms, float32."""
        return row_major((*self.query.sizes[:3], 1))


def row_major(sizes: Sequence[int]) -> Layout:
    n, heads, rows, columns = sizes
    return Layout((n, heads, rows, columns), (heads * rows * columns, rows * columns, columns, 1))


def computes_attention(library: Cudnn, attention: Attention, deterministic: bool, stream: StreamHandle) -> bool:
    """Whether there is an algorithm."""
    try:
        _plan(library, attention, deterministic, stream)
    except NoAlgorithmError:
        return False
    return True


def prepared_attention(library: Cudnn, attention: Attention, deterministic: bool) -> PreparedCall:
    """A function of addresses, in the order of the uids, and a stream."""
    layouts = layouts_of(attention)
    nbytes = [
        reach(layouts[uid]) * (STATISTICS_BYTES if uid == STATISTICS else BYTES[attention.element])
        for uid in order_of(attention)
    ]
    return PreparedCall(library, nbytes, lambda addresses, stream: _plan(library, attention, deterministic, stream))


def order_of(attention: Attention) -> tuple[int, ...]:
    return BACKWARD if attention.backward else FORWARD


def layouts_of(attention: Attention) -> dict[int, Layout]:
    """By uid."""
    return {
        **{QUERY: attention.query, KEY: attention.key, VALUE: attention.value},
        **{OUT: attention.out, GRAD: attention.out, STATISTICS: attention.statistics},
        **dict(zip((BY_QUERY, BY_KEY, BY_VALUE), attention.gradients)),
    }


def _plan(library: Cudnn, attention: Attention, deterministic: bool, stream: StreamHandle) -> AttentionPlan:
    with library.turn:
        key = stream.device, attention, deterministic
        plan = library.plans.get(key)
        if plan is None:
            plan = library.plans[key] = AttentionPlan(library, attention, deterministic, stream)
        assert isinstance(plan, AttentionPlan)
        return plan


class AttentionPlan:
    """A graph of cuDNN's with one node. NoAlgorithmError if it can't be run."""

    def __init__(self, library: Cudnn, attention: Attention, deterministic: bool, stream: StreamHandle) -> None:
        self.library, self.attention, self.order = library, attention, order_of(attention)
        what = f"this attention{' backwards' if attention.backward else ''} in {attention.element}"
        self.graph = make(library.bindings, lambda: self.described(library.handle(stream), deterministic), (), what)
        self.workspace = max(self.graph.get_workspace_size(), 1)
        self.execute = Execution(self.graph)

    def described(self, handle: Any, deterministic: bool) -> Any:
        """The graph of the node."""
        attention, types, layouts = self.attention, self.library.bindings.data_type, layouts_of(self.attention)
        element = getattr(types, ELEMENTS[attention.element])
        graph = self.library.bindings.pygraph(
            io_data_type=element, intermediate_data_type=types.FLOAT, compute_data_type=types.FLOAT, handle=handle
        )

        def tensor(uid: int) -> Any:
            kind = types.FLOAT if uid == STATISTICS else element
            sizes, strides = layouts[uid]
            return graph.tensor(dim=list(sizes), stride=list(strides), data_type=kind, uid=uid)

        q, k, v = (tensor(uid) for uid in (QUERY, KEY, VALUE))
        how = {"attn_scale": attention.scale, "use_causal_mask": attention.is_causal}
        if attention.backward:
            o, grad, statistics = (tensor(uid) for uid in (OUT, GRAD, STATISTICS))
            how |= {"use_deterministic_algorithm": True} if deterministic else {}
            made = graph.sdpa_backward(q=q, k=k, v=v, o=o, dO=grad, stats=statistics, **how)
        else:
            made = graph.sdpa(q=q, k=k, v=v, generate_stats=True, **how)
        results = self.order[-len(made) :]
        for result, uid in zip(made, results):
            sizes, strides = layouts[uid]
            result.set_output(True).set_uid(uid).set_dim(list(sizes)).set_stride(list(strides))
            result.set_data_type(types.FLOAT if uid == STATISTICS else element)
        return graph

    def __call__(self, addresses: Sequence[int], stream: StreamHandle) -> None:
        library = self.library
        with library.turn:
            handle, workspace = library.handle(stream), library.workspaces.of(stream, self.workspace)
            self.execute(dict(zip(self.order, addresses)), workspace, handle)
