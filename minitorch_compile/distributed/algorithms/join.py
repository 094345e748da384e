"""Join: processes with fewer batches than others wait for them.

>>> Join([])
Traceback (most recent call last):
NotImplementedError: Join: processes can't work together here; with one, leave it out, ...
"""

from minitorch_compile.distributed.across_processes import refused_class

Join = refused_class("Join")
Joinable = refused_class("Joinable")
JoinHook = refused_class("JoinHook")
