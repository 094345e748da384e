"""Options about graph passes: what `compile(options={...})` accepts besides the kernel generator's.

>>> import minitorch_compile as torch
>>> def without_relu(graph):
...     for node in graph.nodes:
...         if getattr(node.target, "name", "") == "relu":
...             node.replace_all_uses_with(node.args[0])
>>> f = torch.compile(lambda x: x.relu() * 2, options={"joint_custom_pre_pass": without_relu})
>>> f(torch.tensor([-1.0, 1.0])).tolist()
[-2.0, 2.0]

They are options of `config`, set while this function is compiled. `freezing` is described in freezing.py. The names are
those of PyTorch's `torch._inductor.config`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minitorch_compile import config
from minitorch_compile.aot import lookup_partitioner

PASS_OPTIONS = (
    "disabled_passes",
    "freezing",
    "joint_custom_post_pass",
    "joint_custom_pre_pass",
    "partitioner",
    "post_grad_custom_post_pass",
    "post_grad_custom_pre_pass",
    "verify_passes",
)


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options about passes, checked, and the others. TypeError for a value of another type."""
    chosen = {name: value for name, value in options.items() if name in PASS_OPTIONS}
    with config.patch(chosen):  # setting one checks its value
        lookup_partitioner(config.partitioner)
    return chosen, {name: value for name, value in options.items() if name not in PASS_OPTIONS}
