"""Questions about sizes are answered for certain or written down; what was written down decides what follows."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from minitorch_compile.symbolic import FrozenShapeEnv, Range, ShapeEnv, SymInt, is_symbolic, sym_max, sym_min


def env_with(*hints):
    env = ShapeEnv()
    return env, *(env.create(hint) for hint in hints)


def relations(env):
    return [str(relation) for relation in env.relations]


def test_sizes_are_never_zero_or_one_and_that_needs_no_guard():
    env, a = env_with(5)
    assert a != 0 and a != 1 and a > 1 and not a < 2 and bool(a) and a * a > 3
    assert not env.relations and env.ranges == {s: Range() for s in env.hints}


def test_an_equality_lets_one_symbol_stand_for_the_other():
    env, a, b = env_with(6, 6)
    assert a == b and relations(env) == ["s0 == s1"]
    assert a * 2 == b + b and len(env.relations) == 1
    assert str(b * 3) == "3*s0"


def test_an_equality_is_solved_for_a_symbol():
    env, a, b = env_with(7, 3)
    assert a == 2 * b + 1
    assert str(a) == "2*s1 + 1" and a % 2 == 1 and len(env.relations) == 1


def test_a_size_used_as_a_number_becomes_a_constant():
    env, a = env_with(4)
    assert list(range(a)) == [0, 1, 2, 3] and not is_symbolic(a)
    assert relations(env) == ["s0 == 4"]
    assert type(a + 1) is int and a + 0 == 4


@pytest.mark.parametrize("use", [int, float, lambda a: np.empty(a), lambda a: a / 2, lambda a: "x" * a, lambda a: 2**a])
def test_whatever_needs_the_number_specialises(use):
    env, a = env_with(4)
    use(a)
    assert relations(env) == ["s0 == 4"]


def test_an_unknown_size_has_no_hash_and_is_no_int():
    _, a = env_with(4)
    with pytest.raises(TypeError, match="unhashable: the size s0"):
        hash(a)
    assert int(a) == 4 and not isinstance(a, int) and copy.deepcopy(a) is a
    with pytest.raises(TypeError, match="unhashable"):  # a cache would hand it to programs that know nothing of it
        hash(a)


def test_bounds_narrow_the_range_and_answer_later_questions():
    env, a = env_with(10)
    assert a >= 8 and a > 7 and a < 20 and not a > 19
    assert not env.relations and [*env.ranges.values()] == [Range(8, 19)]


def test_a_question_is_written_down_once():
    env, a, b = env_with(4, 5)
    assert a != b and a != b and b != a and a < b and not b < a and a <= b
    assert relations(env) == ["s0 != s1", "s0 + 1 <= s1"]


def test_what_divides_evenly_is_simplified():
    env, a = env_with(8)
    half = a // 2
    assert a % 2 == 0 and relations(env) == ["s0 % 2 == 0"]
    assert half * 2 == a and (half * 6) // 3 == a and len(env.relations) == 1


def test_impossible_equalities_need_no_guard():
    env, a, b = env_with(4, 6)
    assert 2 * a != 2 * b + 1 and a * b != b and a + b != 3
    assert not env.relations


def test_the_greater_of_two_sizes_is_an_expression():
    env, a, b = env_with(4, 6)
    assert str(sym_max(a, b)) == "max(s0, s1)" and sym_max(a, 1) is a and sym_min(a, a + 1) is a
    assert sym_max(a, b) + sym_min(a, b) == a + b and not env.relations


def test_arithmetic_with_numpys_integers_stays_symbolic():
    _, a = env_with(4)
    assert isinstance(np.int64(3) * a, SymInt) and isinstance(a + np.int64(3), SymInt)


def test_dividing_by_a_size_that_could_be_zero_is_guarded():
    env, a = env_with(6)
    assert (12 // (a - 2)) == 3
    assert relations(env) == ["s0 != 2", "12//(s0 - 2) == 3"]
    with pytest.raises(ZeroDivisionError):
        a // (a - a)


def test_numbers_that_are_no_sizes_may_be_anything():
    env = ShapeEnv()
    n = env.create_number(-3)
    assert n < 0 and n * n >= 0 and n != 0
    assert [*env.ranges.values()][0].upper == -1


def test_nothing_is_asked_after_the_guards_were_written():
    env, a = env_with(4)
    env.is_frozen = True
    assert a > 1
    with pytest.raises(FrozenShapeEnv):
        a > 3  # noqa: B015


def test_relations_name_the_line_that_asked():
    env = ShapeEnv(place=lambda: "model.py:7")
    a, b = env.create(4), env.create(5)
    assert a < b and env.relations[0].place == "model.py:7"
