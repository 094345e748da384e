"""Into how many pieces a kernel's range is cut, so that threads can share it out: `kernel_library/chunk_lengths.py`.

>>> chunk_length(extent=1 << 20, nanoseconds=200_000)
52480
"""

from __future__ import annotations

from minitorch_compile.kernel_library.chunk_lengths import SHORTEST, chunk_length, chunks_text

__all__ = ["SHORTEST", "chunk_length", "chunks_text"]
