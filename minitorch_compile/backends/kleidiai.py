"""torch.backends.kleidiai: Arm's kernels for small numbers, which are not called here.

>>> is_available()
False
"""


def is_available() -> bool:
    """Whether it is called."""
    return False
