"""torch.backends.mps: Apple's GPU is not used.

>>> is_available()
False
"""


def is_available() -> bool:
    """Whether it is used."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether the system is at least that macOS; asked of a machine with Apple's GPU."""
    return False


def is_built() -> bool:
    """Whether tensors can be on it."""
    return False
