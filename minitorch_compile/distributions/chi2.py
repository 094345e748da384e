"""PyTorch's place for the chi-squared distribution, which is a gamma distribution.

>>> Chi2(3.0).mean
tensor(3.)
"""

from minitorch_compile.distributions.gamma import Chi2

__all__ = ["Chi2"]
