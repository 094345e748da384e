"""Calls of every public op on awkward arguments: run against PyTorch, and on fake tensors against real ones."""
