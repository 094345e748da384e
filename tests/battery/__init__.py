"""Calls of every public op on awkward arguments, written once and run in several ways: against PyTorch, on fake tensors."""
