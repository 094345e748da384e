"""Which parts of a module FullyShardedDataParallel would hold on their own.

>>> ModuleWrapPolicy([int])
Traceback (most recent call last):
NotImplementedError: ModuleWrapPolicy: processes can't work together here; with one, leave it out, ...
"""

from typing import Any, NoReturn

from minitorch_compile.distributed.across_processes import refuse


class CustomPolicy:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self, lambda_fn: Any) -> None:
        refuse("CustomPolicy")


class ModuleWrapPolicy:
    """NotImplementedError: it needs several processes. Nothing is an instance of it."""

    def __init__(self, module_classes: Any) -> None:
        refuse("ModuleWrapPolicy")


def always_wrap_policy(*args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("always_wrap_policy")


def _or_policy(*args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("_or_policy")


def enable_wrap(*, wrapper_cls: Any, **wrapper_kwargs: Any) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("enable_wrap")


def lambda_auto_wrap_policy(module: Any, recurse: Any, nonwrapped_numel: Any, lambda_fn: Any) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("lambda_auto_wrap_policy")


def size_based_auto_wrap_policy(
    module: Any,
    recurse: Any,
    nonwrapped_numel: Any,
    min_num_params: Any = 100000000,
    force_leaf_modules: Any = None,
    exclude_wrap_modules: Any = None,
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("size_based_auto_wrap_policy")


def transformer_auto_wrap_policy(
    module: Any, recurse: Any, nonwrapped_numel: Any, transformer_layer_cls: Any
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("transformer_auto_wrap_policy")


def wrap(module: Any, **wrap_overrides: Any) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("wrap")
