"""Memory shared with PyTorch; a small class that speaks DLPack and bears its name stands in for it."""

from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.interop import from_torch, to_torch


class StandIn:
    """As much of torch.Tensor as from_torch() asks for."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype = array, f"torch.{array.dtype}"

    def detach(self) -> Any:
        return self

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


StandIn.__module__, StandIn.__qualname__ = "torch", "Tensor"


def test_their_state_dict_becomes_ours_over_the_same_memory() -> None:
    array = np.zeros((2, 3), np.float32)
    ours = from_torch({"weight": StandIn(array), "steps": [StandIn(array[0]), 5]})
    ours["weight"][0, 1] = 7
    assert array[0, 1] == 7
    assert ours["steps"][0].tolist() == [0, 7, 0]
    assert ours["steps"][1] == 5


def test_our_tensors_stay_as_they_are() -> None:
    x = torch.ones(2)
    assert from_torch([x])[0] is x


def test_without_pytorch_to_torch_says_so() -> None:
    from minitorch_compile import as_torch

    with as_torch.installed(), pytest.raises(ModuleNotFoundError, match="PyTorch isn't there"):
        to_torch(torch.ones(1))
