"""torch.jit.trace: what is written down, what is warned of, what is refused; freeze, save and load. Errors and warnings
are PyTorch 2.13's."""

import io
import warnings

import pytest

import minitorch_compile as torch
from minitorch_compile.jit import TracerWarning, TracingCheckError
from minitorch_compile.tensor.functions.before_calls import standing
from minitorch_compile.tensor.tensor_base import TensorBase

X = torch.arange(6.0).reshape(2, 3)
F = torch.nn.functional


def quiet(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(function, *args, **options)


class Branching(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        if x.sum() > 0:
            return self.layer(x) + self.shift
        return x * 2


def in_place(x):
    y = x.clone()
    y[0] = 5
    y.add_(1)
    first, second = y.split(1)
    return first, [second]


PROGRAMS = {
    "views": lambda x: x[0] + x[:, 1].sum(),
    "transposes": lambda x: x.T @ x,
    "lists": lambda x: torch.cat([x, x]),
    "named results": lambda x: x.max(0).values,
    "dtypes": lambda x: x.to(torch.float64),
    "masks": lambda x: x[x > 2].sum(),
    "einsum": lambda x: torch.einsum("ij->ji", x),
    "constants": lambda x: torch.tensor(3.0) * x,
    "rows": lambda x: torch.stack(list(x)),
    "data": lambda x: x.data + 1,
    "made like": lambda x: torch.zeros_like(x) + x,
    "in place": in_place,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_the_same_with_other_numbers(name):
    program, other = PROGRAMS[name], X * 2 - 3
    traced = torch.jit.trace(program, X)
    torch.testing.assert_close(traced(other), program(other))


@pytest.mark.parametrize(
    "make, sizes",
    [
        (lambda: torch.nn.LSTM(3, 4), (5, 2, 3)),
        (lambda: torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), (2, 5, 4)),
        (lambda: torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)).eval(), (1, 1, 5, 5)),
    ],
)  # fmt: skip
def test_modules(make, sizes):
    model = make()
    traced = torch.jit.trace(model, torch.ones(*sizes))
    torch.testing.assert_close(traced(torch.ones(*sizes) * 2), model(torch.ones(*sizes) * 2))


def test_branches_are_decided_for_good_and_a_warning_says_so():
    model = Branching()
    with pytest.warns(TracerWarning, match="Converting a tensor to a Python boolean might cause the trace to be"):
        traced = torch.jit.trace(model, torch.ones(2, 3))
    negative = -torch.ones(4, 3)
    assert torch.equal(traced(negative), model.layer(negative) + 1)
    assert [step.op for step in traced.graph.steps] == ["sum", "gt", "linear", "add"]


def test_it_has_the_parameters_of_the_module():
    model = Branching()
    traced = quiet(model, torch.ones(2, 3))
    assert list(traced.state_dict()) == list(model.state_dict())
    traced(torch.ones(2, 3)).sum().backward()
    assert model.layer.weight.grad is not None
    assert isinstance(traced, torch.jit.TopLevelTracedModule) and traced.original_name == "Branching"


def test_sizes_that_were_read_are_fixed():
    flat = torch.jit.trace(lambda x: x.view(x.size(0), -1), torch.ones(2, 3, 4))
    assert flat(torch.zeros(2, 3, 4)).shape == (2, 12)
    with pytest.raises(RuntimeError, match="traced with sizes"):
        flat(torch.ones(3, 3, 4))
    free = torch.jit.trace(lambda x: x.flatten(1) if x.dim() == 3 else x, torch.ones(2, 3, 4))
    assert free(torch.ones(3, 3, 4)).shape == (3, 12)
    with pytest.raises(RuntimeError, match="has 2 dimensions"):
        free(torch.ones(3, 3))


def test_other_arguments_than_tensors_are_fixed():
    traced = torch.jit.trace(lambda x, n: x * n, (X, 2))
    assert torch.equal(traced(X, 2), X * 2)
    with pytest.raises(RuntimeError, match="trace it again with this value"):
        traced(X, 3)


def test_randomness_is_warned_of():
    with pytest.warns(TracerWarning) as told:
        torch.jit.trace(lambda x: x + torch.rand(2), torch.ones(2))
    texts = [str(warning.message) for warning in told]
    assert texts[0].startswith("Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:")
    assert texts[1].startswith(
        "Output nr 1. of the traced function does not match the corresponding output of the Python"
    )


