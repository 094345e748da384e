"""A Conformer block over a spectrogram: macaron feed-forward, relative shift, gated depthwise convolution (Gulati et al., 2020)."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Transpose(nn.Module):
    def __init__(self, shape: tuple):
        super().__init__()
        self.shape = shape

    def forward(self, x):
        return x.transpose(*self.shape)


class ResidualConnectionModule(nn.Module):
    def __init__(self, module: nn.Module, module_factor: float = 1.0):
        super().__init__()
        self.module, self.module_factor = module, module_factor

    def forward(self, inputs):
        return (self.module(inputs) * self.module_factor) + inputs


def feed_forward(dim, expansion=2):
    return nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim * expansion), nn.SiLU(), nn.Dropout(p=0.0), nn.Linear(dim * expansion, dim))


class ConvModule(nn.Module):
    def __init__(self, dim, kernel_size=5):
        super().__init__()
        self.sequential = nn.Sequential(
            nn.LayerNorm(dim), Transpose(shape=(1, 2)), nn.Conv1d(dim, dim * 2, 1), nn.GLU(dim=1),
            nn.Conv1d(dim, dim, kernel_size, groups=dim, padding='same', bias=False), nn.BatchNorm1d(dim), nn.SiLU(), nn.Conv1d(dim, dim, 1),
        )

    def forward(self, inputs):
        return self.sequential(inputs).transpose(1, 2)


class RelativeMultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.norm = nn.LayerNorm(d_model)
        self.query_proj, self.key_proj, self.value_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.pos_proj = nn.Linear(d_model, d_model, bias=False)
        self.u_bias = nn.Parameter(torch.Tensor(num_heads, self.d_head))
        self.v_bias = nn.Parameter(torch.Tensor(num_heads, self.d_head))
        torch.nn.init.xavier_uniform_(self.u_bias)
        torch.nn.init.xavier_uniform_(self.v_bias)
        pe = torch.zeros(40, d_model, requires_grad=False)
        position = torch.arange(0, 40).unsqueeze(1).float()
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer('pe', pe.unsqueeze(0))

    def forward(self, x):
        x = self.norm(x)
        b, t, _ = x.size()
        query = self.query_proj(x).view(b, -1, self.num_heads, self.d_head)
        key = self.key_proj(x).view(b, -1, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        value = self.value_proj(x).view(b, -1, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        pos = self.pos_proj(self.pe[:, :t]).view(1, -1, self.num_heads, self.d_head).expand(b, -1, -1, -1)
        content_score = torch.matmul((query + self.u_bias).transpose(1, 2), key.transpose(2, 3))
        pos_score = torch.matmul((query + self.v_bias).transpose(1, 2), pos.permute(0, 2, 3, 1))
        pos_score = self._relative_shift(pos_score)
        attn = F.softmax((content_score + pos_score) / math.sqrt(self.d_head * self.num_heads), -1)
        context = torch.matmul(attn, value).transpose(1, 2)
        return self.out_proj(context.contiguous().view(b, -1, self.num_heads * self.d_head))

    def _relative_shift(self, pos_score):
        batch_size, num_heads, seq_length1, seq_length2 = pos_score.size()
        zeros = pos_score.new_zeros(batch_size, num_heads, seq_length1, 1)
        padded_pos_score = torch.cat([zeros, pos_score], dim=-1)
        padded_pos_score = padded_pos_score.view(batch_size, num_heads, seq_length2 + 1, seq_length1)
        return padded_pos_score[:, :, 1:].view_as(pos_score)


class Conformer(nn.Module):
    def __init__(self, dim=12, classes=6):
        super().__init__()
        self.subsample = nn.Sequential(nn.Conv2d(1, dim, kernel_size=3, stride=2), nn.ReLU(), nn.Conv2d(dim, dim, kernel_size=3, stride=2), nn.ReLU())
        self.input = nn.Linear(dim * 3, dim)
        self.block = nn.Sequential(
            ResidualConnectionModule(feed_forward(dim), 0.5), ResidualConnectionModule(RelativeMultiHeadAttention(dim, 3)),
            ResidualConnectionModule(ConvModule(dim)), ResidualConnectionModule(feed_forward(dim), module_factor=0.5), nn.LayerNorm(dim),
        )
        self.lstm = nn.LSTM(dim, dim, num_layers=1, batch_first=True, proj_size=8)
        self.fc = nn.Linear(8, classes, bias=False)

    def forward(self, spectrogram):
        outputs = self.subsample(spectrogram.unsqueeze(1))
        batch_size, channels, steps, features = outputs.size()
        outputs = outputs.permute(0, 2, 1, 3).contiguous().view(batch_size, steps, channels * features)
        outputs, (h, c) = self.lstm(self.block(self.input(outputs)))
        return self.fc(outputs).log_softmax(dim=-1), h, c


def build():
    return Conformer()


def train_step(model, rng):
    spectrogram = torch.from_numpy(rng.standard_normal((2, 35, 15)).astype('float32'))
    targets = torch.cat([torch.from_numpy(rng.integers(1, 6, n)) for n in (3, 2)])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-2)
    log_probs, h, c = model(spectrogram)
    loss = F.ctc_loss(log_probs.transpose(0, 1), targets, (8, 7), (3, 2), reduction='sum')
    loss.backward()
    optimizer.step()
    return loss, [log_probs, h, c]
