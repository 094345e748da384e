"""How NumPy and Numba are made to use this machine: threads, memory, compiled functions kept on disk.

Nothing here knows tensors. `native.py` and what it stands on import Numba, so they are imported where they are needed.
"""
