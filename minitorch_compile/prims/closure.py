"""The whole set of public ops, and what it comes down to: `print(prims.closure())`.

Every public op is called once, on fake tensors (`example_calls.txt`), and followed down to prims. So one sees that the
set is closed (nothing is left that is not a prim, but for ops with a reason), which prims carry most of the library,
and which only one op needs.

>>> from minitorch_compile import prims
>>> print(prims.closure("softmax"))     # one op, as a tree
softmax
├─ amax
│  ├─ prims.amax
│  └─ prims.reshape
├─ sub
...
>>> everything = prims.closure()
>>> everything.ops_by_prim["amax"] > 10, everything.missing_prims
(True, [])
>>> prims.closure(family="scan").deepest(2)
[('cummax', 2), ('cummin', 2)]

A *family* is a file of `tensor/ops`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from minitorch_compile.fx.dot import KINDS, Drawing
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.fx.kinds import kind_of_target
from minitorch_compile.prims.example_calls import example, example_calls, known_name, parts
from minitorch_compile.prims.prim import table
from minitorch_compile.prims.reduction_tree import Reduction, tree_of
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.tensor_base import FakeDataError

WIDTH = 110
MOST_OPS_DRAWN = 24
ARROW_SHARE = 0.25  # arrows between sorts stand for at least this share of the ops that they come from


@dataclass(frozen=True)
class Closure:
    """What a number of ops come down to. `needs_data`: ops that can't be followed without numbers."""

    reductions: dict[str, Reduction]
    needs_data: list[str]

    @property
    def ops_by_prim(self) -> Counter[str]:
        """For each prim, how many of the ops come down to it."""
        return Counter(name for reduction in self.reductions.values() for name in reduction.prims)

    @property
    def missing_prims(self) -> list[str]:
        """What is left that is neither a prim nor refused with a reason: nothing."""
        return sorted({leaf.name for r in self.reductions.values() for leaf in _leaves(r) if leaf.name not in table})

    @property
    def unused_prims(self) -> list[str]:
        """Prims that none of the ops needs."""
        return [name for name in table if name not in self.ops_by_prim]

    @property
    def refused(self) -> dict[str, str]:
        """The ops that stay as they are, wherever they occur, and why."""
        return {name: why for reduction in self.reductions.values() for name, why in reduction.refused.items()}

    @property
    def families(self) -> dict[str, list[str]]:
        """The ops by the file they are declared in."""
        found: dict[str, list[str]] = {}
        for name in self.reductions:
            found.setdefault(family_of(name), []).append(name)
        return dict(sorted(found.items()))

    def deepest(self, count: int = 10) -> list[tuple[str, int]]:
        """The ops with the most decompositions between them and the prims."""
        depths = ((name, reduction.depth) for name, reduction in self.reductions.items())
        return sorted(depths, key=lambda item: -item[1])[:count]

    # ------------------------------------------------------------------------------------------ as text

    def __str__(self) -> str:
        used = self.ops_by_prim
        return "\n".join(
            [
                f"{len(self.reductions)} public ops come down to {len(used)} prims; {len(table)} prims there are.",
                "",
                "family                    ops  prims  depth  what they need most",
                *self._family_lines(),
                "",
                "how many ops come down to each prim:",
                *_wrapped(f"{name} {count}" for name, count in used.most_common()),
                f"prims that none of these ops needs: {', '.join(self.unused_prims) or 'none'}",
                "the most decompositions, one below the other: "
                + ", ".join(f"{name} {depth}" for name, depth in self.deepest(8)),
                "",
                "stay as they are:",
                *(f"  {name}: {why}" for name, why in sorted(self.refused.items())),
                "can't be followed without data:",
                *_wrapped(self.needs_data),
            ]
        )

    def _family_lines(self) -> Iterator[str]:
        for family, names in self.families.items():
            members = [self.reductions[name] for name in names]
            needed = Counter(name for member in members for name in member.prims)
            most = ", ".join(name for name, _ in needed.most_common(5))
            depth = max(member.depth for member in members)
            yield f"{family:24} {len(names):4}  {len(needed):5}  {depth:5}  {most}"

    # ------------------------------------------------------------------------------------------ as a drawing

    def draw(self) -> GraphView:
        """Ops on the left, the prims that they need on the right.

        Many ops are drawn as their sorts: each arrow says how many ops of a sort need a prim of a sort, and only the
        thick ones are drawn, and the thickest to each sort of prims.
        """
        drawing = Drawing(f"{len(self.reductions)} ops, {len(self.ops_by_prim)} prims", "LR")
        (self._draw_ops if len(self.reductions) <= MOST_OPS_DRAWN else self._draw_sorts)(drawing)
        return drawing.view()

    def _draw_ops(self, drawing: Drawing) -> None:
        for name in self.reductions:
            drawing.add_node(f"op {name}", name, kind_of_target(ops.table[name]))
        for name, count in self.ops_by_prim.most_common():
            text = f"prims.{name}\nneeded by {count}"
            drawing.add_node(f"prim {name}", text, kind_of_target(table[name]), table[name].__doc__ or "")
        for op, reduction in self.reductions.items():
            for name in reduction.prims:
                drawing.add_edge(f"op {op}", f"prim {name}")

    def _draw_sorts(self, drawing: Drawing) -> None:
        sorts = self._ops_by_sort()
        for sort, names in sorts.items():
            drawing.add_node(f"ops {sort}", f"{KINDS[sort].text}\n{len(names)} ops", sort, ", ".join(names))
        for kind, prims in self._prims_by_kind().items():
            listed = "\n".join(_wrapped([f"{name} {self.ops_by_prim[name]}" for name in prims], 46))
            drawing.add_node(f"prims {kind}", f"{kind}\n{listed}", kind_of_target(table[prims[0]]))
            needs = {sort: sum(map(self._needs_one_of(prims), names)) for sort, names in sorts.items()}
            thickest = max(needs, key=lambda sort: needs[sort])
            for sort, count in needs.items():
                if sort == thickest or count > ARROW_SHARE * len(sorts[sort]):
                    drawing.add_edge(f"ops {sort}", f"prims {kind}", str(count))

    def _needs_one_of(self, prims: list[str]) -> Callable[[str], bool]:
        return lambda name: any(prim in self.reductions[name].prims for prim in prims)

    def _ops_by_sort(self) -> dict[str, list[str]]:
        """The ops by the colour that drawings give them."""
        found: dict[str, list[str]] = {}
        for name in self.reductions:
            found.setdefault(kind_of_target(ops.table[name]), []).append(name)
        return found

    def _prims_by_kind(self) -> dict[str, list[str]]:
        """The prims that are needed, by their kind; the most needed first."""
        found: dict[str, list[str]] = {}
        for name, _ in self.ops_by_prim.most_common():
            found.setdefault(table[name].kind, []).append(name)
        return found


