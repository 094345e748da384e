"""A learner's function in the package: seen by everyone who imported the name, gone afterwards."""

from __future__ import annotations

import gc
import inspect
import threading

import pytest

import minitorch_compile as torch
from minitorch_compile.course import original, splice, splice_all
from minitorch_compile.course.checking.lessons import all_lessons
from minitorch_compile.course.splicing.splice_points import SPLICE_POINTS, splice_point
from minitorch_compile.dynamo.guards.dict_versions import word_of_dict
from minitorch_compile.dynamo.guards.memory_snapshot import native_code
from minitorch_compile.tensor.memory import strides


def column_major(sizes):
    return tuple(strides.numel(sizes[:dim]) for dim in range(len(sizes)))


@pytest.mark.parametrize("point", SPLICE_POINTS, ids=lambda point: point.name)
def test_every_splice_point_is_a_function_with_the_declared_parameters(point):
    assert tuple(inspect.signature(point.function()).parameters) == point.parameters
    assert point.function().__closure__ is None, "a closure can't be exchanged"
    assert point.contract.endswith(".")


def test_every_splice_point_is_the_place_of_an_exercise_or_loads_kernels():
    places = {exercise.place for lesson in all_lessons() for exercise in lesson.exercises if exercise.place}
    assert {point.name for point in SPLICE_POINTS} == {*places, "inductor.load"}


def test_new_tensors_are_laid_out_by_the_spliced_function_and_later_ones_are_not():
    with splice("tensor.contiguous_strides", column_major):
        assert torch.zeros(2, 3).stride() == (1, 2)
    assert torch.zeros(2, 3).stride() == (3, 1)


def test_the_package_is_whole_again_after_an_error():
    with pytest.raises(ZeroDivisionError), splice("tensor.contiguous_strides", lambda sizes: 1 // 0):
        torch.zeros(2, 3)
    assert torch.zeros(2, 3).stride() == (3, 1)


def test_splices_nest():
    with splice("tensor.contiguous_strides", column_major):
        with splice("tensor.contiguous_strides", lambda sizes: (7,) * len(sizes)):
            assert strides.contiguous_strides((2, 3)) == (7, 7)
        assert strides.contiguous_strides((2, 3)) == (1, 2)
    assert strides.contiguous_strides((2, 3)) == (3, 1)


def test_several_places_at_once():
    answers = {"tensor.contiguous_strides": column_major, "tensor.is_contiguous": lambda sizes, strides: False}
    with splice_all(answers):
        assert strides.contiguous_strides((2, 3)) == (1, 2)
        assert strides.is_contiguous((2,), (1,)) is False
    assert strides.is_contiguous((2,), (1,)) is True


def test_a_stub_spliced_in_is_a_message_not_an_error(capsys):
    def stub(sizes):
        raise NotImplementedError("your code here")

    with splice("tensor.contiguous_strides", stub):
        torch.zeros(2, 3)
    assert "tensor.contiguous_strides: the function spliced in is not written yet" in capsys.readouterr().out


def test_an_unsupported_operation_elsewhere_is_still_an_error():
    with pytest.raises(NotImplementedError), splice("tensor.contiguous_strides", column_major):
        raise NotImplementedError("something else")


def test_the_learners_function_may_call_the_original():
    own = original("tensor.contiguous_strides")
    with splice("tensor.contiguous_strides", lambda sizes: own(sizes)[::-1]):
        assert strides.contiguous_strides((2, 3)) == (1, 3)


def test_two_threads_that_splice_wait_for_each_other():
    seen = []

    def splicing():
        with splice("tensor.contiguous_strides", lambda sizes: (9,)):
            seen.append(strides.contiguous_strides((4,)))

    with splice("tensor.contiguous_strides", lambda sizes: (8,)):
        thread = threading.Thread(target=splicing)
        thread.start()
        assert strides.contiguous_strides((4,)) == (8,)
    thread.join()
    assert seen == [(9,)] and strides.contiguous_strides((4,)) == (1,)


def test_an_unknown_place_lists_the_places():
    with pytest.raises(LookupError, match=r"no splice point 'tensor.stride'. Choose one of: tensor.contiguous_strides"):
        splice_point("tensor.stride")


def test_what_is_spliced_in_must_be_callable():
    with pytest.raises(TypeError, match="function must be callable, got int"), splice("tensor.is_contiguous", 3):
        pass


def test_the_compiler_runs_on_a_spliced_function_and_forgets_it_afterwards():
    own, calls = original("tensor.contiguous_strides"), []

    def counted(sizes):
        calls.append(sizes)
        return own(sizes)

    double = torch.compile(lambda x: (x.t() * 2).sum(0), backend="loops")
    x = torch.arange(6.0).reshape(2, 3)
    with splice("tensor.contiguous_strides", counted):
        assert double(x).tolist() == [6.0, 24.0]
    assert calls
    calls.clear()
    assert double(x).tolist() == [6.0, 24.0] and not calls


def test_machine_code_that_is_in_use_stays_where_it_is():
    """Objects that outlive the splice hold its address, and the garbage collector looks at them."""
    model = torch.nn.Linear(2, 2)
    compiled = torch.compile(model, backend="eager")
    compiled(torch.ones(1, 2))
    before, word_of = native_code(), word_of_dict()
    with splice("tensor.contiguous_strides", column_major):
        pass
    assert native_code() is before
    assert word_of_dict() is word_of
    gc.collect()
    compiled(torch.ones(1, 2))
