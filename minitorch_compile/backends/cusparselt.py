"""torch.backends.cusparselt: NVIDIA's library for matrices half of which is zero, which is not called here.

>>> is_available()
False
"""


def is_available() -> bool:
    """Whether it is called."""
    return False
