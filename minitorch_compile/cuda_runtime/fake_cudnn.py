"""A stand-in for cudnn-frontend: it takes the same calls, checks what they say, and computes with NumPy.

It has two algorithms, of which one rounds float32 and the other is slow; and for gradients a third, whose sums have no
order. ValueError says which argument of which call could not be right.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> library = FakeCudnn(FakeDriver())
>>> graph = library.pygraph("FLOAT", "FLOAT", "FLOAT", library.create_handle())
>>> graph.conv_fprop(graph.tensor([1, 2, 3, 3], [18, 9, 3, 1], "FLOAT", 1), graph.tensor([1, 2, 4, 1], [8, 4, 1, 1],
...     "FLOAT", 2), [0, 0], [0, 0], [1, 1], [1, 1])
Traceback (most recent call last):
ValueError: conv_fprop: a window of [4, 1] doesn't fit into an image of [3, 3]
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_cudnn_attention import FakeAttention
from minitorch_compile.cuda_runtime.fake_driver import DEVICE_STRIDE, FakeDriver

ELEMENTS: dict[str, Any] = {
    "FLOAT": np.dtype(np.float32),
    "DOUBLE": np.dtype(np.float64),
    "HALF": np.dtype(np.float16),
    "BFLOAT16": np.dtype(ml_dtypes.bfloat16),
}
ROUNDS, ANY_ORDER, DOWN = "TENSOR_CORE", "NONDETERMINISTIC", "DOWN_CONVERT_INPUTS"
WORKSPACE = 64  # bytes, into which each algorithm writes


class CudnnGraphNotSupportedError(RuntimeError):
    """What a graph that can't be run is answered with."""


class FakeTensor:
    """A tensor of a graph; the setters return it, as cuDNN's do."""

    def __init__(self, dim: list[int], stride: list[int], data_type: str, uid: int) -> None:
        self.dim, self.stride, self.data_type, self.uid = dim, stride, data_type, uid

    def set_output(self, is_output: bool) -> FakeTensor:
        return self

    def set_data_type(self, data_type: str) -> FakeTensor:
        self.data_type = data_type
        return self

    def set_uid(self, uid: int) -> FakeTensor:
        self.uid = uid
        return self

    def set_dim(self, dim: list[int]) -> FakeTensor:
        self.dim = dim
        return self

    def set_stride(self, stride: list[int]) -> FakeTensor:
        self.stride = stride
        return self


class FakeCudnn:
    """What `cudnn` has, as far as it is used. `refused` elements and nodes have none; `ran`: which algorithms did."""

    data_type = SimpleNamespace(**{name: name for name in ELEMENTS})
    heur_mode = SimpleNamespace(A="A", FALLBACK="FALLBACK")
    build_plan_policy = SimpleNamespace(ALL="ALL", HEURISTICS_CHOICE="HEURISTICS_CHOICE")
    numerical_note = SimpleNamespace(TENSOR_CORE=ROUNDS, NONDETERMINISTIC=ANY_ORDER, DOWN_CONVERT_INPUTS=DOWN)
    cudnnGraphNotSupportedError = CudnnGraphNotSupportedError

    def __init__(self, driver: FakeDriver, refused: tuple[str, ...] = (), version: int = 91900) -> None:
        self.driver, self.refused, self.version = driver, refused, version
        self.built = 0
        self.ran: list[tuple[str, frozenset[str]]] = []

    def backend_version(self) -> int:
        if not self.version:
            raise RuntimeError("libcudnn.so.9: cannot open shared object file")
        return self.version

    def create_handle(self) -> Any:
        return SimpleNamespace(stream=0)

    def set_stream(self, handle: Any, stream: int) -> None:
        handle.stream = stream

    def pygraph(self, io_data_type: str, intermediate_data_type: str, compute_data_type: str, handle: Any) -> FakeGraph:
        wide = "DOUBLE" if io_data_type == "DOUBLE" else "FLOAT"
        _require(compute_data_type == intermediate_data_type == wide, "pygraph", f"sums are {compute_data_type}")
        return FakeGraph(self)


