"""What a compiled call costs apart from its graph: the guards, and the way to the graph and back.

    python -m benchmarks.dispatch
    TORCH_PYTHON=/path/to/python python -m benchmarks.dispatch     # PyTorch from another environment

The backend gives, for every graph, a function that ignores its arguments and returns tensors made beforehand. So
nothing but guards and dispatch is left to measure. Beside it stands PyTorch's figure, measured with the same backend
and the same programs, if this environment or the one of TORCH_PYTHON has it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.timing import readable

Step = Callable[[], object]
LIMITS = {"3 tensors": 3e-6, "a module with 100 parameters": 10e-6}


def three_tensors(torch: Any) -> Step:
    """One function of three tensors."""
    x, y, z = (torch.ones(4, 4) for _ in range(3))
    f = torch.compile(lambda x, y, z: x * y + z, backend=trivial(torch, x))
    return lambda: f(x, y, z)


def module_of_100_parameters(torch: Any) -> Step:
    """Transformer-like: 16 blocks of a norm and two layers, and two layers on top."""
    x = torch.ones(4, 4)
    model = torch.compile(_model(torch), backend=trivial(torch, x))
    return lambda: model(x)


def _model(torch: Any) -> Any:
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(4)
            self.up, self.down = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block() for _ in range(16)])
            self.last, self.head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.head(self.last(x))

    model = Model()
    assert len(list(model.parameters())) == 100
    return model


def trivial(torch: Any, result: Any) -> Callable[..., Callable[..., Any]]:
    """A backend whose graphs return `result` for each of their outputs."""

    def backend(module: Any, inputs: list[Any]) -> Callable[..., Any]:
        (output,) = (node for node in module.graph.nodes if node.op == "output")
        results = (result,) * len(output.args[0])
        return lambda *arguments: results

    return backend


def costs(library: str) -> list[float]:
    """Seconds a call, for each program."""
    torch = importlib.import_module(library)
    steps = (three_tensors(torch), module_of_100_parameters(torch))
    for step in steps:
        for _ in range(5):
            step()
    return [processor_seconds(step) for step in steps]


def processor_seconds(step: Step, calls: int = 2000, rounds: int = 9) -> float:
    """What a call takes of the processor's time, which other programs on the machine do not add to."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            step()
        times.append(time.process_time() - start)
    return min(times) / calls


def costs_of_pytorch() -> list[float] | None:
    """The same, measured in a process of its own; None if PyTorch is not there."""
    python = os.environ.get("TORCH_PYTHON") or (sys.executable if importlib.util.find_spec("torch") else None)
    if python is None:
        return None
    command = [python, "-m", "benchmarks.dispatch", "--serve", "torch"]
    return list(json.loads(subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout))


def main() -> None:
    ours, theirs = costs("minitorch_compile"), costs_of_pytorch()
    print(
        f"{'guards and dispatch of a compiled call':<48}{'time':>14}{'at most':>14}"
        + (f"{'PyTorch':>14}" if theirs else "")
    )
    for number, (name, limit) in enumerate(LIMITS.items()):
        peer = f"{readable(theirs[number]):>14}" if theirs else ""
        print(f"{name:<48}{readable(ours[number]):>14}{readable(limit):>14}{peer}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        print(json.dumps(costs(sys.argv[2])))
    else:
        main()
