"""A captured graph as a script of its own that anybody can paste and run.

>>> import minitorch_compile as torch
>>> from minitorch_compile.dynamo.testing import CompileCounter
>>> counter = CompileCounter()
>>> _ = torch.compile(lambda x: torch.sin(x) * 2, backend=counter)(torch.ones(2, 3))
>>> print(script(counter.graphs[0], [torch.ones(2, 3)], "inductor", "the values differ"))
import minitorch_compile as torch
<BLANKLINE>
<BLANKLINE>
def program(x):
    sin = torch.sin(x)
    mul = sin * 2
    return (mul,)
<BLANKLINE>
<BLANKLINE>
# the values differ
x = torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
expected = program(x.clone())
compiled = torch.compile(program, backend='inductor')
torch.testing.assert_close(compiled(x.clone()), expected)
<BLANKLINE>
"""

from __future__ import annotations

from minitorch_compile.fx import GraphModule, Node
from minitorch_compile.fx.expressions import ExpressionWriter
from minitorch_compile.fx.targets import target_name
from minitorch_compile.tensor import Tensor, device
from minitorch_compile.tensor.dispatch.op import Op

WRITTEN_OUT = 64  # a tensor of at most so many numbers stands in the script, a larger one is drawn at random
MODULES = {
    "torch": "import minitorch_compile as torch",
    "F": "import minitorch_compile.nn.functional as F",
    "ops": "from minitorch_compile.tensor import ops",
    "operator": "import operator",
    "steps": "from minitorch_compile.func import steps",
    "math": "import math",
}


class _ScriptWriter(ExpressionWriter):
    """Writes callables under the names that a program uses, and remembers which modules these are in."""

    def __init__(self) -> None:
        self.modules = {"torch"}

    def target(self, target: object) -> str:
        name = public_name(target)
        head = name.partition(".")[0]
        if head in MODULES:
            self.modules.add(head)
        return name

    def constant(self, value: object) -> str:
        if isinstance(value, device):
            return f"torch.{value!r}"
        return self.target(value) if isinstance(value, type) else super().constant(value)


def public_name(target: object) -> str:
    """`torch.sin` for the op sin; an op without a public name is found in the table of ops."""
    if not isinstance(target, Op):
        return target_name(target)
    name: str = target.name
    if name.startswith("F."):
        return name
    return f"torch.{name}" if "torch" in target.namespaces else f"ops.{name}"


def program_text(module: GraphModule, writer: _ScriptWriter, name: str = "program") -> str:
    """The graph as a function definition."""
    nodes = list(module.graph.nodes)
    parameters = ", ".join(node.name for node in nodes if node.op == "placeholder")
    lines = [_statement(node, writer) for node in nodes if node.op != "placeholder"]
    return f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line in lines)


def _statement(node: Node, writer: _ScriptWriter) -> str:
    text = writer.expression(node)
    return f"return {text}" if node.op == "output" else f"{node.name} = {text}"


def tensor_text(x: Tensor) -> str:
    """An expression that makes a tensor of the same form; its numbers too, if they are few."""
    settings = [] if x.dtype.name in ("float32", "int64", "bool") else [f"dtype={x.dtype!r}"]
    if x.requires_grad:
        settings.append("requires_grad=True")
    options = "".join(f", {setting}" for setting in settings)
    if x.numel() <= WRITTEN_OUT and x.is_contiguous():
        return f"torch.tensor({x.tolist()!r}{options})".replace("nan", "float('nan')").replace("inf", "float('inf')")
    if not x.is_contiguous():
        return f"torch.empty_strided({tuple(x.sizes)}, {tuple(x.strides)}{options}).copy_({_random(x, '')})"
    return _random(x, options)


def _random(x: Tensor, options: str) -> str:
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return f"torch.randn({tuple(x.sizes)}{options})"
    high = 2 if x.dtype.name == "bool" else int(x.max()) + 1
    return f"torch.randint(0, {high}, {tuple(x.sizes)}).to({x.dtype!r})"


def script(module: GraphModule, inputs: list[Tensor], backend: str, failure: str) -> str:
    """The program, its arguments, and the comparison of both runs; `failure` becomes a comment."""
    writer = _ScriptWriter()
    program = program_text(module, writer)
    names = [node.name for node in module.graph.find_nodes(op="placeholder")]
    arguments = ", ".join(f"{name}.clone()" for name in names)
    imports = [line for name, line in MODULES.items() if name in writer.modules]
    drawn = any(x.numel() > WRITTEN_OUT or not x.is_contiguous() for x in inputs)
    lines = [*imports, "", "", program, "", *(f"# {line}" for line in failure.splitlines())]
    lines += ["torch.manual_seed(0)"] * drawn
    lines += [f"{name} = {tensor_text(x)}" for name, x in zip(names, inputs)]
    lines += [f"expected = program({arguments})", f"compiled = torch.compile(program, backend={backend!r})"]
    lines += [f"torch.testing.assert_close(compiled({arguments}), expected)"]
    return "\n".join(lines) + "\n"
