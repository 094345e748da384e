"""A GPT of four layers, 128 wide, and its training step, for either library."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

VOCABULARY, WIDTH, HEADS, LAYERS, BATCH, LENGTH = 256, 128, 4, 4, 8, 128


def training_step(torch: Any) -> Callable[[], object]:
    """Forward, loss, backward, clipping and AdamW on 8 sequences of 128 tokens."""
    torch.manual_seed(0)
    model = gpt(torch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1))

    def step() -> Any:
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


def gpt(torch: Any) -> Any:
    """The model, made of that library's modules."""
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.attend, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.register_buffer("mask", torch.tril(torch.ones(LENGTH, LENGTH)) == 0)

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            q, k, v = self.attend(x).split(width, dim=2)
            q, k, v = (t.view(batch, length, HEADS, width // HEADS).transpose(1, 2) for t in (q, k, v))
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(width // HEADS)
            weights = functional.softmax(scores.masked_fill(self.mask[:length, :length], -math.inf), dim=-1)
            return self.project((weights @ v).transpose(1, 2).reshape(batch, length, width))

    class Block(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.before = Attention(), nn.LayerNorm(WIDTH)
            self.mlp = nn.Sequential(
                nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
            )

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.before(x))
            return x + self.mlp(x)

    class GPT(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    return GPT()
