"""NumPy and DLPack look at a tensor's memory, and tensors at theirs."""

from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch

DTYPES = [torch.float64, torch.float32, torch.float16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]


class OldProducer:
    """A library that speaks the first DLPack, without versions."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool, torch.complex64], ids=str)
def test_dlpack_shares_memory_both_ways(dtype: torch.dtype) -> None:
    x = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    theirs = np.from_dlpack(x)
    theirs[0, 0] = 1
    assert x[0, 0] == 1
    again = torch.from_dlpack(theirs)
    assert (again.dtype, again.data_ptr()) == (dtype, x.data_ptr())


@pytest.mark.parametrize("view", ["x.t()", "x[:, 1]", "x[1:, ::2]", "x[0].expand(3, 4)", "x[:0]", "x[0, 0]"])
def test_views_keep_their_strides_through_dlpack(view: str) -> None:
    x = eval(view, {"x": torch.arange(12.0).view(3, 4)})
    again = torch.from_dlpack(x)
    assert torch.equal(again, x)
    assert x.numel() == 0 or again.stride() == x.stride()


def test_memory_of_an_old_producer_may_be_written_to() -> None:
    array = np.zeros(3)
    torch.from_dlpack(OldProducer(array))[1] = 5
    assert array.tolist() == [0, 5, 0]


def test_a_capsule_is_taken_once() -> None:
    capsule = torch.utils.dlpack.to_dlpack(torch.ones(2))
    assert torch.from_dlpack(capsule).tolist() == [1, 1]


def test_memory_lives_as_long_as_a_tensor_looks_at_it() -> None:
    x = torch.from_dlpack(OldProducer(np.arange(1000.0)))
    np.zeros(1000)  # would take the memory, were it free
    assert x.sum() == 499500


def test_dlpack_hands_over_dtypes_that_are_only_stored() -> None:
    numbers = np.arange(3, dtype=np.uint32)
    x = torch.from_dlpack(numbers)
    numbers[0] = 7
    assert x.dtype is torch.uint32 and x.tolist() == [7, 1, 2]


def test_what_dlpack_cannot_hand_over_is_refused() -> None:
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(torch.ones(1, requires_grad=True))
    with pytest.raises(BufferError, match="no data"):
        torch.ones(1, device="meta").__dlpack__()
    with pytest.raises(TypeError, match="got list"):
        torch.from_dlpack([1])
    with pytest.raises(ValueError, match="negative"):
        torch.from_dlpack(np.arange(3)[::-1])
    with pytest.raises(RuntimeError, match="no tensors on cuda"):
        torch.from_dlpack(np.arange(3), device="cuda")


def test_numpy_functions_of_a_tensor_give_tensors() -> None:
    x = torch.tensor([[0.0, 1.0], [4.0, 9.0]])
    assert torch.equal(np.sqrt(x), x.sqrt())
    assert np.isnan(x).dtype is torch.uint8  # as in PyTorch
    assert isinstance(np.add(np.ones((2, 2)), x), torch.Tensor)
    assert isinstance(np.float64(2) * x, torch.Tensor)


def test_numpy_functions_that_are_not_elementwise_take_tensors_as_arrays() -> None:
    x = torch.arange(4.0)
    assert np.concatenate([x, x]).tolist() == [0, 1, 2, 3] * 2
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert np.asarray(x, dtype=np.int32).tolist() == [0, 1, 2, 3]


def test_an_array_of_a_tensor_that_requires_grad_is_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    for use in (np.asarray, np.sqrt, np.concatenate):
        with pytest.raises(RuntimeError, match="detach"):
            use([x] if use is np.concatenate else x)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("made", [lambda x: x, lambda x: x * 2])
def test_a_tensor_that_requires_grad_is_an_array_where_nothing_is_recorded(mode: Any, made: Any) -> None:
    x = made(torch.ones(2, requires_grad=True))
    with mode():
        assert isinstance(x.numpy(), np.ndarray)
        assert isinstance(np.asarray(x), np.ndarray)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    assert isinstance(x.numpy(force=True), np.ndarray)


def test_a_tensor_without_data_is_no_array() -> None:
    with pytest.raises(TypeError):
        torch.ones(2, device="meta").numpy()
    with pytest.raises(NotImplementedError):
        torch.ones(2, device="meta").numpy(force=True)
