"""Wav2Letter with CTC, its convolutions weight-normalised (Collobert et al., 2016)."""

import torch
from torch import nn, Tensor
import torch.nn.functional as F
from torch.nn.utils import weight_norm


class Wav2Letter(nn.Module):
    def __init__(self, num_classes: int = 8, input_type: str = "waveform", num_features: int = 1) -> None:
        super().__init__()
        acoustic_num_features = 12 if input_type == "waveform" else num_features
        acoustic_model = nn.Sequential(
            weight_norm(nn.Conv1d(in_channels=acoustic_num_features, out_channels=12, kernel_size=4, stride=2, padding=3)),
            nn.ReLU(inplace=True),
            nn.Conv1d(in_channels=12, out_channels=12, kernel_size=7, stride=1, padding=3),
            nn.Hardtanh(0, 20, inplace=True),
            nn.Conv1d(in_channels=12, out_channels=num_classes, kernel_size=1, stride=1, padding=0),
            nn.ReLU(inplace=True),
        )
        if input_type == "waveform":
            waveform_model = nn.Sequential(
                nn.Conv1d(in_channels=num_features, out_channels=12, kernel_size=10, stride=4, padding=3), nn.ReLU(inplace=True)
            )
            self.acoustic_model = nn.Sequential(waveform_model, acoustic_model)
        if input_type in ["power_spectrum", "mfcc"]:
            self.acoustic_model = acoustic_model

    def forward(self, x: Tensor) -> Tensor:
        x = self.acoustic_model(x)
        return nn.functional.log_softmax(x, dim=1)


def greedy_decode(emission, blank=0):
    indices = torch.argmax(emission, dim=-1)
    indices = torch.unique_consecutive(indices, dim=-1)
    return [i.item() for i in indices if i != blank]


def build():
    return Wav2Letter()


def train_step(model, rng):
    waveform = torch.from_numpy(rng.standard_normal((3, 1, 120)).astype("float32"))
    targets = torch.from_numpy(rng.integers(1, 8, (3, 5)))
    target_lengths = torch.tensor([5, 3, 4])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.8)
    output = model(waveform).permute(2, 0, 1)  # T, N, C
    input_lengths = torch.full(size=(3,), fill_value=output.size(0), dtype=torch.long)
    loss = nn.CTCLoss(blank=0, zero_infinity=True)(output, targets, input_lengths, target_lengths)
    loss.backward()
    optimizer.step()
    assert all(1 <= i < 8 for i in greedy_decode(output[:, 0].detach()))
    return loss, output
