"""Tacotron 2 in small: location-sensitive attention, a decoder of LSTM cells, a post-net (Shen et al., 2017)."""

from math import sqrt

import torch
from torch import nn
from torch.autograd import Variable
from torch.nn import functional as F


class LinearNorm(torch.nn.Module):
    def __init__(self, in_dim, out_dim, bias=True, w_init_gain='linear'):
        super(LinearNorm, self).__init__()
        self.linear_layer = torch.nn.Linear(in_dim, out_dim, bias=bias)
        torch.nn.init.xavier_uniform_(self.linear_layer.weight, gain=torch.nn.init.calculate_gain(w_init_gain))

    def forward(self, x):
        return self.linear_layer(x)


class ConvNorm(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size=1, stride=1, padding=None, dilation=1, bias=True, w_init_gain='linear'):
        super(ConvNorm, self).__init__()
        if padding is None:
            assert (kernel_size % 2 == 1)
            padding = int(dilation * (kernel_size - 1) / 2)
        self.conv = torch.nn.Conv1d(in_channels, out_channels, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation, bias=bias)
        torch.nn.init.xavier_uniform_(self.conv.weight, gain=torch.nn.init.calculate_gain(w_init_gain))

    def forward(self, signal):
        conv_signal = self.conv(signal)
        return conv_signal


def get_mask_from_lengths(lengths):
    max_len = torch.max(lengths).item()
    ids = torch.arange(0, max_len, out=torch.LongTensor(max_len))
    mask = (ids < lengths.unsqueeze(1)).bool()
    return mask


class Attention(nn.Module):
    def __init__(self, rnn_dim, embedding_dim, attention_dim, n_filters, kernel_size):
        super(Attention, self).__init__()
        self.query_layer = LinearNorm(rnn_dim, attention_dim, bias=False, w_init_gain='tanh')
        self.memory_layer = LinearNorm(embedding_dim, attention_dim, bias=False, w_init_gain='tanh')
        self.v = LinearNorm(attention_dim, 1, bias=False)
        self.location_conv = ConvNorm(2, n_filters, kernel_size=kernel_size, padding=int((kernel_size - 1) / 2), bias=False)
        self.location_dense = LinearNorm(n_filters, attention_dim, bias=False, w_init_gain='tanh')
        self.score_mask_value = -float("inf")

    def forward(self, hidden, memory, processed_memory, weights_cat, mask):
        processed_query = self.query_layer(hidden.unsqueeze(1))
        processed_weights = self.location_dense(self.location_conv(weights_cat).transpose(1, 2))
        energies = self.v(torch.tanh(processed_query + processed_weights + processed_memory))
        alignment = energies.squeeze(-1)
        if mask is not None:
            alignment.data.masked_fill_(mask, self.score_mask_value)
        attention_weights = F.softmax(alignment, dim=1)
        attention_context = torch.bmm(attention_weights.unsqueeze(1), memory)
        return attention_context.squeeze(1), attention_weights


