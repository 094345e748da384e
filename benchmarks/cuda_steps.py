"""Whole training steps on a GPU beside PyTorch: a GPT, a residual network, a small MLP.

    python -m benchmarks.cuda_steps                        each program: its first call, a step, memory
    python -m benchmarks.cuda_steps --torch                the same with PyTorch
    python -m benchmarks.cuda_steps --pair                 processes of both in turns, at last with full caches
    python -m benchmarks.cuda_steps --profile out gpt      where the GPU's time goes, by PyTorch's profiler, for either

Weights and batches are drawn by NumPy, so both libraries begin alike: the losses after the same steps are compared.
Here the whole step is compiled. PyTorch compiles the model, and its optimizers are the fused ones, which is the fastest
that it does; `--whole` compiles the whole step there, too.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cuda_device.gpt_curve import CUDA, Size, batches, gpt

Step = Callable[[], Any]
CACHES = ("MTC_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH")


def drawn(model: Any, torch: Any) -> Any:
    """The model with weights of NumPy's, small ones, and biases of 0."""
    random = np.random.default_rng(0)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.data.zero_()
        if len(parameter.shape) > 1:
            inputs = int(np.prod(parameter.shape[1:]))
            values = random.standard_normal(tuple(parameter.shape)).astype(np.float32) / np.float32(inputs**0.5)
            parameter.data.copy_(torch.from_numpy(values))
    return model


