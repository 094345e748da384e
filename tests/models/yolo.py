"""One-stage detection: anchors, a feature pyramid, objectness, IoU and non-maximum suppression (Redmon and Farhadi, 2018)."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_bn(inp, oup, stride=1, leaky=0.1):
    return nn.Sequential(nn.Conv2d(inp, oup, 3, stride, 1, bias=False), nn.BatchNorm2d(oup), nn.LeakyReLU(negative_slope=leaky, inplace=True))


def box_iou(box1, box2):
    """IoU of boxes in (x1, y1, x2, y2)"""
    area1 = (box1[:, 2] - box1[:, 0]) * (box1[:, 3] - box1[:, 1])
    area2 = (box2[:, 2] - box2[:, 0]) * (box2[:, 3] - box2[:, 1])
    inter = (torch.min(box1[:, None, 2:], box2[:, 2:]) - torch.max(box1[:, None, :2], box2[:, :2])).clamp(0).prod(2)
    return inter / (area1[:, None] + area2 - inter)


def xywh2xyxy(x):
    y = x.new(x.shape)
    y[..., 0] = x[..., 0] - x[..., 2] / 2
    y[..., 1] = x[..., 1] - x[..., 3] / 2
    y[..., 2] = x[..., 0] + x[..., 2] / 2
    y[..., 3] = x[..., 1] + x[..., 3] / 2
    return y


def nms(boxes, scores, threshold=0.5):
    order, keep = scores.argsort(descending=True), []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        ious = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][ious <= threshold]
    return torch.tensor(keep, dtype=torch.long)


class YOLO(nn.Module):
    def __init__(self, anchors, num_classes=3):
        super().__init__()
        self.register_buffer("anchors", torch.tensor(anchors, dtype=torch.float32))
        self.num_anchors, self.num_classes = len(anchors), num_classes
        self.stage1 = nn.Sequential(conv_bn(3, 8, 2), conv_bn(8, 8))
        self.stage2 = conv_bn(8, 16, 2)
        self.lateral = nn.ModuleList([nn.Conv2d(8, 8, 1), nn.Conv2d(16, 8, 1)])
        self.head = nn.Conv2d(8, self.num_anchors * (5 + num_classes), 1)

    def decode(self, x):
        b, _, gh, gw = x.shape
        prediction = x.view(b, self.num_anchors, self.num_classes + 5, gh, gw).permute(0, 1, 3, 4, 2).contiguous()
        yv, xv = torch.meshgrid(torch.arange(gh), torch.arange(gw), indexing="ij")
        grid = torch.stack((xv, yv), 2).view((1, 1, gh, gw, 2)).float()
        xy = (torch.sigmoid(prediction[..., :2]) + grid) / torch.tensor([gw, gh])
        wh = torch.exp(prediction[..., 2:4]) * self.anchors.view(1, -1, 1, 1, 2)
        return torch.cat([xy, wh], -1).view(b, -1, 4), prediction[..., 4].reshape(b, -1), prediction[..., 5:].reshape(b, -1, self.num_classes)

    def forward(self, x):
        c1 = self.stage1(x)
        c2 = self.lateral[1](self.stage2(c1))
        p1 = self.lateral[0](c1) + F.interpolate(c2, size=[c1.size(2), c1.size(3)], mode="nearest")
        levels = [self.decode(self.head(p)) for p in (p1, c2)]
        return tuple(torch.cat(parts, dim=1) for parts in zip(*levels))


def build():
    return YOLO([(0.2, 0.3), (0.5, 0.4)])


def train_step(model, rng):
    images = torch.from_numpy(rng.random((2, 3, 18, 16)).astype("float32"))
    targets = torch.tensor(np.concatenate([rng.uniform(0.3, 0.7, (2, 3, 2)), rng.uniform(0.2, 0.5, (2, 3, 2))], -1), dtype=torch.float32)
    classes = torch.from_numpy(rng.integers(0, 3, (2, 3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.937, nesterov=True)
    boxes, objectness, scores = model(images)
    loss = torch.zeros(1)
    kept = []
    for i in range(2):
        corners = xywh2xyxy(boxes[i])
        iou = box_iou(corners, xywh2xyxy(targets[i]))
        best, owner = iou.detach().max(dim=1)
        positive = best > 0.3
        positive[best.argmax()] = True
        want = torch.where(positive, best, torch.zeros_like(best))
        loss += F.binary_cross_entropy_with_logits(objectness[i], want)
        chosen = iou[positive].gather(1, owner[positive, None]).squeeze(1)
        loss += (1.0 - chosen).mean()
        loss += F.smooth_l1_loss(boxes[i][positive], targets[i][owner[positive]], beta=0.1)
        onehot = torch.zeros(int(positive.sum()), 3)
        onehot[range(len(onehot)), classes[i][owner[positive]]] = 1.0
        loss += F.binary_cross_entropy_with_logits(scores[i][positive], onehot)
        conf, label = scores[i].sigmoid().max(1, keepdim=True)
        detection = torch.cat((corners, conf, label.float()), 1).detach()
        kept.append(detection[nms(detection[:, :4], detection[:, 4])])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.squeeze(), [boxes, objectness, scores, *kept]
