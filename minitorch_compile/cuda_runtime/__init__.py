"""What lies between tensors and a CUDA device: the driver, the caching allocator, and who waits for whom.

Nothing here knows tensors or the compiler, and importing it loads nothing of CUDA. The page of this floor is README.md.
"""
