"""Which nodes of the recorded graph a walk from some results comes to, and which of them lead to given inputs.

>>> from minitorch_compile.autograd.edges import gradient_edge
>>> from minitorch_compile.tensor import tensor
>>> x, y = tensor(3.0, requires_grad=True), tensor(2.0, requires_grad=True)
>>> root, target = gradient_edge(x * 2 + y.sin()), gradient_edge(y)[0]
>>> len(below([root])), len(leading_to([root], {target}))
(5, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from minitorch_compile.autograd.node import Edge, Node


def below(roots: Sequence[Edge]) -> set[Node]:
    """The nodes that can be reached from the roots, with the roots."""
    found = {node for node, _ in roots if node is not None}
    unseen = list(found)
    while unseen:
        for node, _ in unseen.pop().next_functions:
            if node is not None and node not in found:
                found.add(node)
                unseen.append(node)
    return found


def leading_to(roots: Sequence[Edge], targets: set[Any]) -> set[Node]:
    """The nodes below the roots from which a target can be reached, with the targets themselves."""
    needed: set[Node] = set()
    for node in sorted(below(roots), key=attrgetter("number")):  # inputs first
        if node in targets or not needed.isdisjoint([target for target, _ in node.next_functions]):
            needed.add(node)
    return needed
