"""What the elementary functions are, in NumPy and SciPy: at higher precision they are the oracle for `vecmath`."""

import numpy as np
from scipy import special


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


REFERENCES = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh, "sigmoid": sigmoid,
    "sin": np.sin, "cos": np.cos, "erf": special.erf, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
ONLY_FLOAT32 = {"erfc": special.erfc, "erf_inv": special.erfinv}
