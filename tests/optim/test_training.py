"""Training, end to end and eagerly: the handwritten digits of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from minitorch_compile import from_numpy, manual_seed, nn, no_grad, optim, randperm
from minitorch_compile.nn import functional as F


@pytest.fixture(scope="module")
def digits():
    """Images (N, 1, 8, 8) and classes, for training and for testing."""
    images, classes = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    parts = train_test_split(images, classes.astype(np.int64), test_size=0.2, random_state=2, stratify=classes)
    return [from_numpy(np.ascontiguousarray(part)) for part in parts]


def train(model, digits, epochs, lr, batch=32):
    images, _, classes, _ = digits
    optimizer = optim.AdamW(model.parameters(), lr=lr)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        order = randperm(len(images))
        for start in range(0, len(images) - batch + 1, batch):
            chosen = order[start : start + batch]
            loss = F.cross_entropy(model(images[chosen]), classes[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()


def accuracy(model, digits):
    _, images, _, classes = digits
    model.eval()
    with no_grad():
        return (model(images).argmax(1) == classes).float().mean().item()


def test_a_multilayer_perceptron_learns_the_digits(digits):
    manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    train(model, digits, epochs=10, lr=1e-2)
    assert accuracy(model, digits) >= 0.96


@pytest.mark.slow
def test_a_convolutional_network_learns_them_better(digits):
    manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(512, 10),
    )
    train(model, digits, epochs=5, lr=5e-3)
    assert accuracy(model, digits) >= 0.98
