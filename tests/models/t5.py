"""T5: bucketed relative positions, encoder and decoder in one class, no biases (Raffel et al., 2019)."""

import math

import torch
from torch import nn
import torch.nn.functional as F


class T5LayerNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        if self.weight.dtype in [torch.float16, torch.bfloat16]:
            hidden_states = hidden_states.to(self.weight.dtype)
        return self.weight * hidden_states


class T5Attention(nn.Module):
    def __init__(self, d_model, n_heads, is_decoder=False, has_relative_attention_bias=False):
        super().__init__()
        self.n_heads, self.d_kv, self.is_decoder = n_heads, d_model // n_heads, is_decoder
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.has_bias = has_relative_attention_bias
        self.num_buckets, self.max_distance = 8, 16
        if self.has_bias:
            self.relative_attention_bias = nn.Embedding(self.num_buckets, n_heads)

    @staticmethod
    def _relative_position_bucket(relative_position, bidirectional=True, num_buckets=32, max_distance=128):
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
            relative_position = torch.abs(relative_position)
        else:
            relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        relative_position_if_large = max_exact + (
            torch.log(relative_position.float() / max_exact) / math.log(max_distance / max_exact) * (num_buckets - max_exact)
        ).to(torch.long)
        relative_position_if_large = torch.min(
            relative_position_if_large, torch.full_like(relative_position_if_large, num_buckets - 1))
        relative_buckets += torch.where(is_small, relative_position, relative_position_if_large)
        return relative_buckets

    def compute_bias(self, query_length, key_length):
        context_position = torch.arange(query_length, dtype=torch.long)[:, None]
        memory_position = torch.arange(key_length, dtype=torch.long)[None, :]
        buckets = self._relative_position_bucket(
            memory_position - context_position, bidirectional=(not self.is_decoder), num_buckets=self.num_buckets, max_distance=self.max_distance)
        return self.relative_attention_bias(buckets).permute([2, 0, 1]).unsqueeze(0)

    def forward(self, hidden_states, key_value_states=None, mask=None):
        batch_size = hidden_states.shape[0]
        source = hidden_states if key_value_states is None else key_value_states

        def shape(states):
            return states.view(batch_size, -1, self.n_heads, self.d_kv).transpose(1, 2)

        query, key, value = shape(self.q(hidden_states)), shape(self.k(source)), shape(self.v(source))
        scores = torch.matmul(query, key.transpose(3, 2))
        if self.has_bias:
            scores += self.compute_bias(scores.shape[-2], scores.shape[-1])
        if mask is not None:
            scores += mask
        attn_weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        out = torch.matmul(attn_weights, value).transpose(1, 2).contiguous().view(batch_size, -1, self.n_heads * self.d_kv)
        return self.o(out)


class T5Block(nn.Module):
    def __init__(self, d_model, d_ff, n_heads, is_decoder):
        super().__init__()
        self.is_decoder = is_decoder
        self.layer = nn.ModuleList()
        self.layer.append(nn.ModuleDict({"attention": T5Attention(d_model, n_heads, is_decoder, True), "norm": T5LayerNorm(d_model)}))
        if is_decoder:
            self.layer.append(nn.ModuleDict({"attention": T5Attention(d_model, n_heads, is_decoder), "norm": T5LayerNorm(d_model)}))
        self.layer.append(nn.ModuleDict({"wi_0": nn.Linear(d_model, d_ff, bias=False), "wi_1": nn.Linear(d_model, d_ff, bias=False),
                                         "wo": nn.Linear(d_ff, d_model, bias=False), "norm": T5LayerNorm(d_model)}))

    def forward(self, x, mask=None, memory=None):
        x = x + self.layer[0]["attention"](self.layer[0]["norm"](x), mask=mask)
        if self.is_decoder:
            x = x + self.layer[1]["attention"](self.layer[1]["norm"](x), key_value_states=memory)
        ff = self.layer[-1]
        normed = ff["norm"](x)
        return x + ff["wo"](F.gelu(ff["wi_0"](normed), approximate="tanh") * ff["wi_1"](normed))


class T5(nn.Module):
    def __init__(self, vocab_size=30, d_model=16, d_ff=24, n_heads=2):
        super().__init__()
        self.shared = nn.Embedding(vocab_size, d_model)
        self.encoder, self.decoder = (T5Block(d_model, d_ff, n_heads, is_decoder) for is_decoder in (False, True))
        self.final_layer_norm = T5LayerNorm(d_model)
        self.model_dim = d_model

    def _shift_right(self, input_ids):
        shifted = input_ids.new_zeros(input_ids.shape)
        shifted[..., 1:] = input_ids[..., :-1].clone()
        shifted.masked_fill_(shifted == -100, 0)
        return shifted

    def forward(self, input_ids, labels):
        memory = self.encoder(self.shared(input_ids))
        decoder_ids = self._shift_right(labels)
        length = decoder_ids.shape[1]
        causal = torch.full((length, length), torch.finfo(torch.float32).min).triu(1)
        hidden = self.final_layer_norm(self.decoder(self.shared(decoder_ids), mask=causal, memory=memory))
        logits = F.linear(hidden * (self.model_dim ** -0.5), self.shared.weight)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)
        return loss, logits


def build():
    return T5()


def train_step(model, rng):
    input_ids = torch.from_numpy(rng.integers(1, 30, (2, 9)))
    labels = torch.from_numpy(rng.integers(1, 30, (2, 6)))
    labels[1, 4:] = -100
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3)
    loss, logits = model(input_ids, labels=labels)
    loss.backward()
    optimizer.step()
    return loss, logits
