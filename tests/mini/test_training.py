"""Models that train through the whole stack: losses as eagerly."""

import numpy as np
import pytest
from mini import nn
from mini.front import compile
from mini.tensor import from_numpy

from .models import CNN, GPT, MLP

rng = np.random.default_rng(0)
DATA = {
    MLP: lambda: (rng.random((16, 64), dtype=np.float32), rng.integers(0, 10, 16)),
    CNN: lambda: (rng.random((16, 1, 8, 8), dtype=np.float32), rng.integers(0, 10, 16)),
    GPT: lambda: (rng.integers(0, 65, (2, 32)), rng.integers(0, 65, (2, 32))),
}


def loss_of(model, x, y):
    return nn.cross_entropy(model(x), y)


@pytest.mark.slow
@pytest.mark.parametrize("make", DATA, ids=lambda make: make.__name__)
def test_losses_are_the_eager_ones(make):
    batches, losses = [DATA[make]()] * 3, []
    for f in (loss_of, compile(loss_of)):
        nn.random = np.random.default_rng(0)
        model = make()
        optimizer = nn.Adam(model.parameters(), 1e-3)
        for x, y in batches:
            optimizer.zero_grad()
            loss = f(model, from_numpy(x), from_numpy(y))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.allclose(losses[:3], losses[3:], atol=1e-5)
    assert losses[2] < losses[0]
