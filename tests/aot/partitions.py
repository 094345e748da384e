"""Both partitioners on all models of tests/models: equal gradients, and what each saves.

    python -m tests.aot.partitions            # all of them, on graphs of ops and of prims
    python -m tests.aot.partitions gpt vit    # some

Each model makes two training steps with each partitioner; the gradients have to agree. The table has the bytes that are
saved for the first backward pass of each graph, added up, without arguments of the graph, which are in memory anyway.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from minitorch_compile import as_torch
from minitorch_compile.aot import JointGraph, Partition, aot_function, interpret
from minitorch_compile.aot.partitioning.partitioners import PARTITIONERS
from minitorch_compile.prims import beyond_prims, decompose
from tests.as_torch.measure import model_files
from tests.compiler.test_model_families import differences, trained

LEVELS = {"ops": None, "prims": lambda graph: decompose(graph, keep=beyond_prims)}


def train(file: Path, partitioner: str, level: str) -> tuple[dict[str, np.ndarray], int]:
    """The gradients of two training steps, and the bytes of intermediate values that were saved."""
    saved = 0

    def partition(joint: JointGraph) -> Partition:
        nonlocal saved
        made = PARTITIONERS[partitioner](joint)
        saved += made.report.bytes - made.report.argument_bytes
        return made

    def backend(graph: Any, inputs: Any) -> Any:
        return aot_function(graph, inputs, interpret, None, partition, LEVELS[level])

    with as_torch.installed():
        import torch

        with torch._dynamo.config.patch(recompile_limit=100):
            return trained(file, torch, backend)["gradients"], saved


def compare(file: Path, level: str) -> tuple[list[str], int, int]:
    """The names of gradients that differ, and the bytes that `default` and `min_cut` save."""
    (expected, before), (came, after) = (train(file, name, level) for name in ("default", "min_cut"))
    largest = max((abs(x).max(initial=0) for x in expected.values()), default=0)
    return differences(came, expected, 1e-6 * largest), before, after


def main(names: list[str]) -> int:
    """Prints the table. The number of models that differ."""
    failed = 0
    print(f"{'model':24}{'level':8}{'default':>14}{'min_cut':>14}{'share':>8}")
    for file in model_files():
        for level in LEVELS if not names or file.stem in names else ():
            different, before, after = compare(file, level)
            failed += bool(different)
            share = f"{100 * after / before:.0f}%" if before else "-"
            print(
                f"{file.stem:24}{level:8}{before:14,}{after:14,}{share:>8}", "DIFFERS:" if different else "", *different
            )
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
