"""Parts of many vision transformers, each as its authors' readers write them: with einops, einsum and odd attentions."""

import math
from math import sqrt

import torch
import torch.nn.functional as F
from einops import pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import einsum, nn

# helpers

def exists(val):
    return val is not None

def default(val, d):
    return val if exists(val) else d

def pair(t):
    return t if isinstance(t, tuple) else (t, t)

def dropout_layers(layers, dropout):
    if dropout == 0:
        return layers
    num_layers = len(layers)
    to_drop = torch.zeros(num_layers).uniform_(0., 1.) < dropout
    if all(to_drop):
        to_drop[torch.randint(0, num_layers, (1,))] = False
    return [layer for (layer, drop) in zip(layers, to_drop) if not drop]

class LayerScale(nn.Module):
    def __init__(self, dim, fn, depth):
        super().__init__()
        init_eps = 0.1 if depth <= 18 else 1e-5 if depth > 24 else 1e-6
        scale = torch.zeros(1, 1, dim).fill_(init_eps)
        self.scale = nn.Parameter(scale)
        self.fn = fn

    def forward(self, x, **kwargs):
        return self.fn(x, **kwargs) * self.scale

# talking heads and class attention (CaiT)

class TalkingHeads(nn.Module):
    def __init__(self, dim, heads = 2, dim_head = 8):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads, self.scale = heads, dim_head ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.to_q = nn.Linear(dim, inner_dim, bias = False)
        self.to_kv = nn.Linear(dim, inner_dim * 2, bias = False)
        self.mix_heads_pre_attn = nn.Parameter(torch.randn(heads, heads))
        self.mix_heads_post_attn = nn.Parameter(torch.randn(heads, heads))
        self.to_out = nn.Linear(inner_dim, dim)

    def forward(self, x, context = None):
        b, n, _, h = *x.shape, self.heads
        x = self.norm(x)
        context = x if not exists(context) else torch.cat((x, context), dim = 1)
        qkv = (self.to_q(x), *self.to_kv(context).chunk(2, dim = -1))
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h = h), qkv)
        dots = einsum('b h i d, b h j d -> b h i j', q, k) * self.scale
        dots = einsum('b h i j, h g -> b g i j', dots, self.mix_heads_pre_attn)
        attn = dots.softmax(dim = -1)
        attn = einsum('b h i j, h g -> b g i j', attn, self.mix_heads_post_attn)
        out = einsum('b h i j, b h j d -> b h i d', attn, v)
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)'))

# shifted patch tokens and locality self attention (ViT for small datasets)

class SPT(nn.Module):
    def __init__(self, *, dim, patch_size, channels = 3):
        super().__init__()
        patch_dim = patch_size * patch_size * 5 * channels
        self.to_patch_tokens = nn.Sequential(
            Rearrange('b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1 = patch_size, p2 = patch_size), nn.LayerNorm(patch_dim), nn.Linear(patch_dim, dim))

    def forward(self, x):
        shifts = ((1, -1, 0, 0), (-1, 1, 0, 0), (0, 0, 1, -1), (0, 0, -1, 1))
        shifted_x = list(map(lambda shift: F.pad(x, shift), shifts))
        x_with_shifts = torch.cat((x, *shifted_x), dim = 1)
        return self.to_patch_tokens(x_with_shifts)

class LSA(nn.Module):
    def __init__(self, dim, heads = 2, dim_head = 8):
        super().__init__()
        self.heads = heads
        self.temperature = nn.Parameter(torch.log(torch.tensor(dim_head ** -0.5)))
        self.to_qkv = nn.Linear(dim, dim_head * heads * 3, bias = False)
        self.to_out = nn.Sequential(nn.Linear(dim_head * heads, dim), nn.Dropout(0.))

    def forward(self, x):
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h = self.heads), self.to_qkv(x).chunk(3, dim = -1))
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.temperature.exp()
        mask = torch.eye(dots.shape[-1], device = dots.device, dtype = torch.bool)
        mask_value = -torch.finfo(dots.dtype).max
        dots = dots.masked_fill(mask, mask_value)
        out = torch.matmul(nn.Softmax(dim = -1)(dots), v)
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)'))

# cross covariance attention (XCiT)

class XCAttention(nn.Module):
    def __init__(self, dim, heads = 2, dim_head = 8):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, dim_head * heads * 3, bias = False)
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.to_out = nn.Linear(dim_head * heads, dim)

    def forward(self, x):
        x, ps = pack([self.norm(x)], 'b * d')
        q, k, v = self.to_qkv(x).chunk(3, dim = -1)
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h d n', h = self.heads), (q, k, v))
        q, k = map(lambda t: F.normalize(t, p = 2, dim = -1), (q, k))
        sim = einsum('b h i n, b h j n -> b h i j', q, k) * self.temperature.exp()
        out = einsum('b h i j, b h j n -> b h i n', sim.softmax(dim = -1), v)
        out, = unpack(self.to_out(rearrange(out, 'b h d n -> b n (h d)')), ps, 'b * d')
        return out

# block and grid attention with relative position bias (MaxViT), inverted residuals with SE