class Tacotron2(nn.Module):
    def __init__(self, n_symbols=20, dim=8, n_mel=5):
        super(Tacotron2, self).__init__()
        self.embedding = nn.Embedding(n_symbols, dim)
        std = sqrt(2.0 / (n_symbols + dim))
        val = sqrt(3.0) * std
        self.embedding.weight.data.uniform_(-val, val)
        self.convolutions = nn.ModuleList([nn.Sequential(ConvNorm(dim, dim, kernel_size=5, w_init_gain='relu'), nn.BatchNorm1d(dim)) for _ in range(2)])
        self.lstm = nn.LSTM(dim, int(dim / 2), 1, batch_first=True, bidirectional=True)
        self.prenet = nn.ModuleList([LinearNorm(n_mel, dim, bias=False), LinearNorm(dim, dim, bias=False)])
        self.attention_rnn = nn.LSTMCell(dim + dim, dim)
        self.attention_layer = Attention(dim, dim, 6, 4, 5)
        self.decoder_rnn = nn.LSTMCell(dim + dim, dim, 1)
        self.linear_projection = LinearNorm(dim + dim, n_mel)
        self.gate_layer = LinearNorm(dim + dim, 1, bias=True, w_init_gain='sigmoid')
        self.postnet = nn.Sequential(ConvNorm(n_mel, dim, kernel_size=5, w_init_gain='tanh'), nn.BatchNorm1d(dim), nn.Tanh(), ConvNorm(dim, n_mel, kernel_size=5))
        self.n_mel = n_mel

    def encode(self, x, input_lengths):
        for conv in self.convolutions:
            x = F.dropout(F.relu(conv(x)), 0.0, self.training)
        x = x.transpose(1, 2)
        input_lengths = input_lengths.cpu().numpy()
        x = nn.utils.rnn.pack_padded_sequence(x, input_lengths, batch_first=True)
        self.lstm.flatten_parameters()
        outputs, _ = self.lstm(x)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
        return outputs

    def forward(self, text, text_lengths, mels):
        memory = self.encode(self.embedding(text).transpose(1, 2), text_lengths)
        mask = ~get_mask_from_lengths(text_lengths)
        B, T = memory.size(0), memory.size(1)
        decoder_input = Variable(memory.data.new(B, self.n_mel).zero_()).unsqueeze(0)
        decoder_inputs = torch.cat((decoder_input, mels.transpose(1, 2).transpose(0, 1)), dim=0)
        for linear in self.prenet:
            decoder_inputs = F.dropout(F.relu(linear(decoder_inputs)), p=0.0, training=True)
        h = c = dh = dc = context = Variable(memory.data.new(B, 8).zero_())
        weights = weights_cum = Variable(memory.data.new(B, T).zero_())
        processed_memory = self.attention_layer.memory_layer(memory)
        mel_outputs, gate_outputs, alignments = [], [], []
        while len(mel_outputs) < decoder_inputs.size(0) - 1:
            cell_input = torch.cat((decoder_inputs[len(mel_outputs)], context), -1)
            h, c = self.attention_rnn(cell_input, (h, c))
            weights_cat = torch.cat((weights.unsqueeze(1), weights_cum.unsqueeze(1)), dim=1)
            context, weights = self.attention_layer(h, memory, processed_memory, weights_cat, mask)
            weights_cum = weights_cum + weights
            dh, dc = self.decoder_rnn(torch.cat((h, context), -1), (dh, dc))
            hidden_context = torch.cat((dh, context), dim=1)
            mel_outputs += [self.linear_projection(hidden_context).squeeze(1)]
            gate_outputs += [self.gate_layer(hidden_context).squeeze()]
            alignments += [weights]
        alignments = torch.stack(alignments).transpose(0, 1)
        gate_outputs = torch.stack(gate_outputs).transpose(0, 1).contiguous()
        mel_outputs = torch.stack(mel_outputs).transpose(0, 1).contiguous()
        mel_outputs = mel_outputs.view(mel_outputs.size(0), -1, self.n_mel).transpose(1, 2)
        return [mel_outputs, mel_outputs + self.postnet(mel_outputs), gate_outputs, alignments]


def build():
    return Tacotron2()


def train_step(model, rng):
    text = torch.from_numpy(rng.integers(0, 20, (3, 7)))
    text_lengths = torch.LongTensor([7, 5, 4])
    mels = torch.from_numpy(rng.standard_normal((3, 5, 6)).astype("float32"))
    gate_target = torch.FloatTensor(3, 6).zero_()
    gate_target[:, 5:] = 1
    mels.requires_grad = False
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-6, eps=1e-2)
    model.zero_grad()
    mel_out, mel_out_postnet, gate_out, alignments = model(text, text_lengths, mels)
    mel_loss = nn.MSELoss()(mel_out, mels) + nn.MSELoss()(mel_out_postnet, mels)
    gate_loss = nn.BCEWithLogitsLoss()(gate_out.reshape(-1, 1), gate_target.view(-1, 1))
    loss = mel_loss + gate_loss
    loss.backward()
    grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss, [mel_out, mel_out_postnet, alignments, grad_norm]