def gpt_step(torch: Any, compiled: Callable[[Any], Any], whole: bool, scale: float) -> Step:
    """GPT-2's small size in bfloat16 autocast, 8 sequences of 1,024 tokens, AdamW."""
    size = Size() if scale == 1 else Size(layers=1, width=16, heads=2, vocabulary=24, batch=2, length=8)
    model, numbers = gpt(torch, size), torch.from_numpy(batches(size, 1)[0]).to(CUDA)
    tokens, targets = numbers[:, :-1].contiguous(), numbers[:, 1:].reshape(-1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    run = model if whole else compiled(model)

    def step() -> Any:
        optimizer.zero_grad()
        with torch.autocast(CUDA, dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(run(tokens).reshape(-1, size.vocabulary), targets)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return compiled(step) if whole else step


def network(torch: Any, widths: tuple[int, ...]) -> Any:
    """A residual network for images of 32x32: two blocks of two convolutions for each width."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[name-defined]
        def __init__(self, inputs: int, width: int, stride: int) -> None:
            super().__init__()
            self.first = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
            self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.norms = nn.ModuleList([nn.BatchNorm2d(width) for _ in range(3)])
            self.short = nn.Conv2d(inputs, width, 1, stride, bias=False) if stride > 1 or inputs != width else None

        def forward(self, x: Any) -> Any:
            y = functional.relu(self.norms[0](self.first(x)))
            short = x if self.short is None else self.norms[2](self.short(x))
            return functional.relu(self.norms[1](self.second(y)) + short)

    parts: list[Any] = [nn.Conv2d(3, widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU()]
    for before, width in zip((widths[0], *widths), widths):
        parts += [Block(before, width, 1 + (width > before)), Block(width, width, 1)]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 10))


def cnn_step(torch: Any, compiled: Callable[[Any], Any], whole: bool, scale: float) -> Step:
    """ResNet-18 for small images, float32 (TF32), channels last, batch 256, SGD with momentum."""
    widths, batch, edge = ((64, 128, 256, 512), 256, 32) if scale == 1 else ((4, 8), 2, 8)
    last = {"memory_format": torch.channels_last}
    model = drawn(network(torch, widths), torch).to(CUDA).to(**last)
    random = np.random.default_rng(1)
    images = torch.from_numpy(random.standard_normal((batch, 3, edge, edge)).astype(np.float32)).to(CUDA)
    images, classes = images.contiguous(**last), torch.from_numpy(random.integers(0, 10, batch)).to(CUDA)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)
    return classifying(torch, model, images, classes, optimizer, compiled, whole)


def mlp_step(torch: Any, compiled: Callable[[Any], Any], whole: bool, scale: float) -> Step:
    """Three layers at batch 64, AdamW."""
    nn, random = torch.nn, np.random.default_rng(1)
    inputs, width, batch = (784, 256, 64) if scale == 1 else (12, 8, 4)
    model = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    model = drawn(model, torch).to(CUDA)
    x = torch.from_numpy(random.standard_normal((batch, inputs)).astype(np.float32)).to(CUDA)
    classes = torch.from_numpy(random.integers(0, 10, batch)).to(CUDA)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    return classifying(torch, model, x, classes, optimizer, compiled, whole)


def classifying(
    torch: Any, model: Any, x: Any, classes: Any, optimizer: Any, compiled: Callable[[Any], Any], whole: bool
) -> Step:
    """A step of a classifier."""
    run = model if whole else compiled(model)

    def step() -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(run(x), classes)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return compiled(step) if whole else step


PROGRAMS = {"gpt": gpt_step, "cnn": cnn_step, "mlp": mlp_step}
MODES = ("plain", "default", "reduce-overhead")


def measured(torch: Any, name: str, mode: str, whole: bool, given: Any) -> dict[str, Any]:
    """The seconds of the first calls, milliseconds of a step, the losses of the first steps and the most memory."""
    compiled = (lambda f: f) if mode == "plain" else lambda f: torch.compile(f, mode=mode)
    torch.cuda.reset_peak_memory_stats()
    step = PROGRAMS[name](torch, compiled, whole and mode != "plain", given.scale)
    first, losses = [], []
    for _ in range(given.losses):
        start = time.perf_counter()
        losses.append(step().item())
        first.append(round(time.perf_counter() - start, 3))
    rounds = []
    for _ in range(given.rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(given.calls):
            step()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - start) / given.calls)
    memory = torch.cuda.max_memory_allocated() / 2**30
    if given.profile:
        profiled(step, Path(given.profile) / f"{torch.__name__}_{name}_{mode}")
    return {"ms": 1e3 * statistics.median(rounds), "first": first[:5], "losses": losses, "GiB": memory}


# ------------------------------------------------------------------------------------------ where the time goes


def profiled(step: Step, place: Path, steps: int = 3) -> None:
    """Writes each kernel of the last of some steps, in order, and prints the kernels by their time."""
    profiler = importlib.import_module("torch.profiler")
    place.parent.mkdir(parents=True, exist_ok=True)
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(steps):
            step()
        importlib.import_module("torch").cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        profile.export_chrome_trace(f"{folder}/trace.json")
        events = json.loads(Path(folder, "trace.json").read_text())["traceEvents"]
    work = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    work.sort(key=lambda e: e["ts"])
    last = work[-(len(work) // steps) :]
    lines = [f"{e['dur']:9.1f}  {e['args'].get('grid', '')!s:20} {e['name'][:110]}" for e in last]
    place.with_suffix(".txt").write_text("\n".join(lines))
    busy, span = sum(e["dur"] for e in last), last[-1]["ts"] + last[-1]["dur"] - last[0]["ts"]
    print(f"    {len(last)} pieces of work, {busy / 1e3:.2f} ms of work in {span / 1e3:.2f} ms")
    groups: dict[str, list[float]] = {}
    for event in last:
        groups.setdefault(f"{event['args'].get('grid', '')!s:18} {event['name'][:90]}", []).append(event["dur"])
    for key, times in sorted(groups.items(), key=lambda item: -sum(item[1]))[:45]:
        print(f"    {sum(times):9.1f} us  {len(times):4} x {sum(times) / len(times):8.1f}  {key}", flush=True)


# ------------------------------------------------------------------------------------------ both, in turns


def pair(given: Any) -> None:
    """A process of each library with empty caches, then another of each; at last how far their losses are apart."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **{name: f"{folder}/{name}" for name in CACHES}}
        own = [*given.programs, f"--scale={given.scale}", f"--rounds={given.rounds}", f"--calls={given.calls}"]
        own += [f"--modes={','.join(given.modes)}", *(["--whole"] if given.whole else []), f"--losses={given.losses}"]
        files = {library: Path(folder, f"{library}.json") for library in ("minitorch_compile", "torch")}
        for turn in ("empty caches", "full caches"):
            for library, file in files.items():
                print(f"--- {library}, {turn}", flush=True)
                last = [f"--save={file}", *(["--torch"] if library == "torch" else [])]
                subprocess.run([sys.executable, "-m", "benchmarks.cuda_steps", *own, *last], env=environment)
        ours, theirs = (json.loads(file.read_text()) for file in files.values())
        for name in ours:
            apart = [abs(a / b - 1) for a, b in zip(ours[name]["losses"], theirs[name]["losses"])]
            print(f"{name}: {len(apart)} losses, at most {max(apart):.1e} of them apart")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), help="gpt, cnn, mlp")
    parser.add_argument("--torch", action="store_true", help="PyTorch")
    parser.add_argument("--pair", action="store_true", help="both, in processes of their own")
    parser.add_argument("--whole", action="store_true", help="PyTorch compiles the whole step, too")
    parser.add_argument("--profile", default="", help="a folder for what was profiled")
    parser.add_argument("--modes", default=MODES, type=lambda text: text.split(","), help="of these, with commas")
    parser.add_argument("--scale", type=float, default=1, help="any but 1: tiny models, to try the programs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--losses", type=int, default=20, help="how many steps are compared")
    parser.add_argument("--save", type=Path, help="where everything is written")
    given = parser.parse_args()
    if given.pair:
        pair(given)
        return
    began = time.perf_counter()
    torch = importlib.import_module("torch" if given.torch else "minitorch_compile")
    print(f"{torch.cuda.get_device_name()}, {torch.__name__} {torch.__version__}")
    print(f"imported in {time.perf_counter() - began:.1f} s", flush=True)
    torch.backends.cuda.matmul.allow_tf32 = True
    rows: dict[str, Any] = {}
    for name in given.programs:
        for mode in given.modes:
            row = rows[f"{name} {mode}"] = measured(torch, name, mode, given.whole or not given.torch, given)
            print(
                f"{name:4} {mode:16} {row['ms']:9.3f} ms   loss {row['losses'][-1]:.5f}   {row['GiB']:5.2f} GiB"
                f"   first calls {' '.join(map(str, row['first']))} s",
                flush=True,
            )
            importlib.import_module(f"{torch.__name__}.compiler").reset()
    if given.save:
        given.save.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
