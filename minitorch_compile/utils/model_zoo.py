"""torch.utils.model_zoo: the older name of torch.hub's loader.

>>> load_url.__name__
'load_state_dict_from_url'
"""

from minitorch_compile.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
