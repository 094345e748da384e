"""share_memory_, and tensors sent to other processes. As in PyTorch: what one process writes, the others read."""

from __future__ import annotations

import copy
import pickle
from multiprocessing import Pipe, reduction

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.multiprocessing import ProcessRaisedException, get_context, spawn


def sent(x):
    """What arrives at the other end of a pipe."""
    receive, send = Pipe(duplex=False)
    with receive, send:
        send.send(x)
        return receive.recv()


def test_views_go_with_their_storage():
    x = torch.arange(6.0).view(2, 3)
    row, column, data = x[1], x.t()[0], x.data
    before = [view.numpy() for view in (row, column, data)]
    assert x.share_memory_() is x
    assert all(view.is_shared() for view in (x, row, column, data))
    x.add_(10)
    assert (row.tolist(), column.tolist(), data.tolist()) == ([13, 14, 15], [10, 13], [[10, 11, 12], [13, 14, 15]])
    assert before[0].tolist() == [3, 4, 5]  # of an array, nobody can say where it lies


def test_sharing_twice_moves_nothing():
    x = torch.ones(2).share_memory_()
    address = x.data_ptr()
    assert x.share_memory_().data_ptr() == address


ANY = [torch.empty(0), torch.tensor(3), torch.ones(2, dtype=torch.bfloat16), torch.tensor(True)]


@pytest.mark.parametrize("x", ANY, ids=lambda x: str(x.dtype))
def test_any_element_type_and_size(x):
    assert not x.is_shared()
    values = x.tolist()
    received = sent(x)
    assert x.is_shared() and received.is_shared()
    assert (received.tolist(), received.dtype, received.shape) == (values, x.dtype, x.shape)


def test_both_ends_look_at_the_same_memory():
    x = torch.zeros(2, 3)
    received = sent(x.t()[1])
    received.fill_(7)
    assert x.tolist() == [[0, 7, 0], [0, 7, 0]]
    assert received.stride() == (3,)


def test_a_module_arrives_as_its_parameters():
    model = nn.BatchNorm1d(2)
    model(torch.ones(3, 2)).sum().backward()
    assert model.share_memory() is model
    assert all(x.is_shared() for x in (*model.parameters(), *model.buffers(), model.weight.grad))
    received = sent(model)
    assert isinstance(received.weight, nn.Parameter) and received.weight.requires_grad
    assert received.weight.grad is None
    with torch.no_grad():
        received.weight.fill_(2)
    assert model.weight.tolist() == [2, 2]


def test_copies_have_their_own_memory():
    x = torch.ones(2).share_memory_()
    assert not any(y.is_shared() for y in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x))))


def test_a_result_that_requires_grad_is_not_sent():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        reduction.ForkingPickler.dumps(x * 2)
    assert sent(x).requires_grad


def test_a_conjugate_is_copied():
    x = torch.tensor([1 + 2j]).conj()
    received = sent(x)
    assert received.tolist() == [1 - 2j] and not received.is_shared()


def add_rank(rank, model, results, received):
    with torch.no_grad():
        model.weight[rank] += rank + 1
    results.put(model.bias.detach() * rank)
    received.wait(60)  # who sends a tensor must live until it has arrived, as in PyTorch


def fail(rank):
    raise SystemExit(3)


@pytest.mark.slow
def test_what_spawned_processes_write_is_seen_here():
    model = nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.zero_()
        model.bias.fill_(4.0)
    results, received = get_context("spawn").SimpleQueue(), get_context("spawn").Event()
    processes = spawn(add_rank, (model, results, received), nprocs=2, join=False)
    assert len(processes.pids()) == 2
    assert sorted(results.get().tolist() for _ in range(2)) == [[0.0, 0.0], [4.0, 4.0]]
    received.set()
    assert processes.join()
    assert model.weight.tolist() == [[1.0, 1.0], [2.0, 2.0]]
    with pytest.raises(ProcessRaisedException, match="process 0 failed with exit status 3"):
        spawn(fail)
