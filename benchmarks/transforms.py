"""What function transforms save: each use of them beside the loop that it replaces, and compiled.

    python -m benchmarks.transforms [name ...]
    TORCH_PYTHON=/path/to/python python -m benchmarks.transforms     # PyTorch from another environment

`loop` is the program without transforms: a Python loop over samples, models, rows or columns, on the tape. The other
columns are times, and in brackets how many times faster than the loop. Where PyTorch is at hand, its transforms as they
are and compiled, on the same inputs.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.timing import readable, seconds_per_call

Step = Callable[[], Any]
AT_LEAST = {"per-sample gradients, CNN": 5.0}  # how many times faster than the loop


class Use(NamedTuple):
    """The same numbers by a loop and by a transform; `inputs` are what the transformed function is called with."""

    loop: Step
    transformed: Callable[..., Any]
    inputs: tuple[Any, ...]


def per_sample_gradients(torch: Any) -> Use:
    """Of a CNN with three layers, for a batch of 64: what differential privacy asks for at every step."""
    torch.manual_seed(0)
    nn, func = torch.nn, torch.func
    features = [nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2)]
    model = nn.Sequential(*features, nn.Flatten(), nn.Linear(16 * 5 * 5, 10))
    images, labels = torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loop() -> Any:
        rows = []
        for image, label in zip(images, labels):
            loss = nn.functional.cross_entropy(model(image[None]), label[None])
            rows.append(torch.autograd.grad(loss, tuple(model.parameters())))
        return [torch.stack(gradients) for gradients in zip(*rows)]

    def loss(parameters: Any, image: Any, label: Any) -> Any:
        return nn.functional.cross_entropy(func.functional_call(model, parameters, (image[None],)), label[None])

    return Use(loop, func.vmap(func.grad(loss), in_dims=(None, 0, 0)), (parameters, images, labels))


def ensemble(torch: Any) -> Use:
    """Ten perceptrons on one batch."""
    torch.manual_seed(0)
    nn, func = torch.nn, torch.func
    layers = lambda: (nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    models = [nn.Sequential(*layers()) for _ in range(10)]
    parameters, buffers = func.stack_module_state(models)
    parameters = {name: p.detach() for name, p in parameters.items()}
    x = torch.randn(16, 64)

    def loop() -> Any:
        with torch.no_grad():
            return torch.stack([model(x) for model in models])

    def predict(parameters: Any, buffers: Any, x: Any) -> Any:
        return func.functional_call(models[0], (parameters, buffers), (x,))

    return Use(loop, func.vmap(predict, in_dims=(0, 0, None)), (parameters, buffers, x))


def _layers(torch: Any) -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    return torch.randn(32, 64) / 8, torch.randn(64, 32) / 8, torch.randn(32)


def jacobian(torch: Any) -> Use:
    """Of a layer and its activation from 32 numbers to 32, by rows."""
    up, down, x = _layers(torch)

    def f(x: Any) -> Any:
        return torch.tanh(torch.tanh(x @ up) @ down)

    def loop() -> Any:
        leaf = x.detach().requires_grad_()
        y = f(leaf)
        return torch.stack([torch.autograd.grad(part, leaf, retain_graph=True)[0] for part in y])

    return Use(loop, torch.func.jacrev(f), (x,))


def hessian(torch: Any) -> Use:
    """Of a perceptron's loss with respect to 32 numbers."""
    up, down, x = _layers(torch)

    def f(x: Any) -> Any:
        return torch.tanh(torch.tanh(x @ up) @ down).pow(2).sum()

    def loop() -> Any:
        leaf = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(f(leaf), leaf, create_graph=True)
        return torch.stack([torch.autograd.grad(part, leaf, retain_graph=True)[0] for part in gradient])

    return Use(loop, torch.func.hessian(f), (x,))


USES = {
    "per-sample gradients, CNN": per_sample_gradients,
    "ensemble of 10 models": ensemble,
    "Jacobian, 32 x 32": jacobian,
    "Hessian, 32 x 32": hessian,
}


def times(library: str, names: list[str]) -> dict[str, list[float]]:
    """Seconds for the loop, the transform, and the compiled transform."""
    torch = importlib.import_module(library)
    torch.set_num_threads(1)  # calls this short gain nothing from more, and lose much on a busy machine
    found = {}
    for name in names:
        use = USES[name](torch)
        compiled = torch.compile(use.transformed, fullgraph=library == "minitorch_compile")
        steps = (use.loop, lambda use=use: use.transformed(*use.inputs), lambda c=compiled, u=use: c(*u.inputs))
        _check_alike(torch, *(step() for step in steps))
        found[name] = [min(t) for t in zip(*([seconds_per_call(s, 0.15, 3) for s in steps] for _ in range(4)))]
    return found


def _check_alike(torch: Any, *results: Any) -> None:
    leaves = [_tensors(result) for result in results]
    for other in leaves[1:]:
        assert all(torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(leaves[0], other))


def _tensors(result: Any) -> list[Any]:
    return list(result.values()) if isinstance(result, dict) else result if isinstance(result, list) else [result]


def times_of_pytorch(names: list[str]) -> dict[str, list[float]] | None:
    """The same, measured in a process of its own; None if PyTorch is not there."""
    python = os.environ.get("TORCH_PYTHON") or (sys.executable if importlib.util.find_spec("torch") else None)
    if python is None:
        return None
    command = [python, "-m", "benchmarks.transforms", "--serve", "torch", *names]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return dict(json.loads(output.splitlines()[-1]))


def main(names: list[str]) -> None:
    ours, theirs = times("minitorch_compile", names), times_of_pytorch(names)
    head = f"{'':<28}{'loop':>10}{'transform':>20}{'compiled':>20}"
    print(head + (f"{'PyTorch loop':>16}{'transform':>11}{'compiled':>11}" if theirs else ""))
    for name in names:
        loop, *others = ours[name]
        line = f"{name:<28}{readable(loop):>10}" + "".join(f"{_with_factor(t, loop):>20}" for t in others)
        if theirs:
            line += "".join(f"{readable(t):>{width}}" for t, width in zip(theirs[name], (16, 11, 11)))
        print(line + ("" if loop / others[0] >= AT_LEAST.get(name, 1.0) else "   too slow"))


def _with_factor(seconds: float, loop: float) -> str:
    return f"{readable(seconds)} ({loop / seconds:.1f}x)"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        print(json.dumps(times(sys.argv[2], sys.argv[3:])))
    else:
        main(sys.argv[1:] or list(USES))
