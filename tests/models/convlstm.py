"""ConvLSTM for the next frame of a video (Shi et al., 2015)."""

import torch.nn as nn
import torch


class ConvLSTMCell(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size, bias):
        super(ConvLSTMCell, self).__init__()
        self.hidden_dim = hidden_dim
        padding = kernel_size[0] // 2, kernel_size[1] // 2
        self.conv = nn.Conv2d(in_channels=input_dim + hidden_dim, out_channels=4 * hidden_dim,
                              kernel_size=kernel_size, padding=padding, padding_mode='circular', bias=bias)

    def forward(self, input_tensor, cur_state):
        h_cur, c_cur = cur_state
        combined = torch.cat([input_tensor, h_cur], dim=1)  # concatenate along channel axis
        combined_conv = self.conv(combined)
        cc_i, cc_f, cc_o, cc_g = torch.split(combined_conv, self.hidden_dim, dim=1)
        i = torch.sigmoid(cc_i)
        f = torch.sigmoid(cc_f)
        o = torch.sigmoid(cc_o)
        g = torch.tanh(cc_g)
        c_next = f * c_cur + i * g
        h_next = o * torch.tanh(c_next)
        return h_next, c_next

    def init_hidden(self, batch_size, image_size):
        height, width = image_size
        return (torch.zeros(batch_size, self.hidden_dim, height, width, device=self.conv.weight.device),
                torch.zeros(batch_size, self.hidden_dim, height, width, device=self.conv.weight.device))


class ConvLSTM(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size, num_layers, batch_first=False, bias=True):
        super().__init__()
        if not isinstance(hidden_dim, list):
            hidden_dim = [hidden_dim] * num_layers
        self.batch_first = batch_first
        self.cell_list = nn.ModuleList([
            ConvLSTMCell(input_dim if i == 0 else hidden_dim[i - 1], hidden_dim[i], kernel_size, bias) for i in range(num_layers)])
        self.predict = nn.Conv3d(hidden_dim[-1], input_dim, (3, 1, 1), padding=(1, 0, 0))

    def forward(self, input_tensor):
        if not self.batch_first:
            input_tensor = input_tensor.permute(1, 0, 2, 3, 4)  # (t, b, c, h, w) -> (b, t, c, h, w)
        b, _, _, h, w = input_tensor.size()
        seq_len = input_tensor.size(1)
        cur_layer_input = input_tensor
        for cell in self.cell_list:
            state = cell.init_hidden(b, (h, w))
            output_inner = []
            for t in range(seq_len):
                state = cell(input_tensor=cur_layer_input[:, t, :, :, :], cur_state=state)
                output_inner.append(state[0])
            cur_layer_input = torch.stack(output_inner, dim=1)
        return self.predict(cur_layer_input.permute(0, 2, 1, 3, 4)).permute(0, 2, 1, 3, 4)


def build():
    return ConvLSTM(1, [4, 4], (3, 3), 2, batch_first=False)


def train_step(model, rng):
    video = torch.from_numpy(rng.random((5, 2, 1, 8, 8)).astype('float32'))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, centered=True)
    out = model(video[:-1])
    target = video[1:].transpose(0, 1)
    loss = nn.SmoothL1Loss(beta=0.5)(out, target) + nn.functional.l1_loss(out, target) + nn.functional.huber_loss(out, target, delta=0.3)
    loss.backward()
    optimizer.step()
    return loss, out
