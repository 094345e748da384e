"""Lists and dicts that refuse to change, under PyTorch's names: what the arguments of nodes are made of.

>>> immutable_list([1, 2]).append(3)
Traceback (most recent call last):
TypeError: 'immutable_list' object does not support mutation. If you are attempting to modify the kwargs or args of a
torch.fx.Node object, instead create a new copy of it and assign the copy to the node: new_args = ... ; node.args =
new_args
"""

from minitorch_compile.fx.arguments import immutable_dict, immutable_list
from minitorch_compile.pytree import register_pytree_node

register_pytree_node(
    immutable_list, lambda items: (list(items), None), lambda children, context: immutable_list(children)
)
register_pytree_node(
    immutable_dict,
    lambda items: (list(items.values()), list(items)),
    lambda children, context: immutable_dict(zip(context, children)),
)

__all__ = ["immutable_dict", "immutable_list"]