def closure(name: str | None = None, *, family: str | None = None) -> Closure | Reduction:
    """How public ops come down to prims: all, those of a family, or one op (as a tree). `str()` and `.draw()` show it.

    name: a public op as the op table names it: "softmax", "F.gelu", "linalg_inv".
    family: a file of tensor/ops: "scan", "activation", "linear_algebra".
    TypeError for what is not a name, ValueError for a name or family that there isn't.
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(f"closure: name must be a str such as 'softmax', but got {name!r}")
    if name is not None:
        return _reduction_of(known_name(name))
    everything = _closure_of_all()
    if family is None:
        return everything
    if family not in everything.families:
        raise ValueError(f"closure: no family is named {family!r}; there are {', '.join(everything.families)}")
    members = everything.families[family]
    of_family = [op for op in everything.needs_data if family_of(op) == family]
    return Closure({op: everything.reductions[op] for op in members}, of_family)


@cache
def _closure_of_all() -> Closure:
    reductions: dict[str, Reduction] = {}
    needs_data: list[str] = []
    for name in example_calls():
        try:
            reductions[name] = _reduction_of(name)
        except FakeDataError:
            needs_data.append(name)
    return Closure(reductions, needs_data)


def _reduction_of(name: str) -> Reduction:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the examples' arguments
        function, args, kwargs = parts(example(name))
        return tree_of(function, *args, name=name, **kwargs)


def family_of(name: str) -> str:
    """The file that the op is declared in."""
    return str(ops.table[name].__module__).rpartition(".")[2]


def _leaves(reduction: Reduction) -> Iterator[Reduction]:
    """What is left: the ends of the tree, but for ops with a reason and ops that compute nothing."""
    for part in reduction.below:
        if part.below:
            yield from _leaves(part)
        elif not part.reason and part.op is not None and part.op.name in table:
            yield part


def _wrapped(items: Iterator[str] | list[str], width: int = WIDTH) -> list[str]:
    """The items with commas, in lines of at most that many characters."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > width:
            lines.append("")
        lines[-1] += f"{item}, "
    return [line.rstrip(", ") for line in lines]
