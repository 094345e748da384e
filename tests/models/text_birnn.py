"""Text classification from packed sequences: bidirectional LSTM and GRU with attention pooling."""

from typing import List

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class ReviewDataset(Dataset):
    def __init__(self, texts: List[torch.Tensor], labels):
        self.texts, self.labels = texts, labels

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.texts[index], self.labels[index]


def collate(batch):
    batch = sorted(batch, key=lambda pair: len(pair[0]), reverse=True)
    texts, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts, batch_first=True, padding_value=0), lengths, torch.stack([torch.as_tensor(l) for l in labels])


class BiRNN(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, n_layers=2, cell=nn.LSTM, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.rnn = cell(embedding_dim, hidden_dim, num_layers=n_layers, bidirectional=True, batch_first=True, dropout=dropout)
        self.attention = nn.Linear(hidden_dim * 2, 1)
        self.fc = nn.Linear(hidden_dim * 4, output_dim)

    def forward(self, text, text_lengths):
        embedded = self.embedding(text)
        packed = pack_padded_sequence(embedded, text_lengths.cpu(), batch_first=True)
        packed_output, hidden = self.rnn(packed)
        if isinstance(hidden, tuple):
            hidden, cell = hidden
        output, output_lengths = pad_packed_sequence(packed_output, batch_first=True)
        energy = self.attention(torch.tanh(output)).squeeze(-1)
        mask = torch.arange(output.size(1)).expand(len(output_lengths), output.size(1)) >= output_lengths.unsqueeze(1)
        weights = torch.softmax(energy.masked_fill(mask, -1e9), dim=1)
        pooled = torch.bmm(weights.unsqueeze(1), output).squeeze(1)
        hidden = torch.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=1)
        return self.fc(torch.cat([pooled, hidden], dim=1))


def build():
    return nn.ModuleList([BiRNN(30, 8, 6, 1), BiRNN(30, 8, 5, 1, n_layers=1, cell=nn.GRU)])


def train_step(models, rng):
    texts = [torch.from_numpy(rng.integers(1, 30, n)) for n in (4, 9, 6, 7)]
    labels = torch.from_numpy(rng.integers(0, 2, 4)).float()
    loader = DataLoader(ReviewDataset(texts, labels), batch_size=4, shuffle=False, collate_fn=collate, num_workers=0)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(models.parameters(), lr=1e-3, eps=1e-3)
    for text, lengths, label in loader:
        optimizer.zero_grad()
        predictions = [model(text, lengths).squeeze(1) for model in models]
        loss = sum(criterion(p, label) for p in predictions)
        loss.backward()
        optimizer.step()
        rounded = torch.round(torch.sigmoid(predictions[0]))
        accuracy = (rounded == label).float().sum() / len(rounded)
        assert 0 <= accuracy <= 1
    return loss, predictions
