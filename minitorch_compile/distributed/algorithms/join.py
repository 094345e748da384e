"""Join: processes with fewer batches than others wait for them.

>>> Join([])
Traceback (most recent call last):
NotImplementedError: Join: processes can't work together here; with one, leave it out, ...
"""

from typing import Any

from minitorch_compile.distributed.across_processes import refuse


class Join:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(
        self, joinables: Any, enable: Any = True, throw_on_early_termination: Any = False, **kwargs: Any
    ) -> None:
        refuse("Join")


class Joinable:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self) -> None:
        refuse("Joinable")


class JoinHook:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self) -> None:
        refuse("JoinHook")
