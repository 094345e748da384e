"""The programs that are timed. Each takes the library and a way to compile, and returns a function to call repeatedly.

The library is a parameter because the names are PyTorch's: the same text runs on minitorch_compile and on PyTorch.
"""

from collections.abc import Callable
from typing import Any

Library = Any
Compile = Callable[[Any], Any]
Step = Callable[[], Any]


def three_tensors_4x4(torch: Library, compile: Compile) -> Step:
    """x * y + z on 16 numbers: nothing but guards and call overhead."""
    x, y, z = (torch.randn(4, 4) for _ in range(3))
    f = compile(lambda x, y, z: x * y + z)
    return lambda: f(x, y, z)


def pointwise_row_sum(torch: Library, compile: Compile) -> Step:
    """sin(x) * exp(x) + tanh(x), then the sum of each row: two loops over memory fused into one."""
    x = torch.randn(1024, 1024)
    f = compile(lambda x: (torch.sin(x) * torch.exp(x) + torch.tanh(x)).sum(1))
    return lambda: f(x)


def softmax(torch: Library, compile: Compile) -> Step:
    """softmax over 4096 rows of 1024."""
    x = torch.randn(4096, 1024)
    f = compile(lambda x: torch.softmax(x, 1))
    return lambda: f(x)


def mlp_training_step(torch: Library, compile: Compile) -> Step:
    """One step of AdamW on an MLP of three layers, batch 64."""
    nn = torch.nn
    layers = [nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)]
    return training_step(torch, compile, nn.Sequential(*layers), torch.randn(64, 64))


def cnn_training_step(torch: Library, compile: Compile) -> Step:
    """One step of AdamW on a small CNN over 8x8 digits, batch 64."""
    nn = torch.nn
    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()]
    layers += [nn.Flatten(), nn.Linear(32 * 4 * 4, 10)]
    return training_step(torch, compile, nn.Sequential(*layers), torch.randn(64, 1, 8, 8))


def training_step(torch: Library, compile: Compile, model: Any, inputs: Any) -> Step:
    """Forward, loss, backward, step; the model is what gets compiled."""
    labels = torch.arange(inputs.shape[0]) % 10
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_function = torch.nn.CrossEntropyLoss()
    compiled = compile(model)

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_function(compiled(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss

    return step


PROGRAMS = (three_tensors_4x4, pointwise_row_sum, softmax, mlp_training_step, cnn_training_step)
