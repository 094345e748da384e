"""Where the graph breaks, and how many graphs that makes."""

import logging
import time
import warnings

import numpy as np
import torch
from torch import nn

from tests.dynamo.counting import counts, matrix


@counts
def printing(x):
    y = x * 2
    print("halfway")
    return y + 1


@counts
def printing_twice(x):
    x = x + 1
    print("a")
    x = x * 2
    print("b")
    return x - 3


@counts
def an_explicit_break(x):
    x = x * 2
    torch._dynamo.graph_break()
    return x + 1


@counts
def a_break_at_the_start(x):
    torch._dynamo.graph_break()
    return x + 1


@counts
def a_break_at_the_end(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y


@counts
def a_number_taken_out(x):
    n = x.sum().item()
    return x * n


@counts
def a_branch_on_data(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


@counts
def a_branch_on_data_then_more(x):
    if x.sum() > 100:
        y = x + 1
    else:
        y = x * 2
    return y.relu() - 1


@counts
def a_conversion_to_bool(x):
    flag = bool(x.sum() > 0)
    return x * 2 if flag else x


def _breaks(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


@counts
def a_break_in_a_callee(x):
    y = x * 3
    z = _breaks(y)
    return z - 1


def _deeper(x):
    return _breaks(x + 5) * 5


@counts
def a_break_two_calls_deep(x):
    return _deeper(x * 3) - 1


@counts
def a_break_in_a_loop(x):
    for i in range(3):
        x = x + i
        torch._dynamo.graph_break()
        x = x * 2
    return x


@counts
def a_break_after_a_loop(x):
    for i in range(3):
        x = x + i
    torch._dynamo.graph_break()
    return x * 2


@counts
def a_break_in_no_grad(x):
    with torch.no_grad():
        x = x * 2
        torch._dynamo.graph_break()
        x = x + 1
    return x - 1


@counts
def a_break_in_try(x):
    try:
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
    except ValueError:
        x = x - 1
    return x + 3


@torch.compiler.disable
def _disabled(x):
    return x * 2


@counts
def a_disabled_function(x):
    return _disabled(x + 1) - 1


def _inner(x):
    return torch.cos(x) + 1


@torch.compiler.disable(recursive=False)
def _disabled_but_not_below(x):
    return _inner(x) * 2


@counts
def a_function_disabled_but_not_what_it_calls(x):
    return _disabled_but_not_below(x + 1) - 1


@torch.compiler.allow_in_graph
def _allowed(x):
    return x * 2 + 1


@counts
def a_function_allowed_in_the_graph(x):
    return _allowed(x + 1) - 1


@torch.compiler.assume_constant_result
def _constant():
    return 3 + len(str(time.time())) * 0


@counts
def a_result_assumed_constant(x):
    return x * _constant()


@counts
def sizes_that_depend_on_data(x):
    rows = torch.nonzero(x > 1)
    return rows + 1


@counts
def a_mask_as_an_index(x):
    return x[x > 0.5].sum()


@counts
def lists_of_numbers(x):
    numbers = x.tolist()
    return x * numbers[0][1]


@counts
def arrays_of_numpy(x):
    a = x.numpy()
    b = np.sin(a) + np.ones((2, 3), dtype=np.float32)
    return torch.from_numpy(b) * 2


@counts
def numbers_of_numpy(x):
    return x * np.pi + float(np.float32(0.5))


@counts
def numpy_functions(x):
    a = x.numpy()
    return np.sum(a * 2, axis=0).shape, torch.as_tensor(np.maximum(a, 0.5).mean(axis=1))


@counts(lambda torch: (np.arange(6.0).reshape(2, 3),))
def an_array_as_an_argument(a):
    return np.exp(a) * 2 + a.sum()


@counts
def a_clock(x):
    y = x + 1
    started = time.time()
    return y * (2 if started > 0 else 3)


@counts
def logging_a_line(x):
    y = x + 1
    logging.getLogger("counted").debug("a line")
    return y * 2


@counts
def a_warning(x):
    y = x + 1
    warnings.warn("careful", stacklevel=1)
    return y * 2


@counts(lambda torch: (torch.nn.Linear(3, 3), matrix(torch)))
def a_training_step(module, x):
    loss = module(x).pow(2).mean()
    loss.backward()
    return loss.detach() + 1


class Breaking(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        x = self.first(x)
        print("between")
        return self.second(x)


@counts(lambda torch: (__import__("sys").modules["counted_breaks"].Breaking(), matrix(torch)))
def a_module_that_prints(module, x):
    return module(x) * 2


@counts
def a_lock(x):
    import threading

    y = x + 1
    lock = threading.Lock()
    with lock:
        y = y * 2
    return y


@counts
def a_generator_that_escapes(x):
    y = x * 2
    return (y + i for i in range(2))


@counts
def a_number_as_a_size(x):
    n = int(x.sum())
    return torch.zeros(n + 1) + x.mean()


@counts
def a_loop_until_data_says_so(x):
    while x.sum() < 20:
        x = x * 2
    return x + 1


@counts
def an_assertion_about_data(x):
    assert (x >= 0).all(), "negative"
    return x.sqrt()


@counts
def the_memory_address(x):
    y = x + 1
    return y * (1 if id(x) else 2)


@counts
def text_of_a_tensor(x):
    y = x * 2
    text = f"{y}"
    return y + len(text)


@counts
def a_tensor_in_a_set(x):
    found = {x, x}
    return x * len(found)


@counts
def a_gradient_by_autograd(x):
    w = x.clone().requires_grad_()
    (g,) = torch.autograd.grad((w**2).sum(), w)
    return g + 1


@counts
def data_is_replaced(x):
    y = x.clone()
    y.data = x * 2
    return y + 1


@counts
def requires_grad_is_set(x):
    y = x.clone()
    y.requires_grad = True
    return (y * 2).sum()
