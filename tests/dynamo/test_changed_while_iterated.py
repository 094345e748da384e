"""Dicts that a loop changes while it runs through them: compiled, it ends where Python's does, or raises as it does."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import minitorch_compile as torch


def take_out(d, y):
    for key in d:
        d.pop(key)
    return y + 1


def put_in(d, y):
    for key in d:
        d["z"] = key
    return y + 1


def take_out_backwards(d, y):
    for key in reversed(d):
        d.pop(key)
    return y + 1


def put_in_at_the_last(d, y):
    count = 0
    for _ in d:
        count += 1
        if count == 2:
            d["r"] = 3
    return y + count


def put_in_after_the_last(d, y):
    keys = iter(d)
    taken = [next(keys, None), next(keys, None)]
    d["z"] = 1
    return y + len([*taken, *keys])


def go_on_after_the_end(d, y):
    keys = iter(d)
    count = len(list(keys))
    d["another"] = 2
    return y + count + (next(keys, "end") == "end")


def move_to_end(d, y):
    for key, _ in d.items():
        getattr(d, "move_to_end", d.get)(key)
    return y + 1


def take_out_and_put_in(d, y):
    for key in d:
        d[key + "again"] = d.pop(key)
        if len(key) > 20:
            break
    return y + 1


def overwrite(d, y):
    for key in d:
        d[key] = 3
    return y + 1


def take_out_values(d, y):
    for _ in d.values():
        d.popitem()
    return y + 1


PROGRAMS = [take_out, put_in, take_out_backwards, put_in_at_the_last, put_in_after_the_last, go_on_after_the_end]
PROGRAMS += [move_to_end, take_out_and_put_in, overwrite, take_out_values]


def outcome(program, made):
    try:
        result = program(made, torch.zeros(2)).tolist()
    except RuntimeError as error:
        result = str(error)
    return result, list(made.items())


@pytest.mark.parametrize("content", [{}, {"p": 1}, {"p": 1, "q": 2}, {"p": 1, "q": 2, "r": 3}], ids=len)
@pytest.mark.parametrize("kind", [dict, OrderedDict])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_loop_over_what_it_changes(program, kind, content):
    compiled = torch.compile(program, backend="eager")
    assert outcome(compiled, kind(content)) == outcome(program, kind(content))


def test_an_ordered_dict_that_a_first_call_has_emptied():
    def program(d, y):
        try:
            for key in d:
                d.pop(key)
        except RuntimeError:
            y += 1
        return y

    compiled = torch.compile(program, backend="eager")
    ours, theirs = OrderedDict(p=1, q=2), OrderedDict(p=1, q=2)
    for _ in range(3):
        assert compiled(ours, torch.zeros(1)).tolist() == program(theirs, torch.zeros(1)).tolist()
        assert ours == theirs
