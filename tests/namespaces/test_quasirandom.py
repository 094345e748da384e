"""torch.quasirandom: the points were recorded with PyTorch 2.13, the scrambled ones with its random stream."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile.quasirandom import SobolEngine


def test_points_are_pytorchs():
    engine = SobolEngine(3)
    assert engine.draw(5).tolist() == [
        [0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5],
        [0.75, 0.25, 0.25],
        [0.25, 0.75, 0.75],
        [0.375, 0.375, 0.625],
    ]
    assert engine.fast_forward(1101).draw(1).tolist() == [[0.86865234375, 0.24365234375, 0.59619140625]]
    wide = SobolEngine(1111)
    assert round(wide.draw(5).double().sum().item(), 6) == 2215.625
    assert round(wide.fast_forward(101).draw(100).double().sum().item(), 6) == 55540.773438


def test_leaving_points_out_is_drawing_them():
    drawn, forwarded = SobolEngine(5), SobolEngine(5)
    drawn.draw(7)
    forwarded.fast_forward(3).fast_forward(4)
    assert torch.equal(drawn.draw(2), forwarded.draw(2))
    assert drawn.reset().draw(1).tolist() == [[0.0] * 5]


def test_scrambled_points_are_pytorchs(monkeypatch):
    monkeypatch.setattr(config, "random_stream", "mt19937")
    engine = SobolEngine(4, scramble=True, seed=7)
    assert engine.shift.tolist() == [214182645, 183537049, 804615878, 197905403]
    assert [round(x, 4) for x in engine.draw(4)[-1].tolist()] == [0.3829, 0.8134, 0.3376, 0.78]
    assert repr(engine) == "SobolEngine(dimension=4, scramble=True, seed=7)"


def test_powers_of_2_are_balanced():
    engine = SobolEngine(2)
    assert engine.draw_base2(2).mean(0).tolist() == [0.375, 0.375]
    with pytest.raises(ValueError, match="4 points have been previously generated, then: n=4\\+2\\*\\*3=12"):
        engine.draw_base2(3)


def test_points_go_into_what_is_given():
    out = torch.empty(0, dtype=torch.float64)
    assert SobolEngine(2).draw(2, out=out, dtype=torch.float64) is out and out.tolist() == [[0, 0], [0.5, 0.5]]


@pytest.mark.parametrize("dimension", [0, 21202])
def test_a_dimension_without_direction_numbers_is_refused(dimension):
    with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, 21201\]"):
        SobolEngine(dimension)
