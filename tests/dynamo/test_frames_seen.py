"""What a program learns of its own frame after a graph break: name, file and line are those of the plain function."""

import inspect
import logging
import sys
import traceback
import warnings

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import disable, graph_break, optimize, region_of
from minitorch_compile.dynamo.testing import eager


def place(frame):
    code = frame.f_code
    return code.co_name, code.co_qualname, code.co_filename, frame.f_lineno


def caller():
    return place(sys._getframe(1))


def callers_line():
    return inspect.currentframe().f_back.f_lineno


def warn_caller():
    warnings.warn("careful", stacklevel=2)


def of_the_frame(x):
    graph_break()
    return place(sys._getframe()), x + 1


def of_the_current_frame(x):
    graph_break()
    frame = inspect.currentframe()
    return place(frame), x + 1


def asked_by_a_function(x):
    y = x + 1
    graph_break()
    return caller(), callers_line(), y * 2


def asked_in_a_loop(x):
    seen = []
    for _ in range(2):
        x = x + 1
        seen.append(caller())
        try:
            graph_break()
            raise ValueError
        except ValueError:
            seen.append(caller())
    return seen, x


def innermost_of_the_stack(x):
    graph_break()
    top = inspect.stack()[0]
    return top.function, top.filename, top.lineno, traceback.format_stack()[-1], x + 1


def of_an_exception(x):
    y = x + 1
    graph_break()
    try:
        fail(y)
    except ValueError as error:
        return [(entry.name, entry.lineno) for entry in traceback.extract_tb(error.__traceback__)]


@disable
def fail(x):
    raise ValueError(x.sum().item())


class Method:
    def asked(self, x):
        graph_break()
        return caller(), x + 1


PROGRAMS = [
    of_the_frame,
    of_the_current_frame,
    asked_by_a_function,
    asked_in_a_loop,
    innermost_of_the_stack,
    of_an_exception,
    Method().asked,
]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_name_file_and_line_are_the_plain_ones(function):
    x = torch.ones(2)
    compiled = optimize(function, eager)
    for _ in range(2):
        assert str(compiled(x)) == str(function(x))
    assert region_of(compiled).breaks


def places_of_warnings(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(torch.ones(3, 2))
    return [(str(w.message), w.filename, w.lineno) for w in caught if "[MTC" not in str(w.message)]


def test_a_warning_names_the_line_of_the_caller():
    def f(x):
        graph_break()
        warn_caller()
        y = x * 2
        warnings.warn("own", stacklevel=1)
        return y

    compiled = optimize(f, eager)
    assert len(places_of_warnings(f)) == 2
    for _ in range(2):
        assert places_of_warnings(compiled) == places_of_warnings(f)


class WarnsWhenMade:
    def __init__(self):
        warnings.warn("careful", stacklevel=2)


def softmax_of_a_softmax(x):
    return called_with_no_dim(called_with_no_dim(x))


def called_with_no_dim(x):
    return torch.nn.functional.softmax(x)


THAT_WARN = {
    "out=": lambda x: torch.sin(x, out=torch.ones(2)),
    "out= of a method's function": lambda x: torch.add(x + 1, 1, out=torch.ones(1, 2)) * 2,
    "a functional form": called_with_no_dim,
    "twice, in a function that is called": softmax_of_a_softmax,
    "a module": lambda x: torch.nn.Softmax()(x + 1) * 2,
    "a module when it is made": lambda x: torch.nn.Hardtanh(min_value=-1.0, max_value=2.0)(x),
    "a function of the tensor's floor": lambda x: torch.meshgrid(x[0], x[1]),
    "what is an operation of others": lambda x: torch.cross(torch.ones(3, 2), x),
    "a loss": lambda x: torch.nn.functional.mse_loss(x, x[:1]),
    "a loss, twice": lambda x: torch.nn.functional.l1_loss(x, x[:1], size_average=True),
    "a class of the program": lambda x: (WarnsWhenMade(), x + 1),
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", THAT_WARN)
def test_what_warns_names_the_line_that_calls_it_each_time(name, backend):
    function = THAT_WARN[name]
    compiled = torch.compile(function, backend=backend)
    plain = places_of_warnings(function)
    assert plain and {filename for _, filename, _ in plain} == {__file__}
    for _ in range(2):
        assert places_of_warnings(compiled) == plain


def test_a_log_record_names_the_function_and_the_line():
    logger, records = logging.Logger("frames"), []
    logger.addHandler(handler := logging.Handler())
    handler.emit = lambda record: records.append((record.funcName, record.pathname, record.lineno))

    def f(x):
        graph_break()
        logger.error("here")
        return x + 1

    f(torch.ones(2))
    optimize(f, eager)(torch.ones(2))
    assert records == [("f", __file__, f.__code__.co_firstlineno + 2)] * 2
