"""Importing modules under PyTorch's names: nothing in this package changes by it."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from minitorch_compile.as_torch.import_hook import OTHER_PLACES, PACKAGE, installed


def test_no_import_puts_a_module_where_a_function_of_its_name_is():
    modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == PACKAGE}
    before = {name: dict(vars(module)) for name, module in modules.items()}
    with installed():
        for name in [*modules, *OTHER_PLACES]:
            importlib.import_module("torch" + name.removeprefix(PACKAGE) if name in modules else name)
    replaced = [
        f"{name}.{attribute}"
        for name, attributes in before.items()
        for attribute, value in attributes.items()
        if not isinstance(value, ModuleType) and vars(modules[name]).get(attribute) is not value
    ]
    assert replaced == []


def test_a_module_and_the_function_of_its_name_can_both_be_imported():
    with installed():
        import torch
        import torch.nn.utils.weight_norm  # a module
        from torch.nn.utils.spectral_norm import SpectralNorm

        assert SpectralNorm.__module__.endswith("spectral_norm")
        with pytest.warns(FutureWarning, match="parametrizations"):
            torch.nn.utils.weight_norm(torch.nn.Linear(2, 2))  # the function
