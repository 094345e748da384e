"""no_grad and its relatives as decorators of generators: the mode holds while the generator's own body runs."""

from __future__ import annotations

import pytest

import minitorch_compile as torch


@torch.no_grad()
def counting(n, log):
    try:
        for i in range(n):
            try:
                said = yield i, torch.is_grad_enabled()
                log.append(said)
            except ValueError:
                log.append(("caught", torch.is_grad_enabled()))
        return "done"
    finally:
        log.append(("ended", torch.is_grad_enabled()))


def test_the_mode_holds_inside_and_not_between():
    log = []
    for _, inside in counting(2, log):
        assert not inside
        assert torch.is_grad_enabled()
    assert log == [None, None, ("ended", False)]


def test_what_is_sent_and_thrown_arrives():
    log = []
    generator = counting(3, log)
    next(generator)
    generator.send("hello")
    generator.throw(ValueError)
    generator.close()
    assert log == ["hello", ("caught", False), ("ended", False)]
    assert torch.is_grad_enabled()


def test_the_return_value_and_errors_come_out():
    def outer():
        result = yield from counting(1, [])
        assert result == "done"

    assert len(list(outer())) == 1

    @torch.set_grad_enabled(False)
    def failing():
        yield 1
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        list(failing())
    assert torch.is_grad_enabled()


def test_decorating_with_set_grad_enabled_switches_nothing_by_itself():
    @torch.set_grad_enabled(False)
    def plain():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert not plain()
    assert torch.is_grad_enabled()
