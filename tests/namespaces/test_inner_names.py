"""Inner names of PyTorch's that libraries call; the answers were recorded there."""

from __future__ import annotations

import pickle

import pytest

import minitorch_compile as torch

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("args", "kwargs", "meant"),
    [
        (("cpu",), {}, (CPU, None, False, None)),
        ((torch.float32,), {}, (None, torch.float32, False, None)),
        ((torch.ones(1, dtype=torch.int8), True), {}, (CPU, torch.int8, True, None)),
        (
            ("cpu", torch.float16),
            {"memory_format": torch.channels_last},
            (CPU, torch.float16, False, torch.channels_last),
        ),
        ((), {"device": "cpu", "non_blocking": True}, (CPU, None, True, None)),
        (("cpu", None, False, True), {}, (CPU, None, False, None)),
    ],
)
def test_what_a_call_of_to_means(args, kwargs, meant):
    assert torch._C._nn._parse_to(*args, **kwargs) == meant


def test_what_no_call_of_to_means():
    with pytest.raises(TypeError, match="takes a device and a dtype"):
        torch._C._nn._parse_to("cpu", 3)


def test_the_number_of_a_device():
    assert torch._utils._get_device_index("cuda:1") == 1 and torch._utils._get_device_index(2) == 2
    assert torch._utils._get_device_index("cpu", allow_cpu=True) == -1
    for device in ("cpu", "cuda"):
        with pytest.raises(ValueError, match="Expected a"):
            torch._utils._get_device_index(device)


@pytest.mark.parametrize("rows", [[], [0], [2, 2], [0, 0, 1, 3]])
def test_rows_of_entries_and_where_rows_begin(rows):
    rows = torch.tensor(rows, dtype=torch.int64)
    columns = torch.arange(len(rows))
    begins = torch._convert_indices_from_coo_to_csr(rows, 4, out_int32=True)
    assert begins.dtype == torch.int32 and begins.tolist() == [int((rows < i).sum()) for i in range(5)]
    back = torch._convert_indices_from_csr_to_coo(begins, columns, transpose=True)
    assert back.dtype == torch.int64 and back.tolist() == [columns.tolist(), rows.tolist()]


def test_a_process_that_failed_is_known_by_its_number():
    error = torch.multiprocessing.ProcessExitedException("text", 1, 20, -9, "SIGKILL")
    again = pickle.loads(pickle.dumps(error))
    assert (again.error_index, again.error_pid, again.exit_code, again.signal_name) == (1, 20, -9, "SIGKILL")


def test_batch_norms_forget():
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 2))
    assert torch.func.replace_all_batch_norm_modules_(model) is model
    assert list(model.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    x = torch.randn(4, 2)
    expected = torch.nn.functional.batch_norm(x, None, None, model[0].weight, model[0].bias, training=True)
    assert torch.equal(model.eval()[0](x), expected)


def test_threads_between_operations_are_kept():
    before = torch.get_num_interop_threads()
    torch.set_num_interop_threads(3)
    assert torch.get_num_interop_threads() == 3
    torch.set_num_interop_threads(before)
    with pytest.raises(RuntimeError, match="Expected positive number of threads, got 0"):
        torch.set_num_interop_threads(0)


def test_small_questions():
    assert torch._C._get_default_device() == "cpu"
    assert not torch.autograd._profiler_enabled() and torch.profiler.kineto_available()
    assert torch.cuda._initialized == torch.cuda.is_initialized()
    assert len(torch.cuda.default_generators) == torch.cuda.device_count()
    with pytest.raises(NotImplementedError, match="mem_get_info"):
        torch.cuda.cudart()
    params = torch.backends.cuda.SDPAParams(*[torch.ones(1, 1, 2, 4)] * 3)
    assert not torch.backends.cuda.can_use_flash_attention(params)
    assert [torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc] != [torch.sparse_csr] * 3
    assert repr(pickle.loads(pickle.dumps(torch.sparse_csc))) == "torch.sparse_csc"