class WindowAttention(nn.Module):
    def __init__(self, dim, dim_head = 8, window_size = 2):
        super().__init__()
        self.heads, self.scale = dim // dim_head, dim_head ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, dim * 3, bias = False)
        self.to_out = nn.Linear(dim, dim, bias = False)
        self.rel_pos_bias = nn.Embedding((2 * window_size - 1) ** 2, self.heads)
        pos = torch.arange(window_size)
        grid = torch.stack(torch.meshgrid(pos, pos, indexing = 'ij'))
        grid = rearrange(grid, 'c i j -> (i j) c')
        rel_pos = rearrange(grid, 'i ... -> i 1 ...') - rearrange(grid, 'j ... -> 1 j ...')
        rel_pos += window_size - 1
        rel_pos_indices = (rel_pos * torch.tensor([2 * window_size - 1, 1])).sum(dim = -1)
        self.register_buffer('rel_pos_indices', rel_pos_indices, persistent = False)

    def forward(self, x):
        batch, height, width, window_height, window_width, _, h = *x.shape, self.heads
        x = rearrange(self.norm(x), 'b x y w1 w2 d -> (b x y) (w1 w2) d')
        q, k, v = map(lambda t: rearrange(t, 'b n (h d ) -> b h n d', h = h), self.to_qkv(x).chunk(3, dim = -1))
        sim = einsum('b h i d, b h j d -> b h i j', q * self.scale, k)
        sim = sim + rearrange(self.rel_pos_bias(self.rel_pos_indices), 'i j h -> h i j')
        out = einsum('b h i j, b h j d -> b h i d', sim.softmax(dim = -1), v)
        out = rearrange(out, 'b h (w1 w2) d -> b w1 w2 (h d)', w1 = window_height, w2 = window_width)
        return rearrange(self.to_out(out), '(b x y) ... -> b x y ...', x = height, y = width)

class SqueezeExcitation(nn.Module):
    def __init__(self, dim, shrinkage_rate = 0.25):
        super().__init__()
        hidden_dim = int(dim * shrinkage_rate)
        self.gate = nn.Sequential(Reduce('b c h w -> b c', 'mean'), nn.Linear(dim, hidden_dim, bias = False), nn.SiLU(),
                                  nn.Linear(hidden_dim, dim, bias = False), nn.Sigmoid(), Rearrange('b c -> b c 1 1'))

    def forward(self, x):
        return x * self.gate(x)

# Nystrom attention: a pseudo-inverse by iteration

def moore_penrose_iter_pinv(x, iters = 4):
    abs_x = torch.abs(x)
    col = abs_x.sum(dim = -1)
    row = abs_x.sum(dim = -2)
    z = rearrange(x, '... i j -> ... j i') / (torch.max(col) * torch.max(row))
    I = torch.eye(x.shape[-1], device = x.device)
    I = rearrange(I, 'i j -> () i j')
    for _ in range(iters):
        xz = x @ z
        z = 0.25 * z @ (13 * I - (xz @ (15 * I - (xz @ (7 * I - xz)))))
    return z

class NystromAttention(nn.Module):
    def __init__(self, dim, heads = 2, dim_head = 8, num_landmarks = 4):
        super().__init__()
        self.heads, self.scale, self.num_landmarks = heads, dim_head ** -0.5, num_landmarks
        self.to_qkv = nn.Linear(dim, heads * dim_head * 3, bias = False)
        self.to_out = nn.Linear(heads * dim_head, dim)
        self.res_conv = nn.Conv2d(heads, heads, (3, 1), padding = (1, 0), groups = heads, bias = False)

    def forward(self, x, mask = None):
        b, n, _, h, m = *x.shape, self.heads, self.num_landmarks
        remainder = n % m
        if remainder > 0:
            padding = m - (n % m)
            x = F.pad(x, (0, 0, padding, 0), value = 0)
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h = h), self.to_qkv(x).chunk(3, dim = -1))
        q = q * self.scale
        l = math.ceil(n / m)
        q_landmarks = reduce(q, '... (n l) d -> ... n d', 'sum', l = l) / l
        k_landmarks = reduce(k, '... (n l) d -> ... n d', 'sum', l = l) / l
        einops_eq = '... i d, ... j d -> ... i j'
        sim1, sim2, sim3 = einsum(einops_eq, q, k_landmarks), einsum(einops_eq, q_landmarks, k_landmarks), einsum(einops_eq, q_landmarks, k)
        attn1, attn2, attn3 = map(lambda t: t.softmax(dim = -1), (sim1, sim2, sim3))
        out = (attn1 @ moore_penrose_iter_pinv(attn2)) @ (attn3 @ v)
        out = out + self.res_conv(v)
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)', h = h))[:, -n:]

# adaptive token sampling, here with given noise; patch merger; masked autoencoding

