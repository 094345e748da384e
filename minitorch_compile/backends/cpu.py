"""torch.backends.cpu: which vector instructions the processor has.

>>> get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
True
"""

import importlib

FEATURES: dict[str, bool] = importlib.import_module("numpy._core._multiarray_umath").__cpu_features__  # asked by NumPy

# What PyTorch asks of a processor before it speaks of a capability.
CAPABILITIES = {
    "AVX512": ("AVX512F", "AVX512BW", "AVX512VL", "AVX512DQ", "FMA3"),
    "AVX2": ("AVX2", "FMA3"),
}


def get_cpu_capability() -> str:
    """ "AVX512", "AVX2", or "DEFAULT" for all others."""
    for name, needed in CAPABILITIES.items():
        if all(FEATURES.get(each, False) for each in needed):
            return name
    return "DEFAULT"
