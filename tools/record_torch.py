"""Records what PyTorch makes of the lessons' own functions: authoring/recorded/NN_name.txt.

Run it with a Python that has torch and a C++ compiler. The definitions are cut out of the lessons' sources and run with
the real `torch` under the name that the lesson uses; `tests/course/test_recorded.py` compares them with the lessons.
What differs from machine to machine (paths, addresses, hashes) is replaced, and a text that is too long is cut in the
way that its file tells.

    python tools/record_torch.py             # all
    python tools/record_torch.py 05_guards   # only this one
"""

from __future__ import annotations

import ast
import linecache
import logging
import os
import platform
import re
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "authoring" / "recorded"
LINES = 80  # at most, in a file
Space = dict[str, Any]  # the names that the lesson's definitions have made
Texts = dict[str, str]  # by heading


class Recording(NamedTuple):
    """What is recorded: the names of the lesson's definitions, and who makes texts of them."""

    definitions: tuple[str, ...]
    record: Callable[[Space], Texts]
    cut: str = ""  # what was left out, in words


RECORDINGS: dict[str, Recording] = {}


def records(name: str, *definitions: str, cut: str = "") -> Callable[[Callable[[Space], Texts]], None]:
    def enter(record: Callable[[Space], Texts]) -> None:
        RECORDINGS[name] = Recording(definitions, record, cut)

    return enter


# --- the lessons' definitions
# ----------------------------------------------------------------------------------------------------


def definitions(lesson: str, names: tuple[str, ...]) -> dict[str, str]:
    """The text of each definition in the lesson's source: a class or function, else an assignment; the last one."""
    (path,) = (ROOT / "authoring" / "lessons").glob(f"{lesson}_*.py")
    source = path.read_text(encoding="utf-8")
    statements = sorted(ast.parse(source).body, key=lambda node: not isinstance(node, ast.Assign))
    found = {name: ast.get_source_segment(source, node) for node in statements for name in made_by(node)}
    missing = [name for name in names if name not in found]
    if missing:
        raise LookupError(f"lesson {lesson} doesn't define {', '.join(missing)}")
    return {name: str(found[name]) for name in names}


def made_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    return (
        [target.id for target in node.targets if isinstance(target, ast.Name)] if isinstance(node, ast.Assign) else []
    )


def run(lesson: str, source: str) -> Space:
    """Run the definitions as a file of their own, whose lines PyTorch can quote."""
    import torch

    filename = f"lesson_{lesson}.py"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    space = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "Path": Path, "__name__": f"lesson_{lesson}"}
    exec(compile(source, filename, "exec"), space)
    return space


# --- looking at PyTorch
# ----------------------------------------------------------------------------------------------------------


@contextmanager
def logged(artifact: str) -> Iterator[list[str]]:
    """What PyTorch writes to a log artifact (the names of TORCH_LOGS)."""
    import torch
    import torch._inductor.compile_fx  # whose loggers exist once they are imported

    messages: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    torch._dynamo.reset()
    torch._logging.set_logs(**{artifact: True})
    handler = Keep()
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.endswith(f"__{artifact}")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
        logger.handlers = [handler]
    yield messages
    torch._logging.set_logs()


