"""Inputs of the programs, drawn by NumPy, and put where new tensors go."""

from __future__ import annotations

import torch

from benchmarks.peers.row import generator


def normal(*sizes: int, name: str = "input", grad: bool = False) -> torch.Tensor:
    """Normal float32 numbers that only name and sizes decide."""
    values = generator(f"{name} {sizes}").standard_normal(sizes, dtype="float32")
    return torch.from_numpy(values).to(torch.get_default_device()).requires_grad_(grad)


def integers(below: int, *sizes: int, name: str = "integers") -> torch.Tensor:
    """Whole numbers from 0 up to `below`, as int64."""
    return torch.from_numpy(generator(f"{name} {sizes}").integers(0, below, sizes)).to(torch.get_default_device())
