"""torch.distributed of a PyTorch that was built without it: is_available() is False, and nothing else is there.

Programs ask before they use it, and go on alone.

>>> is_available() and is_initialized()
False
"""


def is_available() -> bool:
    """Whether processes can work on one model together: no."""
    return False


def is_initialized() -> bool:
    """Whether a group of processes was set up: no."""
    return False
