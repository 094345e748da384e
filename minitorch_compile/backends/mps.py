"""torch.backends.mps: Apple's GPU is not used.

>>> is_available()
False
"""


def is_available() -> bool:
    """Whether it is used."""
    return False


def is_built() -> bool:
    """Whether tensors can be on it."""
    return False
