"""ShardedGradScaler, which programs ask about.

>>> isinstance(1, ShardedGradScaler)
False
"""

from typing import Any

from minitorch_compile.distributed.across_processes import refuse


class ShardedGradScaler:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(
        self,
        device: Any = "cuda",
        init_scale: Any = 65536.0,
        backoff_factor: Any = 0.5,
        growth_factor: Any = 2.0,
        growth_interval: Any = 2000,
        enabled: Any = True,
        process_group: Any = None,
    ) -> None:
        refuse("ShardedGradScaler")
