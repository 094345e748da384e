"""What a program read as missing may be there at the next call: it is compiled again, wherever that was.

The programs are in `changes_between_calls.txt`: a function, and what is done between its calls. Each is run plainly and
compiled, and gives the same at every call.
"""

import builtins
from contextlib import contextmanager
from pathlib import Path

import pytest

import minitorch_compile as torch
from minitorch_compile import nn

TEXT = (Path(__file__).parent / "changes_between_calls.txt").read_text(encoding="utf-8")
PROGRAMS = dict(program.split("\n", 1) for program in TEXT.removeprefix("### ").split("\n### "))
SHARED = (torch, torch.Tensor, nn.Module, nn.Linear, nn.Sequential, nn.functional, nn.functional.relu, builtins)


@contextmanager
def nothing_stays_changed():
    before = [dict(vars(owner)) for owner in SHARED]
    try:
        yield
    finally:
        for owner, attributes in zip(SHARED, before):
            for name in [name for name in vars(owner) if name not in attributes]:
                delattr(owner, name)
            for name, value in attributes.items():
                if vars(owner)[name] is not value:
                    setattr(owner, name, value)


def outcomes(text, compiled):
    """What each call gives, or the class of what it raises."""
    program, *changes = text.split("--- then\n")
    torch.manual_seed(0)
    scope = {"torch": torch, "__name__": "program"}
    exec(program, scope)
    x = scope["X"] = torch.tensor([1.0, -2.0, 3.0])
    function = torch.compile(scope["f"], backend="eager") if compiled else scope["f"]
    found = [outcome(function, x)]
    for change in changes:
        exec(change, scope)
        found.append(outcome(function, x))
    return found


def outcome(function, x):
    try:
        return function(x).tolist()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_change_between_calls_is_seen(name):
    with nothing_stays_changed():
        plain = outcomes(PROGRAMS[name], compiled=False)
    with nothing_stays_changed():
        assert outcomes(PROGRAMS[name], compiled=True) == plain


