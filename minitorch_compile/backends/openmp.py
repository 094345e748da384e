"""torch.backends.openmp: OpenMP is not used.

>>> is_available()
False
"""


def is_available() -> bool:
    """Whether it is used."""
    return False