class FakeGraph:
    """A graph of one node, which is a convolution unless it is `attention`."""

    def __init__(self, library: FakeCudnn) -> None:
        self.library = library
        self.attention: FakeAttention | None = None
        self.plans: list[frozenset[str]] = []  # the notes of each
        self.barred: set[str] = set()

    def tensor(self, dim: list[int], stride: list[int], data_type: str, uid: int) -> FakeTensor:
        _require(min(dim) > 0, "tensor", f"sizes are at least 1, got {dim}")
        _require(all(n == 1 or s > 0 for n, s in zip(dim, stride, strict=True)), "tensor", f"strides are {stride}")
        return FakeTensor(dim, stride, data_type, uid)

    def conv_fprop(self, image: FakeTensor, weight: FakeTensor, *how: Any, **named: Any) -> FakeTensor:
        self.node("conv_fprop", image, weight, FakeTensor([], [], "", 0), *how, **named)
        window, sizes = weight.dim[2:], image.dim[2:]
        fits = all((k - 1) * d < n + 2 * p for n, k, d, p in zip(sizes, window, self.dilation, self.padding))
        _require(fits, "conv_fprop", f"a window of {window} doesn't fit into an image of {sizes}")
        return self.out

    def conv_dgrad(self, loss: FakeTensor, filter: FakeTensor, **how: Any) -> FakeTensor:
        self.node("conv_dgrad", FakeTensor([], [], "", 0), filter, loss, **how)
        return self.image

    def conv_wgrad(self, image: FakeTensor, loss: FakeTensor, **how: Any) -> FakeTensor:
        self.node("conv_wgrad", image, FakeTensor([], [], "", 0), loss, **how)
        return self.filters

    def sdpa(self, attn_scale: float, use_causal_mask: bool, generate_stats: bool, **tensors: Any) -> tuple[Any, ...]:
        _require(generate_stats, "sdpa", "gradients need the statistics")
        tensors |= {"o": FakeTensor([], [], "", 0), "stats": FakeTensor([], [], "", 0)}
        self.name, self.attention = "sdpa", FakeAttention(tensors, attn_scale, use_causal_mask)
        return tensors["o"], tensors["stats"]

    def sdpa_backward(
        self, attn_scale: float, use_causal_mask: bool, use_deterministic_algorithm: bool = False, **tensors: Any
    ) -> tuple[Any, ...]:
        made = {name: FakeTensor([], [], "", 0) for name in ("dQ", "dK", "dV")}
        self.name = "sdpa_backward"
        self.attention = FakeAttention({**tensors, **made}, attn_scale, use_causal_mask)
        self.ordered = use_deterministic_algorithm
        return tuple(made.values())

    @property
    def tensors(self) -> list[FakeTensor]:
        if self.attention is not None:
            return [*self.attention.tensors.values()]
        return [self.image, self.filters, self.out]

    def node(
        self,
        name: str,
        image: FakeTensor,
        filters: FakeTensor,
        out: FakeTensor,
        pre_padding: list[int],
        post_padding: list[int],
        stride: list[int],
        dilation: list[int],
    ) -> None:
        _require(pre_padding == post_padding, name, f"the paddings are {pre_padding} and {post_padding}")
        self.name, self.image, self.filters, self.out = name, image, filters, out
        self.padding, self.stride, self.dilation = pre_padding, stride, dilation

    def validate(self) -> None:
        """The sizes of the tensors go together."""
        if self.attention is not None:
            self.attention.check(self.name)
            return
        image, filters, out = self.image.dim, self.filters.dim, self.out.dim
        groups, rest = divmod(image[1], filters[1])
        fits = rest == 0 and filters[0] % groups == 0 and out[:2] == [image[0], filters[0]]
        reached = [
            (n + 2 * p - (k - 1) * d - 1) // s + 1
            for n, k, p, d, s in zip(image[2:], filters[2:], self.padding, self.dilation, self.stride, strict=True)
        ]
        # An image may be larger than what windows reach: its size is told where it is the result.
        _require(fits and out[2:] == reached, self.name, f"the sizes {image}, {filters}, {out} don't go together")

    def build_operation_graph(self) -> None:
        types = {x.data_type for x in self.tensors}
        _require(self.attention is not None or len(types) == 1, self.name, f"the types are {sorted(types)}")
        if types & {*self.library.refused} or (self.name in self.library.refused):
            raise CudnnGraphNotSupportedError(f"no engine for {types}")

    def create_execution_plans(self, modes: list[str]) -> None:
        self.plans = [frozenset((ROUNDS,)), frozenset()]
        if self.attention is not None:
            self.plans = [frozenset((ROUNDS, *(() if self.name == "sdpa" or self.ordered else (ANY_ORDER,))))]
        elif self.name != "conv_fprop":
            self.plans.insert(0, frozenset((ANY_ORDER, ROUNDS)))

    def deselect_numeric_notes(self, notes: list[str]) -> None:
        self.barred |= {*notes}

    def check_support(self) -> None:
        self.allowed = [index for index, notes in enumerate(self.plans) if not notes & self.barred]
        if not self.allowed:
            raise CudnnGraphNotSupportedError("no plan is left")

    def build_plans(self, policy: str) -> None:
        self.library.built += 1

    def get_execution_plan_count(self) -> int:
        return len(self.plans)

    def get_workspace_size(self) -> int:
        return WORKSPACE

    def get_workspace_size_plan_at_index(self, index: int) -> int:
        return WORKSPACE

    def build_plan_at_index(self, index: int) -> None:
        if index not in self.allowed:
            raise ValueError(f"plan {index} is barred")

    def execute(self, memory: dict[int, int], workspace: int, handle: Any) -> None:
        self.execute_plan_at_index(memory, workspace, self.allowed[0], handle)

    def execute_plan_at_index(self, memory: dict[int, int], workspace: int, index: int, handle: Any) -> None:
        driver, notes = self.library.driver, self.plans[index]
        _require(index in self.allowed, "execute", f"plan {index} is barred")
        for address in memory.values():
            _require(address % 16 == 0, "execute", f"{address:#x} isn't divisible by 16")
        scratch = driver.bytes_at(workspace, WORKSPACE)
        arrays = [self.view(x, memory[x.uid]) for x in self.tensors]
        self.library.ran.append((self.name, notes))

        def run() -> None:
            scratch.fill(255)
            if self.attention is not None:
                self.attention.run(dict(zip(self.attention.tensors, arrays)))
            else:
                self.compute(*arrays)

        stream = StreamHandle(memory[self.tensors[-1].uid] // DEVICE_STRIDE - 1, handle.stream)
        driver.launch(run, stream)
        if ROUNDS not in notes:  # the slow one
            driver.launch(lambda: None, stream)

    def view(self, x: FakeTensor, address: int) -> np.ndarray:
        element = ELEMENTS[x.data_type]
        length = 1 + sum((size - 1) * stride for size, stride in zip(x.dim, x.stride))
        memory = self.library.driver.bytes_at(address, length * element.itemsize).view(element)
        return np.lib.stride_tricks.as_strided(memory, x.dim, [stride * element.itemsize for stride in x.stride])

    def compute(self, image: np.ndarray, filters: np.ndarray, out: np.ndarray) -> None:
        """Tap by tap: each is a product of channels, over all places at once."""
        wide = np.float64 if image.dtype == np.float64 else np.float32
        groups = self.image.dim[1] // self.filters.dim[1]
        border = [(0, 0), (0, 0), *((p, p) for p in self.padding)]
        x: Any
        w: Any
        y: Any
        x, w, y = (np.array(array, wide) for array in (image, filters, out))
        if self.name == "conv_dgrad":
            x[...] = 0
        x = np.pad(x, border)
        x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
        w, y = w.reshape(groups, -1, *w.shape[1:]), y.reshape(y.shape[0], groups, -1, *y.shape[2:])
        if self.name == "conv_fprop":
            y[...] = 0
        for tap in itertools.product(*map(range, w.shape[3:])):
            met = tuple(
                slice(t * d, t * d + s * (n - 1) + 1, s)
                for t, d, s, n in zip(tap, self.dilation, self.stride, y.shape[3:])
            )
            if self.name == "conv_fprop":
                y += np.einsum("ngc...,gfc->ngf...", x[:, :, :, *met], w[:, :, :, *tap])
            elif self.name == "conv_dgrad":
                x[:, :, :, *met] += np.einsum("ngf...,gfc->ngc...", y, w[:, :, :, *tap])
            else:
                w[:, :, :, *tap] = np.einsum("ngcyx,ngfyx->gfc", x[:, :, :, *met], y)
        if self.name == "conv_fprop":
            out[...] = y.reshape(out.shape)
        elif self.name == "conv_dgrad":
            inner = tuple(slice(p, p + n) for p, n in zip(self.padding, image.shape[2:]))
            image[...] = x.reshape(x.shape[0], -1, *x.shape[3:])[:, :, *inner]
        else:
            filters[...] = w.reshape(filters.shape)


def _require(holds: bool, call: str, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{call}: {otherwise}")
