"""What `inspect` and `help` say of an op is what PyTorch says, and what the op takes."""

from __future__ import annotations

import inspect
import itertools
import json
import random
import re
import subprocess
import sys

import pytest
from compatibility import DIFFERENT, ROOT, Parameters, compared, is_same
from record_torch_names import RECORDED, signature_text

import minitorch_compile as torch
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op

TOOL = ROOT / "tools" / "compatibility.py"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (torch.add, "(input, other, *, alpha=1, out=None)"),
        (torch.Tensor.add, "(other, *, alpha=1)"),
        (torch.Tensor.add_, "(other, *, alpha=1)"),
        (torch.addcmul, "(input, tensor1, tensor2, *, value=1, out=None)"),
        (torch.Tensor.permute, "(*dims)"),
        (torch.reshape, "(input, shape)"),
        (torch.zeros, "(*size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, out=None)"),
        (torch.nn.functional.elu, "(input, alpha=1.0, inplace=False)"),
    ],
)
def test_a_signature_is_pytorchs(function, text):
    said = signature_text(inspect.signature(function))
    assert is_same(said, [text], []), said


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (torch.nn.Sigmoid, "(*args, **kwargs)"),
        (torch.nn.Module.modules, "(remove_duplicate=True)"),
        (torch.autograd.graph.Node.register_prehook, "(fn)"),
        (torch.distributions.HalfNormal.icdf, "(prob)"),
        (torch.distributions.MixtureSameFamily.log_prob, "(x)"),
        (torch.distributions.Normal.sample, "(sample_shape=torch.Size([]))"),
        (
            torch.fx.Node.format_node,
            "(placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False)",
        ),
        (torch.library.CustomOpDef.register_vmap, "(func=None)"),
        (torch.library.Library.impl, "(op_name, fn, dispatch_key='', *, with_keyset=False, allow_override=True)"),
        (torch.nn.utils.prune.L1Unstructured.apply, "(module, name, amount, importance_scores=None)"),
        (torch.nn.utils.prune.RandomStructured.apply, "(module, name, amount, dim=-1)"),
        (torch.optim.LBFGS.step, "(closure)"),
        (torch.profiler.profile.export_chrome_trace, "(path, use_python_export=False)"),
        (torch._dynamo.explain, "(f, *extra_args, **extra_kwargs)"),
        (torch.is_tensor, "(obj, /)"),
    ],
)
def test_a_method_of_a_class_and_a_helper_have_pytorchs_names_and_defaults(function, text):
    assert signature_text(inspect.signature(function)) == text


def test_a_bound_method_takes_what_is_left():
    assert str(inspect.signature(torch.ones(2).add)) == "(other, *, alpha=1)"


def test_the_source_of_a_method_is_that_of_its_op():
    assert "def relu" in inspect.getsource(torch.Tensor.relu)


@pytest.mark.parametrize("name", sorted(name for name, op in ops.table.items() if "torch" in op.namespaces))
def test_what_a_signature_names_the_op_takes(name):
    op = ops.table[name]
    own = inspect.signature(op.kernel).parameters
    more = {"out", "size", "layout", "device", "pin_memory", "requires_grad"}
    assert {each for each in inspect.signature(op).parameters if each not in own} <= more


def test_overloads_are_the_same_as_one_signature_that_takes_them_all():
    overloads = ["(input, *, dtype=None)", "(input, dim, keepdim=False, *, dtype=None)"]
    assert is_same("(input, dim=None, keepdim=False, *, dtype=None)", overloads, [])
    assert not is_same("(input, dim=None, keepdim=False)", overloads, []), "it has no dtype"
    assert not is_same("(input, keepdim=False, dim=None, *, dtype=None)", overloads, []), "they come in another order"
    assert not is_same("(input, dim=None, keepdim=True, *, dtype=None)", overloads, []), "another default"
    assert not is_same("(input, dim=None, keepdim=False, *, dtype=None, more=1)", overloads, []), "one too many"


def test_defaults_are_compared_as_numbers():
    assert Parameters.of("(mean=0, std=1)") == Parameters.of("(mean=0.0, std=1.0)")


def test_the_functions_whose_signature_is_pytorchs_do_not_become_fewer():
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    recorded.pop("version")
    told = {name: said for name, said in recorded.items() if name.count(".") == 1 and "signatures" in said}
    here = {name: getattr(torch, name[6:]) for name in told if isinstance(getattr(torch, name[6:], None), Op)}
    assert [name for name in here if compared(name, told[name]).state != "same"] == [
        "torch.repeat_interleave",
        "torch.rrelu",
        "torch.rrelu_",
    ]


def test_overloads_may_give_a_position_several_names():
    overloads = ["(input)", "(input, dim, keepdim=False)", "(input, other)"]
    assert is_same("(input, dim=None, keepdim=False, *, other=None)", overloads, [])
    assert not is_same("(input, dim=None, keepdim=False)", overloads, []), "other can't be given by name"
    assert not is_same("(input, other=None, keepdim=False, dim=None)", overloads, []), "dim isn't the second"
    assert not is_same("(input, dim, keepdim=False, *, other=None)", overloads, []), "dim may be left out"


def test_an_argument_that_the_only_overload_needs_is_needed():
    assert not is_same("(tensor, split_size=None, dim=0)", ["(tensor, split_size, dim=0)"], [])


def test_what_is_documented_may_say_a_default_that_the_overload_does_not():
    assert is_same(
        "(input, *, memory_format=torch.preserve_format)",
        ["(input, *, memory_format=None)"],
        ["(input, *, memory_format=torch.preserve_format)"],
    )


def test_a_difference_has_its_reason():
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    row = compared("torch.dtype", recorded["torch.dtype"])
    assert (row.state, "never by a program" in row.note) == ("differs", True)


@pytest.mark.parametrize("seed", range(3))
def test_of_300_names_drawn_at_random_only_those_with_a_reason_have_other_parameters(seed):
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    told = sorted(name for name, said in recorded.items() if name != "version" and "signatures" in said)
    random.Random(seed).shuffle(told)
    rows = (compared(name, recorded[name]) for name in told)
    drawn = list(itertools.islice((row for row in rows if row.state != "absent"), 300))
    differing = [row for row in drawn if row.state == "differs"]
    assert [row for row in differing if not any(re.match(pattern, row.name) for pattern, _ in DIFFERENT)] == []
    assert len(differing) <= 9, "97 of 100 are the same"


@pytest.mark.slow
def test_the_page_of_names_is_up_to_date():
    # In a process of its own: modules that other tests have imported are attributes of the package here.
    checked = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
