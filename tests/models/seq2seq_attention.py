"""Sequence to sequence with additive attention, decoded step by step (Bahdanau et al., 2014)."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim

SOS_token = 0
EOS_token = 1


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.0):
        super(EncoderRNN, self).__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        embedded = self.dropout(self.embedding(input))
        return self.gru(embedded)


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super(BahdanauAttention, self).__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, max_length):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.cell = nn.GRUCell(2 * hidden_size, hidden_size)
        self.refine = nn.LSTMCell(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)
        self.max_length = max_length

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long).fill_(SOS_token)
        hidden = encoder_hidden[-1]
        state = None
        decoder_outputs = []
        attentions = []
        for i in range(self.max_length):
            embedded = self.embedding(decoder_input)
            context, attn_weights = self.attention(hidden.unsqueeze(1), encoder_outputs)
            hidden = self.cell(torch.cat((embedded, context), dim=2).squeeze(1), hidden)
            state = self.refine(hidden, state)
            decoder_outputs.append(self.out(state[0]))
            attentions.append(attn_weights)
            if target_tensor is not None and i % 2 == 0:
                decoder_input = target_tensor[:, i].unsqueeze(1)  # teacher forcing
            else:
                _, topi = decoder_outputs[-1].topk(1)
                decoder_input = topi.detach()
        decoder_outputs = F.log_softmax(torch.stack(decoder_outputs, dim=1), dim=-1)
        return decoder_outputs, torch.cat(attentions, dim=1)


def build():
    return nn.ModuleDict({'encoder': EncoderRNN(20, 12), 'decoder': AttnDecoderRNN(12, 22, 5)})


def train_step(models, rng):
    encoder, decoder = models['encoder'], models['decoder']
    input_tensor = torch.from_numpy(rng.integers(2, 20, (3, 6)))
    target_tensor = torch.from_numpy(rng.integers(2, 22, (3, 5)))
    encoder_optimizer = optim.SGD(encoder.parameters(), lr=0.05)
    decoder_optimizer = optim.SGD(decoder.parameters(), lr=0.05)
    criterion = nn.NLLLoss()
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    encoder_outputs, encoder_hidden = encoder(input_tensor)
    decoder_outputs, attentions = decoder(encoder_outputs, encoder_hidden, target_tensor)
    loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    return loss, (decoder_outputs, attentions)