def captured(function: Any, *args: Any) -> list[Any]:
    """The graphs that Dynamo hands to the backend."""
    import torch

    graphs = []

    def keep(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module.forward

    torch._dynamo.reset()
    torch.compile(function, backend=keep)(*args)
    return graphs


GRAPH_CUT = "comments, lines that only rename or delete a value, and indentation"


def readable(module: Any) -> str:
    """A graph as PyTorch prints it, an input a line, without what GRAPH_CUT says."""
    signature, *lines = module.print_readable(print_output=False).replace("class GraphModule", "").splitlines()[1:]
    lines = [re.sub(r";  (\w+ = )+None.*$", "", line).strip() for line in lines]
    kept = [
        line for line in lines if line and not line.startswith("#") and not re.fullmatch(r"(l_\w+) = (?i:\1)", line)
    ]
    return "\n".join([signature.strip().replace("(self, ", "(self,\n    ").replace(", L_", ",\n    L_"), *kept])


def forward_and_backward(function: Any, *args: Any, decompositions: Any = None) -> Texts:
    """The two graphs of AOTAutograd, cut by the minimum cut as `torch.compile` does."""
    import torch
    from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    found: Texts = {}

    def keep(heading: str) -> Any:
        def compiler(module: Any, inputs: Any) -> Any:
            found[heading] = readable(module)
            return make_boxed_func(module.forward)

        return compiler

    torch._dynamo.reset()
    both = {"fw_compiler": keep("the forward graph"), "bw_compiler": keep("the backward graph")}
    backend = aot_autograd(**both, partition_fn=min_cut_rematerialization_partition, decompositions=decompositions)
    result = torch.compile(function, backend=backend)(*args)
    if result.requires_grad:
        result.sum().backward()
    return found


def output_code(function: Any, *args: Any) -> str:
    """What Inductor writes: one file of Python, with C++ kernels in strings."""
    import torch
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    _, (code, *_) = run_and_get_code(torch.compile(function), *args)
    return str(code)


def all_output_codes(step: Callable[[], Any]) -> list[str]:
    """What Inductor writes while `step` runs, for each graph a file."""
    import torch
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    return [str(code) for code in run_and_get_code(step)[1]]


def without_machine(text: str) -> str:
    """The text without what another machine or another run would say."""
    text = re.sub(r"0x[0-9a-f]{4,}", "0x...", text)
    text = re.sub(r"(?<![.\w])\d{12,}\b", "...", text)  # ids of objects
    text = re.sub(r'"/[^"]*/', '"', text)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip("\n")


def between(text: str, first: str, last: str) -> str:
    """From the line that has `first` to the one before that which has `last`."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if first in line)
    end = next((n for n in range(start + 1, len(lines)) if last in lines[n]), len(lines))
    return "\n".join(lines[start:end])


# --- the recordings
# --------------------------------------------------------------------------------------------------------------


@records("00_graph", "MLP", cut=GRAPH_CUT)
def _(space: Space) -> Texts:
    import torch

    (graph,) = captured(space["MLP"](), torch.ones(32, 1, 8, 8))
    return {"the graph that Dynamo captures": readable(graph)}


@records("00_lines", "lines_of")
def _(space: Space) -> Texts:
    import torch

    package = Path(torch.__file__).parent
    names = ("_dynamo", "_functorch", "_subclasses", "_prims", "_refs", "_decomp", "_inductor", "fx")
    floors = {name: space["lines_of"](package / name) for name in names}
    floors["all"] = sum(floors.values())
    return {"lines of Python": "\n".join(f"{name:<13}{count:>8,}" for name, count in floors.items())}


@records("03_trace", "discount", cut="of values that were not looked at yet, all but the class")
def _(space: Space) -> Texts:
    import torch

    with logged("trace_bytecode") as steps:
        torch.compile(space["discount"], backend="eager")(torch.tensor(80.0), 25)
    short = re.sub(
        r"LazyVariableTracker\((?:un)?realized: (?:<class '([\w.]+)'>|(\w+)\(\))\)", r"\1\2", "\n".join(steps)
    )
    return {"the log of its steps: instruction, operand, the stack before it": short.replace("TRACE ", "")}


@records("04_graph", "Layer", "model", cut=GRAPH_CUT)
def _(space: Space) -> Texts:
    import torch

    (graph,) = captured(space["model"], torch.ones(2, 4), [torch.ones(4, 4), torch.ones(4, 3)])
    return {"the graph that Dynamo captures": readable(graph)}


@records("05_guards", "scale", "Config", "plain", cut="how each value is reached, and the line that asked for it")
def _(space: Space) -> Texts:
    import torch

    with logged("guards") as messages:
        torch.compile(space["plain"], backend="eager")(torch.tensor([1.0, 2.0]), space["Config"](), True)
    lines = "\n".join(messages).partition("+- ")[2].partition("\n\n")[0].splitlines()
    return {"the tree of guards": "\n".join(map(one_guard, lines))}


def one_guard(line: str) -> str:
    line = re.sub(r", (?:accessed_by|type)=.*|  +# .*|,[^,]*allow_fp16.*|\(HINT.*", "", line)
    return re.sub(r"\{.*", "{...}", line).replace("| ", "  ").replace("+- ", "")


@records(
    "06_bytecode",
    "report",
    cut="what only orders the stack, the clock around the graph, the pieces after the first",
)
def _(space: Space) -> Texts:
    import torch

    with logged("bytecode") as messages:
        torch.compile(space["report"], backend="eager")(torch.tensor([0.5, 1.0]), [])
    text = "\n".join(messages)
    first = between(text, "MODIFIED BYTECODE report", "BYTECODE torch_dynamo_resume")
    steps = re.findall(r"^ *\d* +(?:>>)? +\d+ ([A-Z_]+)(?: +\d+)?(?: \((.*)\))? *$", first, re.MULTILINE)
    passed_over = re.compile(r"^$|^-?\d$|None|tmp_\d|pregraph|dynamo_dot_utils")
    named = [(name, operand) for name, operand in steps if not passed_over.search(operand)]
    counted = re.compile(r"(?<=compiled_fn)\w+|(?<=builtins_dict_)\w+|(?<=resume_at_\d{3})\w+")
    lines = [f"{name:<18} {counted.sub('', operand)}" for name, operand in named]
    resumes = sorted(set(re.findall(r"torch_dynamo_resume_in_\w+", text)))
    return {
        f"the bytecode that runs instead, {len(steps)} instructions": "\n".join(lines),
        "the functions for the rest": "\n".join(resumes),
    }


@records("07_frames", "size", "rank")
def _(space: Space) -> Texts:
    import torch

    tensors = [torch.tensor([3.0, 4.0]), torch.tensor([1.0, 1.0]), torch.tensor([0.0, 2.0])]
    lines = []
    for graph in captured(space["rank"], tensors):
        nodes = [node for node in graph.graph.nodes if node.op.startswith("call")]
        place = re.findall(r"in (\w+)\n", nodes[0].meta["stack_trace"])
        lines.append(f"{' > '.join(place)}: {' '.join(node.name for node in nodes)}")
    return {"the graphs": "\n".join(lines)}


@records("08_tape", "walked", "numbers", "loss")
def _(space: Space) -> Texts:
    result = space["loss"](space["numbers"].requires_grad_())
    return {"its tape, walked by the same function": "\n".join(space["walked"](result.grad_fn))}


@records("09_graph", "Real", cut=GRAPH_CUT)
def _(space: Space) -> Texts:
    import torch

    (graph,) = captured(space["Real"](), torch.ones(32, 64))
    return {"the graph that Dynamo captures": readable(graph)}


@records("10_vmap", "length", "rows", cut=GRAPH_CUT)
def _(space: Space) -> Texts:
    import torch

    (graph,) = captured(torch.func.vmap(space["length"]), space["rows"])
    return {"the graph that Dynamo captures": readable(graph)}


@records("11_graphs", "bend", cut=GRAPH_CUT)
def _(space: Space) -> Texts:
    import torch

    return forward_and_backward(space["bend"], torch.linspace(-3, 3, 250_000, requires_grad=True))


@records("12_decomposed", "shares", cut=GRAPH_CUT)
def _(space: Space) -> Texts:
    import torch
    from torch._inductor.decomposition import select_decomp_table

    graphs = {
        "kept whole": forward_and_backward(space["shares"], torch.ones(2, 3)),
        "with Inductor's decompositions": forward_and_backward(
            space["shares"], torch.ones(2, 3), decompositions=select_decomp_table()
        ),
    }
    return {heading: texts["the forward graph"] for heading, texts in graphs.items()}


@records("13_loops", "hard_swish", cut="layouts, users, groups, and the lines that fetch an index")
def _(space: Space) -> Texts:
    import torch

    with logged("ir_pre_fusion") as messages:
        torch.compile(space["hard_swish"])(torch.ones(2048, 1024))
    return {"the loop before fusion": loops("\n".join(messages))}


@records("14_schedule", "momentum_step", cut="layouts, users, groups, and the lines that fetch an index")
def _(space: Space) -> Texts:
    import torch

    with logged("ir_post_fusion") as messages:
        torch.compile(space["momentum_step"])(*(torch.ones(1000, 1000) for _ in range(3)))
    return {"the loops after fusion": loops("\n".join(messages))}


def loops(text: str) -> str:
    """Of each node what it is, what it writes and reads, and the body of its loop."""
    wanted = re.compile(r"^ *(\w+: \w+\(|\w+\.(writes|unmet_dependencies|met_dependencies) *=|MemoryDep|class |    )")
    lines = [
        line
        for line in text.splitlines()
        if wanted.match(line) and "Layout" not in line and not re.search(r"NodeUser|users|^ *\]$", line)
    ]
    return "\n".join(line for line in lines if not re.search(r"buf\d: ComputedBuffer|get_index\w* = ", line))


@records("15_kernel", "gelu_like", cut="lines about divisions by zero, the file around the kernel, casts of indices")
def _(space: Space) -> Texts:
    import torch

    code = between(output_code(space["gelu_like"], torch.randn(512, 2048)), "#include", "'" * 3)
    lines = [line for line in code.splitlines() if "integer_div" not in line]
    return {"the kernel, in C++": re.sub(r"static_cast<int64_t>\((\w+)\)", r"\1", "\n".join(lines))}


@records(
    "16_epilogue",
    "finished",
    cut="the checks of sizes, deletions, and the file around; of the kernel, all but its body",
)
def _(space: Space) -> Texts:
    import torch

    code = output_code(space["finished"], torch.randn(8192, 128), torch.randn(512, 128), torch.randn(512))
    body = re.findall(r"^ +(for\(.*|auto .*|tmp\d+\.store.*)$", code, re.MULTILINE)
    return {"the call": call_of(code), "the kernel": re.sub(r"static_cast<int64_t>\((\w+)\)", r"\1", "\n".join(body))}


@records("17_attention", "by_hand", cut="the checks of sizes, deletions, and the file around")
def _(space: Space) -> Texts:
    import torch

    return {"the call": call_of(output_code(space["by_hand"], *(torch.randn(1, 4, 1024, 64) for _ in range(3))))}


@records("18_steps", "readers", "loss_on", cut="the checks of sizes, deletions, and the kernels themselves")
def _(space: Space) -> Texts:
    """One training step of the MLP: its forward graph and its backward graph."""
    import torch

    nn = types.SimpleNamespace(**vars(torch.nn), cross_entropy=space["F"].cross_entropy)
    nn.gelu = lambda x: space["F"].gelu(x, approximate="tanh")
    mlp, _ = space["readers"](nn)
    model, loss_of = mlp(), space["loss_on"](nn)
    images, labels = torch.rand(32, 8, 8), torch.randint(0, 10, (32,))
    codes = all_output_codes(lambda: torch.compile(loss_of)(model, images, labels).backward())
    return {name: steps_of(code) for name, code in zip(("forward", "backward"), codes, strict=True)}


def steps_of(code: str) -> str:
    """The calls in `call`, without the memory that they are given."""
    lines = call_of(code).splitlines()
    return "\n".join(line.strip() for line in lines if re.match(r" *(extern_kernels|cpp_fused)", line))


def call_of(code: str) -> str:
    """What Inductor's function `call` does."""
    lines = between(code, "def call(self", "runner =").splitlines()
    return "\n".join(line[4:] for line in lines if not re.match(r" +(del |assert_|args.clear|#)", line))


@records("19_kernel", "shares", cut="the hints for the compiler, and the file around")
def _(space: Space) -> Texts:
    """Inductor writes Triton for a CPU, too, where it is told to; the package `triton` must be there, and no GPU."""
    import torch
    from torch._inductor import config
    from torch._inductor.graph import GraphLowering

    written: list[str] = []

    def keep(graph: Any) -> Any:
        written.append(str(write(graph)[0].value))
        raise KeyboardInterrupt  # it is written; only a machine with a driver goes on to compile it

    write, GraphLowering.codegen = GraphLowering.codegen, keep
    pretend_to_have_a_target()
    torch._dynamo.reset()
    try:
        with config.patch(cpu_backend="triton", compile_threads=1):
            torch.compile(space["shares"])(torch.randn(4096, 1024))
    except KeyboardInterrupt:
        pass
    finally:
        GraphLowering.codegen = write
    return {"the kernel, in Triton": "@triton.jit\n" + between(written[0], "def triton_per", "'" * 3)}


def pretend_to_have_a_target() -> None:
    """Triton asks its driver for what it writes: the H200's architecture."""
    import triton
    from triton.backends.compiler import GPUTarget

    class Driver:
        def get_current_target(self) -> Any:
            return GPUTarget("cuda", 90, 32)

    triton.runtime.driver.set_active(Driver())


# --- files
# ---------------------------------------------------------------------------------------------------------------------


def text_of(name: str) -> str:
    import torch

    recording = RECORDINGS[name]
    source = "\n\n\n".join(definitions(name[:2], recording.definitions).values())
    texts = recording.record(run(name[:2], source))
    version = torch.__version__.partition("+")[0]
    header = [f"%% PyTorch {version} on a CPU, Python {platform.python_version()}"]
    header += [f"%% left out: {recording.cut}"] if recording.cut else []
    parts = ["\n".join(header), f"%% the lesson's function\n{source}"]
    parts += [f"%% {heading}\n{without_machine(text)}" for heading, text in texts.items()]
    return "\n".join(parts) + "\n"


def main(names: list[str]) -> None:
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # what comes from a cache is not compiled, so not logged
    FOLDER.mkdir(exist_ok=True)
    for name in names or RECORDINGS:
        text = text_of(name)
        if len(text.splitlines()) > LINES:
            raise SystemExit(f"{name} has {len(text.splitlines())} lines: cut it to {LINES}")
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{name:20} {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
