"""Names that PyTorch has in several places are one thing here, too; small questions have PyTorch's answers."""

from __future__ import annotations

import importlib

import pytest

import minitorch_compile as torch
from minitorch_compile.as_torch.import_hook import OTHER_PLACES

SAME = [
    ("torch.GradScaler", torch.amp.GradScaler),
    ("torch.Future", torch.futures.Future),
    ("torch.fork", torch.jit.fork),
    ("torch.accelerator.memory.empty_cache", torch.accelerator.empty_cache),
    ("torch.amp.autocast_mode.custom_fwd", torch.amp.custom_fwd),
    ("torch.cpu.amp.autocast_mode.autocast", torch.cpu.amp.autocast),
    ("torch.cuda.amp.grad_scaler.GradScaler", torch.cuda.amp.GradScaler),
    ("torch.cuda.graphs.CUDAGraph", torch.cuda.CUDAGraph),
    ("torch.functional.svd_lowrank", torch.svd_lowrank),
    ("torch.nn.modules.FractionalMaxPool2d", torch.nn.FractionalMaxPool2d),
    ("torch.optim.adamw.AdamW", torch.optim.AdamW),
    ("torch.signal.windows.windows.hann", torch.signal.windows.hann),
    ("torch.utils.benchmark.utils.timer.Timer", torch.utils.benchmark.Timer),
    ("torch.utils.benchmark.utils.compare.Compare", torch.utils.benchmark.Compare),
]


@pytest.mark.parametrize(("name", "same"), SAME)
def test_a_name_in_another_place_is_the_same_thing(name, same):
    place, _, last = name.rpartition(".")
    module = importlib.import_module(OTHER_PLACES.get(place, place.replace("torch", "minitorch_compile", 1)))
    assert getattr(module, last) is same


def test_the_module_of_a_device_answers_for_it():
    assert torch.get_device_module() is torch.get_device_module("cpu") is torch.cpu
    assert torch.get_device_module(torch.device("cuda", 1)) is torch.cuda
    with pytest.raises(RuntimeError, match="'meta' does not have a corresponding module registered as 'torch.meta'"):
        torch.get_device_module("meta")


@pytest.mark.parametrize(("mode", "number", "switches"), [("warn", 1, (True, True)), (2, 2, (True, False))])
def test_the_deterministic_mode_has_names_and_numbers(mode, number, switches):
    try:
        torch.set_deterministic_debug_mode(mode)
        assert torch.get_deterministic_debug_mode() == number
        assert switches == (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        )
    finally:
        torch.set_deterministic_debug_mode(0)
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        torch.set_deterministic_debug_mode("loud")


def test_hooks_around_every_step_are_where_optimizers_are():
    seen = []
    handle = torch.optim.optimizer.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: seen.append(1))
    try:
        torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1).step()
    finally:
        handle.remove()
    assert seen == [1]


def test_weights_of_convolutions_go_channels_last():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 2), torch.nn.Linear(2, 2))
    values = model[0].weight.detach().clone()
    assert torch.nn.utils.convert_conv2d_weight_memory_format(model, torch.channels_last) is model
    assert model[0].weight.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(model[0].weight, values)


def test_a_subclass_puts_its_text_together_from_pytorchs_pieces():
    from minitorch_compile._tensor_str import _add_suffixes, _str_intern, _tensor_str

    elements = _tensor_str(torch.arange(4.0).view(2, 2), 6)
    assert elements == "[[0., 1.],\n       [2., 3.]]"  # these texts are PyTorch 2.13's
    facts = ["dim_size=3", "is_sorted=True"]
    assert _add_suffixes("Index([0, 1", facts, 6, False) == "Index([0, 1, dim_size=3, is_sorted=True)"
    assert _add_suffixes("Index([0, 1", facts, 6, True) == "Index([0, 1,\n      dim_size=3, is_sorted=True)"
    assert _str_intern(torch.ones(2).double(), tensor_contents="[..]") == "tensor([..], dtype=torch.float64)"