OFFSETS = {
    "storage_offset": lambda x: x + x.storage_offset(),
    "of a view": lambda x: x + x[1:].storage_offset(),
    "of its transpose": lambda x: x + x.view(2, 2).T.storage_offset(),
    "as_strided": lambda x: torch.as_strided(x, (2,), (1,)) * 2,
    "as_strided of a view": lambda x: x[1:].as_strided((2,), (2,)) * 2,
    "from an offset": lambda x: x.as_strided((2,), (1,), 1) * 2,
    "wider than the tensor": lambda x: x.as_strided((3, 2), (1, 2), 0) + 1,
    "of a view, from an offset": lambda x: torch.as_strided(x[2:], (2,), (1,), storage_offset=0) + 1,
    "of what was made here": lambda x: (x + 1)[2:].as_strided((2,), (1,), 0) * 3,
    "of a window": lambda x: x.as_strided((3,), (1,), 1).as_strided((2,), (1,), 0) * 2,
    "of a transpose": lambda x: x.view(2, 2).T.as_strided((2,), (1,), 2) * 2,
    "counted from its own offset": lambda x: x.as_strided((2,), (1,), x.storage_offset() + 1) * 2,
    "written to": lambda x: (x[1:].as_strided((2,), (1,), 1).mul_(3), x * 2)[1],
    "in place": lambda x: x.clone().as_strided_((2,), (1,), 1) * 2,
    "addresses": lambda x: x + (x[1:].data_ptr() - x.data_ptr()) + (x.data_ptr() - x.untyped_storage().data_ptr()),
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("function", OFFSETS.values(), ids=OFFSETS)
def test_where_a_tensor_begins_in_its_memory_is_guarded_if_it_was_asked_for(function, backend):
    memory, compiled = torch.arange(0, 12).float(), torch.compile(function, backend=backend)
    for start in (0, 1, 5, 1):
        plain = memory.clone()
        assert compiled(memory[start : start + 4]).tolist() == function(plain[start : start + 4]).tolist()
        assert memory.tolist() == plain.tolist()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_window_on_the_memory_of_two_arguments(backend):
    def f(x, y):
        return x.as_strided((2,), (1,), 2) + y[1:].as_strided((2,), (1,), 1)

    compiled = torch.compile(f, backend=backend)
    for first, second in ((0, 0), (0, 3), (2, 1), (4, 4)):
        memory = torch.arange(0, 12).float()
        arguments = memory[first : first + 4], memory[second : second + 4]
        assert compiled(*arguments).tolist() == f(*arguments).tolist()


REPLACED = {
    "Tensor.__add__": (torch.Tensor, "__add__", lambda x: x + 1),
    "Tensor.sum": (torch.Tensor, "sum", lambda x: x.sum(0)),
    "abs": (builtins, "abs", lambda x: abs(x)),
    "relu": (nn.functional, "relu", lambda x: nn.functional.relu(x)),
}


@pytest.mark.parametrize(("owner", "name", "function"), REPLACED.values(), ids=REPLACED)
def test_a_function_that_was_replaced_is_not_called_by_the_default_backend(owner, name, function):
    x, compiled = torch.tensor([1.0, -2.0]), torch.compile(function)
    before = function(x).tolist()
    assert compiled(x).tolist() == before
    with nothing_stays_changed():
        setattr(owner, name, lambda x, *rest: "replaced")
        assert compiled(x) == "replaced"
    assert compiled(x).tolist() == before


BUILTINS = {
    "len": lambda x: x + len([1, 2]),
    "isinstance": lambda x: x + isinstance(x, int),
    "sum": lambda x: x + sum([1, 2]),
    "any": lambda x: x + any([1]),
    "max": lambda x: x + max([1, 5]),
    "sorted": lambda x: x + sorted([3, 2])[0],
    "getattr": lambda x: x + getattr(x, "ndim"),
    "hasattr": lambda x: x + hasattr(x, "ndim"),
    "issubclass": lambda x: x + issubclass(int, int),
    "iter": lambda x: x + next(iter([4])),
    "next": lambda x: x + next(iter([4])),
    "repr": lambda x: x + (repr([4]) == "[4]"),
    "hash": lambda x: x + hash(3),
    "id": lambda x: x + (id(x) > 7),
    "type": lambda x: x + (type(x) is torch.Tensor),
    "list": lambda x: x + len(list((1, 2))),
    "tuple": lambda x: x + len(tuple([1])),
    "dict": lambda x: x + len(dict(a=1)),
    "set": lambda x: x + len(set([1])),
    "range": lambda x: x + sum(range(3)),
    "zip": lambda x: x + len([*zip([1], [2], strict=True)]),
    "enumerate": lambda x: x + len([*enumerate([1])]),
    "int": lambda x: x + int(3.4),
    "str": lambda x: x + len(str(33)),
    "object": lambda x: x + (object() is None),
    "print": lambda x: x + (print() is None),
}


def outcome_with(name, new, function, x):
    """What the function gives while the builtin is another one."""
    real = getattr(builtins, name)
    try:
        setattr(builtins, name, new)
        result = function(x)
    except Exception as error:
        result = error
    finally:
        setattr(builtins, name, real)
    return (type(result), str(result)) if isinstance(result, Exception) else result.tolist()


@pytest.mark.parametrize("backend", ["eager", "inductor"])
@pytest.mark.parametrize("name", BUILTINS)
def test_a_builtin_that_was_replaced_is_the_programs_and_not_the_compilers(name, backend):
    def fails(*args, **kwargs):
        raise ZeroDivisionError(name)

    x, function = torch.tensor([1.0, -2.0, 3.0]), BUILTINS[name]
    for new in (lambda *args, **kwargs: 7, fails):
        before, while_replaced = function(x).tolist(), outcome_with(name, new, function, x)
        compiled, compiled_meanwhile = (torch.compile(function, backend=backend) for _ in range(2))
        assert compiled(x).tolist() == before
        for run in (compiled, compiled_meanwhile):
            assert outcome_with(name, new, run, x) == while_replaced
            assert run(x).tolist() == before


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_nan_keeps_its_sign(backend):
    def full(x, value):
        return torch.where(x > 1, x, value[0])

    compiled, nan = torch.compile(full, backend=backend), float("nan")
    signs = [compiled(torch.zeros(1), (value,)).signbit().item() for value in (nan, -nan, nan)]
    assert signs == [False, True, False]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_an_embedding_has_no_row_below_zero_in_compiled_code_too(backend):
    table = nn.Embedding(5, 3)
    compiled = torch.compile(lambda rows: table(rows), backend=backend)
    for rows in ([0, 1], [1, 2, 3]):
        assert compiled(torch.tensor(rows)).tolist() == table(torch.tensor(rows)).tolist()
    for rows in ([-1, 2], [1, -1, 3], [5]):
        with pytest.raises(IndexError):
            compiled(torch.tensor(rows))


def test_forward_of_a_compiled_module_is_compiled_and_runs_its_hooks():
    class Model(nn.Module):
        def forward(self, x):
            return x + int(torch.compiler.is_compiling())

    model = Model()
    model.register_forward_hook(lambda module, arguments, output: output * 10)
    assert torch.compile(model, backend="eager").forward(torch.zeros(1)).tolist() == [10.0]  # as PyTorch
