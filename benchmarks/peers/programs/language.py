"""Models that read sequences."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.gpt import BATCH, LENGTH, VOCABULARY
from benchmarks.gpt import gpt as gpt_of
from benchmarks.peers.programs.inputs import integers, normal
from benchmarks.peers.programs.vision import EncoderBlock
from benchmarks.peers.row import Model, model, whole_step


def next_word(module: nn.Module, words: int, batch: int, length: int) -> Model:
    """A model of words that is to guess the next one."""
    text = integers(words, batch, length + 1)
    loss = lambda logits: F.cross_entropy(logits.reshape(-1, words), text[:, 1:].reshape(-1))
    return Model(module, (text[:, :-1].contiguous(),), loss)


@whole_step
@model
def gpt() -> Model:
    """Four layers, 128 wide, 8 sequences of 128 tokens; attention written out."""
    return next_word(gpt_of(torch), VOCABULARY, BATCH, LENGTH)


class Bert(nn.Module):
    def __init__(self, words: int = 512, width: int = 128, length: int = 64) -> None:
        super().__init__()
        self.words, self.places, self.parts = (nn.Embedding(count, width) for count in (words, length, 2))
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.Sequential(*[EncoderBlock(width, 4) for _ in range(3)])
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.head = nn.Linear(width, words)

    def forward(self, words: torch.Tensor, parts: torch.Tensor) -> torch.Tensor:
        x = self.words(words) + self.places(torch.arange(words.shape[1], device=words.device)) + self.parts(parts)
        return self.head(self.transform(self.blocks(self.norm(x))))


@model
def bert() -> Model:
    """An encoder that restores masked words."""
    words, parts, truth = integers(512, 8, 64), integers(2, 8, 64, name="parts"), integers(512, 8, 64, name="truth")
    loss = lambda logits: F.cross_entropy(logits.reshape(-1, 512), truth.reshape(-1))
    return Model(Bert(), (words, parts), loss)


class LSTM(nn.Module):
    """A cell written out, over 16 steps."""

    def __init__(self, words: int = 256, width: int = 128) -> None:
        super().__init__()
        self.words, self.width = nn.Embedding(words, width), width
        self.input, self.hidden = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width)
        self.head = nn.Linear(width, words)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        gates_of_inputs = self.input(self.words(words))
        state = cell = torch.zeros(words.shape[0], self.width, device=words.device)
        outputs = []
        for gates_of_input in gates_of_inputs.unbind(1):
            enter, forget, new, leave = (gates_of_input + self.hidden(state)).chunk(4, 1)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
            state = torch.sigmoid(leave) * torch.tanh(cell)
            outputs.append(state)
        return self.head(torch.stack(outputs, 1))


@model
def lstm() -> Model:
    return next_word(LSTM(), 256, 32, 16)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


def rotate(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Rotary embedding: the halves of each head are a plane, turned by an angle that grows with the place."""
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class LlamaBlock(nn.Module):
    def __init__(self, width: int, heads: int, groups: int, length: int) -> None:
        super().__init__()
        self.heads, self.groups, self.head = heads, groups, width // heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, groups * self.head, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)
        speeds = 10000.0 ** (-torch.arange(0, self.head, 2) / self.head)
        angles = torch.arange(length)[:, None] * speeds
        self.register_buffer("cosine", torch.cos(angles))
        self.register_buffer("sine", torch.sin(angles))

    def heads_of(self, x: torch.Tensor, count: int) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], count, self.head).transpose(1, 2)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        q = rotate(self.heads_of(self.q(x), self.heads), self.cosine, self.sine)
        k = rotate(self.heads_of(self.k(x), self.groups), self.cosine, self.sine)
        v = self.heads_of(self.v(x), self.groups)
        k, v = (t.repeat_interleave(self.heads // self.groups, 1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(x.shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm1(x))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


@model
def llama_block() -> Model:
    """Grouped queries, rotary embedding, gated units."""
    inputs = normal(4, 128, 128)
    return Model(LlamaBlock(128, 4, 2, 128), (inputs,), lambda y: y.square().mean())
