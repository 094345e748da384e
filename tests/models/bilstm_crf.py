"""Named entities with a bidirectional LSTM and a conditional random field (Huang et al., 2015)."""

import torch
import torch.nn as nn


class BiLSTM_CRF(nn.Module):
    def __init__(self, vocab_size, num_tags, embedding_dim=8, hidden_dim=12):
        super(BiLSTM_CRF, self).__init__()
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True)
        self.hidden2tag = nn.Linear(hidden_dim, num_tags)
        self.start = nn.Parameter(torch.empty(num_tags))
        self.end = nn.Parameter(torch.empty(num_tags))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags))
        for p in (self.start, self.end, self.transitions):
            nn.init.uniform_(p, -0.1, 0.1)

    def _emissions(self, sentence):
        out, _ = self.lstm(self.word_embeds(sentence))
        return self.hidden2tag(out)

    def _score(self, emissions, tags, mask):
        seq_length, batch_size = tags.shape
        steps = torch.arange(batch_size)
        score = self.start[tags[0]]
        score += emissions[0, steps, tags[0]]
        for i in range(1, seq_length):
            score += self.transitions[tags[i - 1], tags[i]] * mask[i]
            score += emissions[i, steps, tags[i]] * mask[i]
        seq_ends = mask.long().sum(dim=0) - 1
        score += self.end[tags[seq_ends, steps]]
        return score

    def _partition(self, emissions, mask):
        score = self.start + emissions[0]
        for i in range(1, emissions.size(0)):
            broadcast = score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)
            score = torch.where(mask[i].unsqueeze(1), torch.logsumexp(broadcast, dim=1), score)
        return torch.logsumexp(score + self.end, dim=1)

    @torch.no_grad()
    def viterbi(self, emissions):
        score, history = self.start + emissions[0], []
        for i in range(1, emissions.size(0)):
            best, indices = (score.unsqueeze(2) + self.transitions).max(dim=1)
            score = best + emissions[i]
            history.append(indices)
        _, best_last = (score + self.end).max(dim=1)
        paths = [best_last]
        for indices in reversed(history):
            best_last = indices.gather(1, best_last[:, None]).squeeze(1)
            paths.insert(0, best_last)
        return torch.stack(paths)

    def forward(self, sentence, tags, mask):
        emissions = self._emissions(sentence)
        llh = self._score(emissions, tags, mask) - self._partition(emissions, mask)
        return -llh.sum() / mask.float().sum(), emissions


def build():
    return BiLSTM_CRF(30, 5)


def train_step(model, rng):
    words = torch.from_numpy(rng.integers(0, 30, (7, 3)))
    tags = torch.from_numpy(rng.integers(0, 5, (7, 3)))
    mask = torch.ones(7, 3, dtype=torch.bool)
    mask[5:, 1] = False
    mask[3:, 2] = 0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, weight_decay=1e-4)
    model.zero_grad()
    loss, emissions = model(words, tags, mask)
    loss.backward()
    optimizer.step()
    return loss, (emissions, model.viterbi(emissions.detach()))
