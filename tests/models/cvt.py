"""Convolutional vision transformer: einops and einsum, depthwise-convolved projections (Wu et al., 2021)."""

import torch
from torch import nn, einsum
import torch.nn.functional as F

from einops import rearrange, reduce
from einops.layers.torch import Rearrange, Reduce


def group_dict_by_key(cond, d):
    return_val = [dict(), dict()]
    for key in d.keys():
        match = bool(cond(key))
        ind = int(not match)
        return_val[ind][key] = d[key]
    return (*return_val,)


def group_by_key_prefix_and_remove_prefix(prefix, d):
    kwargs_with_prefix, kwargs = group_dict_by_key(lambda x: x.startswith(prefix), d)
    kwargs_without_prefix = dict(map(lambda x: (x[0][len(prefix):], x[1]), tuple(kwargs_with_prefix.items())))
    return kwargs_without_prefix, kwargs


class LayerNorm(nn.Module):  # layernorm, but done in the channel dimension #1
    def __init__(self, dim, eps = 1e-5):
        super().__init__()
        self.eps = eps
        self.g = nn.Parameter(torch.ones(1, dim, 1, 1))
        self.b = nn.Parameter(torch.zeros(1, dim, 1, 1))

    def forward(self, x):
        var = torch.var(x, dim = 1, unbiased = False, keepdim = True)
        mean = torch.mean(x, dim = 1, keepdim = True)
        return (x - mean) / (var + self.eps).sqrt() * self.g + self.b


class DepthWiseConv2d(nn.Module):
    def __init__(self, dim_in, dim_out, kernel_size, padding, stride, bias = True):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(dim_in, dim_in, kernel_size = kernel_size, padding = padding, groups = dim_in, stride = stride, bias = bias),
            nn.BatchNorm2d(dim_in),
            nn.Conv2d(dim_in, dim_out, kernel_size = 1, bias = bias)
        )

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, proj_kernel, kv_proj_stride, heads = 8, dim_head = 64, dropout = 0.):
        super().__init__()
        inner_dim = dim_head * heads
        padding = proj_kernel // 2
        self.heads = heads
        self.scale = dim_head ** -0.5
        self.norm = LayerNorm(dim)
        self.to_q = DepthWiseConv2d(dim, inner_dim, proj_kernel, padding = padding, stride = 1, bias = False)
        self.to_kv = DepthWiseConv2d(dim, inner_dim * 2, proj_kernel, padding = padding, stride = kv_proj_stride, bias = False)
        self.to_out = nn.Sequential(nn.Conv2d(inner_dim, dim, 1), nn.Dropout(dropout))

    def forward(self, x):
        shape = x.shape
        b, n, _, y, h = *shape, self.heads
        x = self.norm(x)
        q, k, v = (self.to_q(x), *self.to_kv(x).chunk(2, dim = 1))
        q, k, v = map(lambda t: rearrange(t, 'b (h d) x y -> (b h) (x y) d', h = h), (q, k, v))
        dots = einsum('b i d, b j d -> b i j', q, k) * self.scale
        attn = dots.softmax(dim = -1)
        out = einsum('b i j, b j d -> b i d', attn, v)
        out = rearrange(out, '(b h) (x y) d -> b (h d) x y', h = h, y = y)
        return self.to_out(out)


class CvT(nn.Module):
    def __init__(self, *, num_classes, **kwargs):
        super().__init__()
        dim, layers = 3, []
        for prefix in ('s1', 's2'):
            config, kwargs = group_by_key_prefix_and_remove_prefix(f'{prefix}_', kwargs)
            attention = Attention(config['emb_dim'], 3, config['kv_proj_stride'], heads = config['heads'], dim_head = 8)
            mlp = nn.Sequential(LayerNorm(config['emb_dim']), nn.Conv2d(config['emb_dim'], 32, 1), nn.GELU(), nn.Conv2d(32, config['emb_dim'], 1))
            layers.append(nn.ModuleList([
                nn.Conv2d(dim, config['emb_dim'], kernel_size = config['emb_kernel'], padding = (config['emb_kernel'] // 2), stride = config['emb_stride']),
                LayerNorm(config['emb_dim']), attention, mlp,
            ]))
            dim = config['emb_dim']
        self.layers = nn.ModuleList(layers)
        self.to_logits = nn.Sequential(Reduce('b c h w -> b c', 'mean'), Rearrange('b (one c) -> (b one) c', one = 1), nn.Linear(dim, num_classes))

    def forward(self, x):
        for embed, norm, attention, mlp in self.layers:
            x = norm(embed(x))
            x = attention(x) + x
            x = mlp(x) + x
        self.energy = reduce(x * x, 'b c (h h2) (w w2) -> b h w', 'max', h2 = 2, w2 = 2)
        return self.to_logits(x)


def build():
    return CvT(num_classes = 5, s1_emb_dim = 8, s1_emb_kernel = 7, s1_emb_stride = 2, s1_kv_proj_stride = 2, s1_heads = 1,
               s2_emb_dim = 16, s2_emb_kernel = 3, s2_emb_stride = 2, s2_kv_proj_stride = 2, s2_heads = 2)


def train_step(model, rng):
    x = torch.from_numpy(rng.standard_normal((2, 3, 16, 16)).astype('float32'))
    y = torch.from_numpy(rng.integers(0, 5, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr = 0.05)
    logits = model(x)
    loss = F.cross_entropy(logits, y) + 0.01 * model.energy.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, (logits, model.energy)
