"""DETR's transformer on a small backbone: nn.MultiheadAttention, object queries, set matching (Carion et al., 2020)."""

import copy
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def _get_clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for i in range(N)])


def _get_activation_fn(activation):
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise RuntimeError(F"activation should be relu/gelu, not {activation}.")


class TransformerDecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward=32, dropout=0.0, activation="relu"):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout)
        self.multihead_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.activation = _get_activation_fn(activation)

    def with_pos_embed(self, tensor, pos: Optional[Tensor]):
        return tensor if pos is None else tensor + pos

    def forward(self, tgt, memory, memory_key_padding_mask=None, pos: Optional[Tensor] = None, query_pos: Optional[Tensor] = None):
        q = k = self.with_pos_embed(tgt, query_pos)
        tgt = self.norm1(tgt + self.self_attn(q, k, value=tgt)[0])
        tgt2, weights = self.multihead_attn(query=self.with_pos_embed(tgt, query_pos), key=self.with_pos_embed(memory, pos), value=memory,
                                            key_padding_mask=memory_key_padding_mask)
        tgt = self.norm2(tgt + tgt2)
        tgt = self.norm3(tgt + self.linear2(self.activation(self.linear1(tgt))))
        return tgt, weights


class PositionEmbeddingSine(nn.Module):
    def __init__(self, num_pos_feats=8, temperature=100):
        super().__init__()
        self.num_pos_feats, self.temperature = num_pos_feats, temperature

    def forward(self, mask):
        not_mask = ~mask
        y_embed = not_mask.cumsum(1, dtype=torch.float32)
        x_embed = not_mask.cumsum(2, dtype=torch.float32)
        dim_t = torch.arange(self.num_pos_feats, dtype=torch.float32)
        dim_t = self.temperature ** (2 * torch.div(dim_t, 2, rounding_mode="floor") / self.num_pos_feats)
        pos_x = x_embed[:, :, :, None] / dim_t
        pos_y = y_embed[:, :, :, None] / dim_t
        pos_x = torch.stack((pos_x[:, :, :, 0::2].sin(), pos_x[:, :, :, 1::2].cos()), dim=4).flatten(3)
        pos_y = torch.stack((pos_y[:, :, :, 0::2].sin(), pos_y[:, :, :, 1::2].cos()), dim=4).flatten(3)
        return torch.cat((pos_y, pos_x), dim=3).permute(0, 3, 1, 2)


class DETR(nn.Module):
    def __init__(self, num_classes=4, hidden=16, num_queries=5):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 12, 3, 2, 1), nn.ReLU())
        self.input_proj = nn.Conv2d(12, hidden, kernel_size=1)
        self.position = PositionEmbeddingSine(hidden // 2)
        encoder_layer = nn.TransformerEncoderLayer(hidden, 4, 24, dropout=0.0, activation=F.gelu, norm_first=True)
        self.encoder = nn.TransformerEncoder(encoder_layer, 1, norm=nn.LayerNorm(hidden), enable_nested_tensor=False)
        self.decoder = _get_clones(TransformerDecoderLayer(hidden, 2), 2)
        self.query_embed = nn.Embedding(num_queries, hidden)
        self.class_embed = nn.Linear(hidden, num_classes + 1)
        self.bbox_embed = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 4))

    def forward(self, images, mask):
        src = self.input_proj(self.backbone(images))
        mask = F.interpolate(mask[None].float(), size=src.shape[-2:]).to(torch.bool)[0]
        pos = self.position(mask).flatten(2).permute(2, 0, 1)
        memory = self.encoder(src.flatten(2).permute(2, 0, 1) + pos, src_key_padding_mask=mask.flatten(1))
        query_embed = self.query_embed.weight.unsqueeze(1).repeat(1, images.shape[0], 1)
        tgt, hs = torch.zeros_like(query_embed), []
        for layer in self.decoder:
            tgt, weights = layer(tgt, memory, memory_key_padding_mask=mask.flatten(1), pos=pos, query_pos=query_embed)
            hs.append(tgt)
        hs = torch.stack(hs).transpose(1, 2)
        return {"pred_logits": self.class_embed(hs)[-1], "pred_boxes": self.bbox_embed(hs).sigmoid()[-1], "attention": weights}


def build():
    return DETR()


def train_step(model, rng):
    images = torch.from_numpy(rng.standard_normal((2, 3, 16, 20)).astype("float32"))
    mask = torch.zeros(2, 16, 20, dtype=torch.bool)
    mask[1, :, 12:] = True
    boxes = torch.from_numpy(rng.random((2, 2, 4)).astype("float32"))
    labels = torch.from_numpy(rng.integers(0, 4, (2, 2)))
    empty_weight = torch.ones(5)
    empty_weight[-1] = 0.1
    optimizer = torch.optim.AdamW([{"params": [p for n, p in model.named_parameters() if "backbone" not in n]},
                                   {"params": [p for n, p in model.named_parameters() if "backbone" in n], "lr": 1e-5}], lr=1e-4, weight_decay=1e-4, eps=1e-2)
    out = model(images, mask)
    with torch.no_grad():  # a greedy matching in place of the Hungarian one
        cost = torch.cdist(out["pred_boxes"], boxes, p=1) - out["pred_logits"].softmax(-1).gather(2, labels[:, None].expand(-1, 5, -1))
        matched = [[], []]
        for b in range(2):
            for t in range(2):
                matched[b].append(int(next(q for q in cost[b, :, t].argsort().tolist() if q not in matched[b])))
    idx = (torch.arange(2).repeat_interleave(2), torch.tensor(matched).view(-1))
    target_classes = torch.full(out["pred_logits"].shape[:2], 4, dtype=torch.int64)
    target_classes[idx] = labels.view(-1)
    loss = F.cross_entropy(out["pred_logits"].transpose(1, 2), target_classes, empty_weight)
    loss = loss + 5 * F.l1_loss(out["pred_boxes"][idx], boxes.flatten(0, 1), reduction="none").sum() / 4
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    return loss, out
