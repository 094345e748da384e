"""The runtime below tensors on a GPU: driver, allocator, sanitizer."""