def batched_index_select(values, indices, dim = 1):
    value_dims = values.shape[(dim + 1):]
    values_shape, indices_shape = map(lambda t: list(t.shape), (values, indices))
    indices = indices[(..., *((None,) * len(value_dims)))]
    indices = indices.expand(*((-1,) * len(indices_shape)), *value_dims)
    value_expand_len = len(indices_shape) - (dim + 1)
    values = values[(*((slice(None),) * dim), *((None,) * value_expand_len), ...)]
    value_expand_shape = [-1] * len(values.shape)
    expand_slice = slice(dim, (dim + value_expand_len))
    value_expand_shape[expand_slice] = indices.shape[expand_slice]
    values = values.expand(*value_expand_shape)
    dim += value_expand_len
    return values.gather(dim, indices)

class PatchMerger(nn.Module):
    def __init__(self, dim, num_tokens_out):
        super().__init__()
        self.scale = dim ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.queries = nn.Parameter(torch.randn(num_tokens_out, dim))

    def forward(self, x):
        x = self.norm(x)
        sim = torch.matmul(self.queries, x.transpose(-1, -2)) * self.scale
        return torch.matmul(sim.softmax(dim = -1), x)

def posemb_sincos_2d(h, w, dim, temperature: int = 10000, dtype = torch.float32):
    y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing = "ij")
    assert (dim % 4) == 0, "feature dimension must be multiple of 4 for sincos emb"
    omega = torch.arange(dim // 4) / (dim // 4 - 1)
    omega = 1.0 / (temperature ** omega)
    y = y.flatten()[:, None] * omega[None, :]
    x = x.flatten()[:, None] * omega[None, :]
    return torch.cat((x.sin(), x.cos(), y.sin(), y.cos()), dim = 1).type(dtype)

class Variants(nn.Module):
    def __init__(self, dim = 16):
        super().__init__()
        self.spt = SPT(dim = dim, patch_size = 4)
        self.cls_token = nn.Parameter(torch.randn(dim))
        self.layers = nn.ModuleList([LayerScale(dim, TalkingHeads(dim), 1), LayerScale(dim, LSA(dim), 20), LayerScale(dim, XCAttention(dim), 30), NystromAttention(dim)])
        self.class_attention = TalkingHeads(dim)
        self.block_grid = nn.Sequential(
            nn.Conv2d(dim, dim, 3, padding = 1, groups = dim), SqueezeExcitation(dim),
            Rearrange('b d (x w1) (y w2) -> b x y w1 w2 d', w1 = 2, w2 = 2), WindowAttention(dim), Rearrange('b x y w1 w2 d -> b d (x w1) (y w2)'),
            Rearrange('b d (w1 x) (w2 y) -> b x y w1 w2 d', w1 = 2, w2 = 2), WindowAttention(dim), Rearrange('b x y w1 w2 d -> b d (w1 x) (w2 y)'))
        self.merger = PatchMerger(dim, 3)
        self.mix = EinMix('b n (h d) -> b n h e', weight_shape = 'h d e', bias_shape = 'h e', h = 2, d = dim // 2, e = 4)
        self.mask_token = nn.Parameter(torch.randn(dim))
        self.to_pixels = nn.Linear(dim, 48)
        self.head = nn.Linear(8, 5)

    def forward(self, img, noise):
        x = self.spt(img)
        b, n, d = x.shape
        x = x + posemb_sincos_2d(*[int(sqrt(n))] * 2, d)
        rand_indices = noise.argsort(dim = -1)
        masked_indices, unmasked_indices = rand_indices[:, :n // 2], rand_indices[:, n // 2:]
        batch_range = torch.arange(b)[:, None]
        tokens = x[batch_range, unmasked_indices]
        decoder_tokens = torch.zeros(b, n, d)
        decoder_tokens[batch_range, unmasked_indices] = tokens
        decoder_tokens[batch_range, masked_indices] = repeat(self.mask_token, 'd -> b n d', b = b, n = n // 2)
        patches = rearrange(img, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1 = 4, p2 = 4)
        recon_loss = F.mse_loss(self.to_pixels(batched_index_select(decoder_tokens, masked_indices)), patches[batch_range, masked_indices])
        for layer in dropout_layers(self.layers, 0):
            x = layer(x) + x
        x = rearrange(x, 'b (h w) d -> b d h w', **parse_shape(torch.zeros(1, int(sqrt(n)), 1), '_ h _'))
        x = rearrange(self.block_grid(x) + x, 'b d h w -> b (h w) d')
        cls_tokens = repeat(self.cls_token, 'd -> b 1 d', b = b)
        cls_tokens = self.class_attention(cls_tokens, context = x) + cls_tokens
        x, ps = pack([cls_tokens, self.merger(x)], 'b * d')
        x = self.mix(x)
        cls, merged = unpack(rearrange(x, 'b n h e -> b n (h e)'), ps, 'b * d')
        return self.head(cls.squeeze(1) + reduce(merged, 'b n d -> b d', 'max')), recon_loss


def build():
    return Variants()


def train_step(model, rng):
    img = torch.from_numpy(rng.standard_normal((2, 3, 16, 16)).astype('float32'))
    noise = torch.from_numpy(rng.random((2, 16)).astype('float32'))
    labels = torch.from_numpy(rng.integers(0, 5, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr = 1e-3, eps = 1e-3)
    logits, recon_loss = model(img, noise)
    loss = F.cross_entropy(logits, labels) + recon_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, logits
