"""Tensors of one call on two devices: which PyTorch takes together, and which it refuses."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch

X, INDEX = torch.arange(12.0).view(3, 4), torch.tensor([2, 0])
SAME = "Expected all tensors to be on the same device"

REFUSED: dict[str, Any] = {
    "gather": lambda x, i: x.gather(0, i[:, None]),
    "scatter": lambda x, i: x.scatter(0, i[:, None], x[:2, :1]),
    "scatter_add": lambda x, i: x.scatter_add(0, i[:, None], x[:2, :1]),
    "index_select": lambda x, i: x.index_select(0, i),
    "index_add": lambda x, i: x.index_add(0, i, x[:2]),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:2]),
    "index_fill": lambda x, i: x.index_fill(0, i, 1.0),
    "take": lambda x, i: x.take(i),
    "put": lambda x, i: x.put(i, x[0, :2]),
    "embedding": lambda x, i: torch.nn.functional.embedding(i, x),
    "values": lambda x, i: x.clone().index_put_((i.to(x.device),), X[:2].cuda() if x.device.type == "cpu" else X[:2]),
}
TAKE_FROM_MAIN_MEMORY = ("values",)


@pytest.mark.parametrize("name", REFUSED)
def test_an_index_elsewhere_is_refused(name: str) -> None:
    from_main_memory = [] if name in TAKE_FROM_MAIN_MEMORY else [(X.cuda(), INDEX)]
    for x, index in [*from_main_memory, (X, INDEX.cuda()), (X.cuda(), INDEX.to("cuda:1"))]:
        with pytest.raises(RuntimeError, match=SAME):
            REFUSED[name](x, index)


def test_subscripts_take_indices_from_main_memory() -> None:
    x = X.cuda()
    assert x[INDEX].tolist() == X[INDEX].tolist() and x[X[:, 0] > 3].tolist() == X[1:].tolist()
    x[INDEX] = 5.0
    assert x[0].tolist() == [5.0] * 4
    x[INDEX] = torch.tensor(6.0)
    assert x.is_cuda and x[2].tolist() == [6.0] * 4


def test_subscripts_of_main_memory_take_none_of_a_gpu() -> None:
    with pytest.raises(RuntimeError, match=r"indices should be either on cpu or on the same device .* \(cpu\)"):
        X[INDEX.cuda()]
    with pytest.raises(RuntimeError, match=r"indices should be either on cpu or on the same device .* \(cuda:0\)"):
        X.cuda()[INDEX.to("cuda:1")]


def test_what_an_op_brings_along_may_come_from_main_memory() -> None:
    x = X.view(1, 1, 3, 4)
    for call in (
        lambda x: torch.nn.functional.interpolate(x, size=(5, 6), mode="bicubic"),
        lambda x: torch.nn.functional.adaptive_avg_pool2d(x, (2, 3)),
        lambda x: torch.nn.functional.max_unpool2d(*torch.nn.functional.max_pool2d(x, 2, return_indices=True), 2),
    ):
        assert torch.allclose(call(x.cuda()).cpu(), call(x), rtol=1e-5)


def test_a_target_out_of_range_is_found_by_the_kernel() -> None:
    with pytest.raises(RuntimeError, match="index 9 is out of bounds"):  # on a GPU, PyTorch's is no IndexError either
        torch.nn.functional.cross_entropy(X.cuda(), torch.tensor([0, 9, 1], device="cuda"))


def test_what_pytorch_has_for_the_cpu_alone() -> None:
    with pytest.raises(NotImplementedError, match="aten::histogram"):
        torch.histogram(X.cuda(), 3)


def test_a_recurrent_network_makes_its_states_beside_its_input() -> None:
    from minitorch_compile.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    network, x, lengths = torch.nn.LSTM(2, 3), torch.randn(4, 2, 2), torch.tensor([2, 4])

    def padded(x: Any) -> Any:
        packed, _ = network(pack_padded_sequence(x, lengths, enforce_sorted=False))
        return pad_packed_sequence(packed)[0].detach()

    here = padded(x)
    network.cuda()
    assert torch.allclose(padded(x.cuda()).cpu(), here, atol=1e-6)


@pytest.mark.parametrize("where", ["cuda", "cpu"])
def test_a_graphs_own_numbers_are_no_business_of_a_default_device(where: str) -> None:
    def program(x: Any) -> Any:
        return x.index_select(0, torch.arange(2, -1, -2, device=x.device).abs()) + x.diagonal(), torch.ones(2).device

    x = torch.arange(6.0).reshape(3, 2).cuda().requires_grad_()
    with torch.device(where):
        found, made = torch.compile(program)(x)
        found.sum().backward()
    assert found.tolist() == [[4.0, 8.0], [0.0, 4.0]] and found.device == x.device and made.type == where
    assert x.grad.tolist() == [[3.0, 1.0], [0.0, 2.0], [1.0, 1.0]]


def test_constants_that_are_computed_ahead_lie_where_the_graph_has_them() -> None:
    def table(x: Any) -> Any:
        return x * (torch.arange(4, device=x.device).cos() + 1)

    torch.testing.assert_close(torch.compile(table)(X.cuda()).cpu(), table(X))


def stretched(x: Any) -> Any:
    """Writes to a view, of which some elements are dropped."""
    x[::2] *= -1.5
    return x + 1, torch.nn.functional.dropout(x, 0.5)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_what_is_in_main_memory_is_compiled_for_it_wherever_a_program_makes_tensors(backend: str) -> None:
    found = []
    for run in (stretched, torch.compile(stretched, backend=backend)):
        with torch.device("cuda"):
            torch.manual_seed(0)
            found.append(run(X.clone()))
    for expected, made in zip(*found, strict=True):
        assert made.device.type == "cpu" and torch.equal(made, expected)
