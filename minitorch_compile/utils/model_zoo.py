"""torch.utils.model_zoo: the older name of torch.hub's loader.

>>> load_url.__name__
'load_state_dict_from_url'
"""

from typing import Any

from minitorch_compile import hub
from minitorch_compile.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]


def __getattr__(name: str) -> Any:
    """`tqdm` and the rest, as the hub has them."""
    return getattr(hub, name)