def test_what_depends_on_more_than_the_inputs_is_warned_of():
    calls = []

    def counting(x):
        calls.append(x)
        return x * len(calls)

    with pytest.warns(TracerWarning, match="Output nr 1. of the traced function does not match"):
        torch.jit.trace(counting, torch.ones(2))


@pytest.mark.parametrize(
    "program, error, text",
    [
        (lambda x: {"a": x}, RuntimeError, "Encountering a dict at the output of the tracer might cause"),
        (lambda x: x.sum().item(), RuntimeError, "Only tensors, lists, tuples of tensors, or dictionary"),
        (3, RuntimeError, "must be a function or a module"),
    ],
)  # fmt: skip
def test_what_is_refused(program, error, text):
    with pytest.raises(error) as raised:
        quiet(program, X)
    assert text in str(raised.value)


def test_dicts_if_asked_for():
    assert list(quiet(lambda x: {"a": x + 1}, X, strict=False)(X)) == ["a"]


def test_nothing_is_left_behind():
    before, item, assign = standing(), torch.Tensor.item, torch.Tensor.__setitem__
    with pytest.raises(ZeroDivisionError):
        torch.jit.trace(lambda x: x / 0 if x is None else 1 / 0, X)
    assert standing() == before and not torch.jit.is_tracing() and "sizes" not in vars(TensorBase)
    assert torch.Tensor.item is item and torch.Tensor.__setitem__ is assign


def test_the_program_can_ask_whether_it_is_traced():
    traced = torch.jit.trace(lambda x: x + 1 if torch.jit.is_tracing() else x, X, check_trace=False)
    assert torch.equal(traced(X), X + 1)


def test_freeze():
    model = Branching()
    traced = quiet(model, torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="Freezing is currently only implemented for modules in eval mode"):
        torch.jit.freeze(traced)
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule as input"):
        torch.jit.freeze(model)
    expected = traced(torch.ones(1, 3))
    frozen = torch.jit.freeze(traced.eval())
    with torch.no_grad():
        model.layer.weight.zero_()
    assert torch.equal(frozen(torch.ones(1, 3)), expected) and not frozen.state_dict()


def kept(traced):
    file = io.BytesIO()
    torch.jit.save(traced, file)
    file.seek(0)
    return torch.jit.load(file)


def test_save_and_load():
    traced = quiet(Branching(), torch.ones(2, 3))
    loaded = kept(traced)
    assert torch.equal(loaded(torch.ones(5, 3)), traced(torch.ones(5, 3)))
    assert [n for n, _ in loaded.named_parameters()] == ["layer.weight", "layer.bias"]
    assert [n for n, _ in loaded.named_buffers()] == ["shift"] and loaded.original_name == "Branching"
    assert torch.equal(kept(torch.jit.trace(in_place, torch.ones(2, 2)))(torch.zeros(2, 2))[0], torch.full((1, 2), 6.0))


def test_what_save_and_load_refuse(tmp_path):
    with pytest.raises(AttributeError, match="'Linear' object can't be saved"):
        torch.jit.save(torch.nn.Linear(1, 1), tmp_path / "x")
    with pytest.raises(ValueError, match="The provided filename .* does not exist"):
        torch.jit.load(tmp_path / "nothing")
    torch.save({"w": X}, tmp_path / "weights")
    with pytest.raises(RuntimeError, match="no traced program"):
        torch.jit.load(tmp_path / "weights")


def test_a_file_can_only_name_operations():
    file = io.BytesIO()
    traced = torch.jit.trace(lambda x: x + 1, X)
    object.__setattr__(traced.program.steps[0], "op", "os.system")
    torch.jit.save(traced, file)
    file.seek(0)
    with pytest.raises(AttributeError, match="no op named 'os.system'"):
        torch.jit.load(file)


def test_methods_by_name():
    class Two(torch.nn.Module):
        def forward(self, x):
            return x + 1

        def other(self, x):
            return x * 3

    traced = torch.jit.trace_module(Two(), {"forward": X, "other": X})
    assert torch.equal(traced(X), X + 1) and torch.equal(traced.other(X), X * 3)


def test_a_traced_module_can_be_compiled():
    traced = torch.jit.trace(lambda x: (x + 1).relu(), X)
    assert torch.equal(torch.compile(traced)(X), traced(X)) and issubclass(TracingCheckError, Exception)
