"""A module in a notebook: a tree that folds, with the sizes and the number of the parameters.

>>> from minitorch_compile import nn
>>> page = to_html(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
>>> "<b>Sequential</b> 8 parameters" in page, "weight [2, 3], bias [2]" in page
(True, True)

The text of `print(module)` stays PyTorch's.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minitorch_compile.nn.module import Module

FOLD_FROM = 12  # a module with more children than this is shown folded
STYLE = "margin-left:1.2em;font-family:monospace"


def to_html(module: Module, name: str = "") -> str:
    """The module as nested <details>; a leaf is one line."""
    label = f"({escape(name)}): " if name else ""
    title = f"{label}<b>{escape(module._get_name())}</b>"
    children = [(child_name, child) for child_name, child in module.named_children()]
    if not children:
        return f'<div style="{STYLE}">{title}({escape(module.extra_repr())}) {own_tensors(module)}</div>'
    inside = "".join(to_html(child, child_name) for child_name, child in children)
    total = sum(parameter.numel() for parameter in module.parameters())
    state = "" if len(children) > FOLD_FROM else " open"
    return (
        f'<details{state} style="{STYLE}"><summary>{title} {total:,} parameters {own_tensors(module)}</summary>'
        f"{inside}</details>"
    )


def own_tensors(module: Module) -> str:
    """The parameters and buffers that the module itself holds, with their sizes."""
    found = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
    texts = [f"{name} {list(value.shape)}" + ("" if value.requires_grad else " fixed") for name, value in found]
    return f"<small>{escape(', '.join(texts))}</small>" if texts else ""
