"""torch.amp: automatic mixed precision, where there is a GPU for it.

Without a GPU, PyTorch warns and switches it off, and so it is here: programs run in the precision of their tensors.

>>> with autocast("cuda", enabled=False):
...     GradScaler("cuda", enabled=False).is_enabled()
False
"""

from minitorch_compile.amp.autocast_mode import autocast, is_autocast_available, is_autocast_enabled
from minitorch_compile.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "is_autocast_available", "is_autocast_enabled"]
