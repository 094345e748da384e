"""Writes docs/spine.md: the files that a program without special cases passes through, and who else came along.

python tools/spine.py             write the page
python tools/spine.py --check     fail if the page tells of other files than those that are entered now
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "minitorch_compile"
PAGE = ROOT / "docs" / "spine.md"

# In the order in which a program meets them: (file, what happens there).
SPINE = (
    ("tensor/memory/strides.py", "Sizes and strides answer what broadcasting and contiguity mean."),
    (
        "tensor/dispatch/dispatch.py",
        "Each op goes through this door: transforms, the tape, modes, then the kernel.",
    ),
    ("tensor/dispatch/op.py", "An op has a name, a kernel and a rule for the shape of its result."),
    ("autograd/engine.py", "The engine walks the recorded graph backwards and adds gradients up."),
    ("dynamo/execution/interpreter.py", "The interpreter has a handler for each bytecode instruction."),
    ("dynamo/execution/hooks.py", "The handlers ask these hooks what an operation on their values means."),
    ("dynamo/capture/symbolic.py", "While tracing, the hooks answer with trackers instead of values."),
    ("dynamo/variables/tensors/tensor.py", "The tracker of a tensor adds a node to the graph for each operation."),
    ("dynamo/capture/output_graph.py", "The graph, its inputs and what the frame changed are collected here."),
    ("dynamo/guards/guards.py", "What tracing has read becomes a guard: a condition for using the result again."),
    (
        "dynamo/compile_frame.py",
        "A frame is traced, its graph compiled, and the function that runs instead is written.",
    ),
    ("aot/functionalize.py", "Writes into tensors become new tensors, written back at the end."),
    ("aot/joint_graph.py", "The forward pass and its gradients are traced into one graph."),
    (
        "aot/partitioning/partition.py",
        "The joint graph is cut in two; what the backward half needs is returned by the forward half.",
    ),
    ("prims/decomposer.py", "Ops are rewritten until only prims of the closed set are left."),
    (
        "inductor/lowering/graph_lowering.py",
        "Each prim becomes a box: how an element is computed, not yet where it lies.",
    ),
    ("inductor/ir/loops.py", "Boxes that need memory become loops that fill buffers."),
    (
        "inductor/schedule/scheduler.py",
        "Loops over the same memory are fused into groups, and the groups put in order.",
    ),
    ("inductor/codegen/shared/emit.py", "Running a loop body under this handler writes the lines of its kernel."),
    ("inductor/runtime/native_call.py", "The kernels of a graph, compiled, are one native call."),
)

WHERE = (
    (
        "an op",
        "the file of its family in `tensor/ops/`; its gradient in that of `autograd/derivatives/`, its decomposition in"
        " that of `prims/decompositions/`; one that is written in other ops (`@composite`) needs only the first",
    ),
    (
        "a guard",
        "`value_guards.py`, `content_guards.py`, `tensor_guards.py` or `class_guards.py` in `dynamo/guards/`, a"
        " function that makes it; the tracker that reads the value, in `dynamo/variables/`, calls"
        " `output.guards.add` with it",
    ),
    (
        "a pass",
        "a file in `aot/passes/` with a function that returns a new graph, or the one it got as it was, and its line"
        " in `aot/passes/pass_list.py`; `register_pass` adds one from a program",
    ),
    (
        "a lowering",
        "a rule from boxes to a box in `inductor/lowering/`, under `@lowering(prim)`; a new prim is declared in"
        " `prims/` and used in `prims/decompositions/`; a prim on elements needs no rule, only a function in"
        " `inductor/kernels/portable_functions.py`, with which all targets compute it",
    ),
    (
        "a target",
        "a class and its entry in `TARGETS`, in `inductor/targets.py`, with a writer in `inductor/codegen/` if it"
        " writes source; a line at the end of `compiler/pipeline.py` makes it a backend",
    ),
    (
        "a lesson",
        "`authoring/lessons/NN_name.py`, `authoring/exercises/NN_name.py`, the checks of its exercises in"
        " `authoring/checks/lesson_NN_name.py` (or a package of that name);"
        " `tools/build_course.py NN` builds its notebooks",
    ),
)

# Run in a process of its own, with an empty cache: the lines of the package that one program enters.
FOLLOWED = """
import json, sys, threading
import minitorch_compile as torch

