"""The coefficients in vecmath are the ones that the tool makes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from minitorch_compile.inductor.kernels.vecmath import error_functions, float32, float64

TOOL = Path(__file__).parents[2] / "tools" / "fit_polynomials.py"
_spec = importlib.util.spec_from_file_location("fit_polynomials", TOOL)
fit_polynomials = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fit_polynomials)


ENOUGH = {"QUICK_LOG64": -36, "QUICK_EXP64": -31}  # bits, of what only float32 needs


@pytest.mark.parametrize("name", fit_polynomials.FITS)
def test_the_package_has_the_fitted_coefficients(name):
    module, element = (float32, np.float32) if name.endswith("32") else (float64, np.float64)
    coefficients, error = fit_polynomials.fit(name)
    used = vars(module).get(name[:-2]) or getattr(error_functions, name[:-2])
    if name == "LOG_TAIL64":  # its first coefficient, 2/3, is carried in two parts
        coefficients = coefficients[1:]
    assert [element(c) for c in coefficients] == [element(c) for c in used]
    assert error < ENOUGH.get(name, -25 if name.endswith("32") else -54)
