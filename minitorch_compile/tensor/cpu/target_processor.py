"""NUMBA_CPU_NAME names the processor that machine code is for: that one, and not a mixture of it with this one.

Numba takes a processor's name from NUMBA_CPU_NAME and what it can do from NUMBA_CPU_FEATURES. Given the name alone, it
adds all that this machine can do; so code "for x86-64" would have AVX2 in it, where there is AVX2. Importing this gives
a processor that is named alone nothing but its own features, as Numba itself does for the name "generic". It must come
before Numba compiles anything.

>>> features_of("x86-64", None), features_of("x86-64", "+avx"), features_of(None, None), features_of("host", None)
('', '+avx', None, None)
"""

from __future__ import annotations

from numba import config


def features_of(name: str | None, features: str | None) -> str | None:
    """What Numba is to add to the processor of this name; None stands for what this machine can do."""
    return "" if features is None and name not in (None, "", "host") else features


config.CPU_FEATURES = features_of(config.CPU_NAME, config.CPU_FEATURES)
