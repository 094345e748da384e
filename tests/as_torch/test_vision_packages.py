"""torchvision and timm, where they are installed: imported as they are, a model of each, and an op that is compiled
there."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = {
    "torchvision": """
import torch, torchvision
from torchvision import tv_tensors
from torchvision.transforms import v2
model = torchvision.models.squeezenet1_1(weights=None).eval()
x = torch.rand(1, 3, 32, 32)
assert torch.allclose(torch.compile(model, backend="aot_eager", fullgraph=True)(x), model(x))
boxes = torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1.9]])
assert torchvision.ops.nms(boxes, torch.tensor([0.5, 0.9]), 0.5).tolist() == [1]
image = tv_tensors.Image(torch.zeros(3, 4, 4, dtype=torch.uint8))
assert v2.Resize(2)(image).shape == (3, 2, 2)
""",
    "timm": """
import torch, timm
model = timm.create_model("test_vit", img_size=32).eval()
x = torch.rand(1, 3, 32, 32)
assert torch.allclose(torch.compile(model, backend="aot_eager", fullgraph=True)(x), model(x), atol=1e-6)
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("package", PROGRAMS)
def test_the_package_runs_as_it_is(package: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    script = tmp_path / "program.py"
    script.write_text(PROGRAMS[package] + "print('done')\n", encoding="utf-8")
    command = [sys.executable, "-m", "minitorch_compile.as_torch", str(script)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout.endswith("done\n"), run.stderr