package, lines = {package!r}, {{}}

def on_line(frame, event, argument):
    if event == "line":
        lines[frame.f_code.co_filename].add(frame.f_lineno)
    return on_line

def on_call(frame, event, argument):
    if frame.f_code.co_filename.startswith(package):
        lines.setdefault(frame.f_code.co_filename, set())
        return on_line

f, x = torch.compile(lambda x: (x + 1).relu()), torch.ones(4, requires_grad={training})
threading.settrace(on_call); sys.settrace(on_call)
y = f(x)
if {training}:
    y.sum().backward()
sys.settrace(None); threading.settrace(None)
assert y.tolist() == [2.0] * 4
print(json.dumps({{file: len(entered) for file, entered in lines.items()}}))
"""


@dataclass(frozen=True)
class Walk:
    """Which files of the package a program entered, and how many different lines of each were run."""

    lines: dict[str, int]

    @property
    def newcomers(self) -> list[str]:
        """Files that were entered and are not of the spine."""
        return sorted(set(self.lines) - {file for file, _ in SPINE})


def follow(training: bool) -> Walk:
    """The first call of the compiled lambda, with an empty cache; `training`: with gradients, and backward()."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "MTC_CACHE_DIR": cache, "MTC_COMPILE_THREADS": "1", "PYTHONPATH": str(ROOT)}
        program = FOLLOWED.format(package=f"{PACKAGE}{os.sep}", training=training)
        command = [sys.executable, "-c", program]
        result = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
    counts = json.loads(result.stdout)
    return Walk({Path(file).relative_to(PACKAGE).as_posix(): lines for file, lines in counts.items()})


def length(file: str) -> int:
    return len((PACKAGE / file).read_text(encoding="utf-8").splitlines())


def page(call: Walk, training: Walk) -> str:
    """The text of docs/spine.md."""
    rows = [
        f"| {number} | [`{file}`](../minitorch_compile/{file}) | {sentence} | {length(file)} "
        f"| {call.lines.get(file, 0)} | {training.lines.get(file, 0)} |"
        for number, (file, sentence) in enumerate(SPINE, 1)
    ]
    total = sum(length(file) for file, _ in SPINE)
    others = "\n".join(f"- `{file}`" for file in call.newcomers)
    where = "\n".join(f"| {what} | {place} |" for what, place in WHERE)
    return f"""# The spine

`torch.compile(lambda x: (x + 1).relu())(x)` passes through these {len(SPINE)} files, in this order.
Together they are {total} lines: who has read them knows how the compiler works.
All else serves programs that need more.

The page is written by `python tools/spine.py`, which follows the first call of that function with an empty cache.
The last columns count the lines of a file that it ran: in a call, and in a call with gradients and `backward()`.
(Of the hooks it runs none: they are what `symbolic.py` fills in.)

| | file | what happens there | lines | run by a call | and backward |
|-:|---|---|-:|-:|-:|
{chr(10).join(rows)}

## Where to add

| what | where |
|---|---|
{where}

[CONTRIBUTING.md](../CONTRIBUTING.md) shows each of them step by step.

## Who else came along

The call entered {len(call.lines)} files of the package, the spine's among them; most others answer that they have
nothing to do. These are they; a test names whoever is new.

{others}
"""


def entered_before() -> set[str]:
    """The files that the page tells of."""
    text = PAGE.read_text(encoding="utf-8")
    rest = {line[3:-1] for line in text.splitlines() if line.startswith("- `")}
    return rest | {file for file, _ in SPINE}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    if parser.parse_args().check:
        if new := set(follow(training=False).lines) - entered_before():
            sys.exit(f"A lambda's first call enters files that docs/spine.md doesn't name: {', '.join(sorted(new))}.")
        return
    PAGE.write_text(page(follow(training=False), follow(training=True)), encoding="utf-8")


if __name__ == "__main__":
    main()
