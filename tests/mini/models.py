"""The capstone's models."""

from mini import nn, ops


class MLP(nn.Module):
    def __init__(s):
        s.a = nn.Linear(64, 128)
        s.b = nn.Linear(128, 10)

    def forward(s, x):
        return s.b(s.a(x).relu())


class CNN(nn.Module):
    def __init__(s):
        s.c1 = nn.Conv2d(1, 8, 3)
        s.c2 = nn.Conv2d(8, 16, 3)
        s.out = nn.Linear(64, 10)

    def forward(s, x):
        x = nn.max_pool2d(s.c1(x).relu(), 2)
        x = nn.max_pool2d(s.c2(x).relu(), 2)
        return s.out(x.reshape(x.shape[0], 64))


class Block(nn.Module):
    def __init__(s, d, h):
        s.h = h
        s.n1 = nn.LayerNorm(d)
        s.qkv = nn.Linear(d, 3 * d)
        s.o = nn.Linear(d, d)
        s.n2 = nn.LayerNorm(d)
        s.up = nn.Linear(d, 4 * d)
        s.down = nn.Linear(4 * d, d)

    def forward(s, x):
        b, t, d = x.shape
        h = s.h
        qkv = s.qkv(s.n1(x))
        q, k, v = [qkv[:, :, i * d : (i + 1) * d].reshape(b, t, h, d // h).transpose(1, 2) for i in range(3)]
        a = q @ k.transpose(2, 3) * (d // h) ** -0.5
        i = ops.iota((t,), 0, "int64")
        mask = i.reshape(t, 1) < i
        a = ops.where(mask, float("-inf"), a).softmax(-1)
        x = x + s.o((a @ v).transpose(1, 2).reshape(b, t, d))
        return x + s.down(ops.gelu(s.up(s.n2(x))))


class GPT(nn.Module):
    def __init__(s, V=65, d=64, L=2, T=32):
        s.e = nn.Embedding(V, d)
        s.p = nn.Embedding(T, d)
        s.blocks = [Block(d, 4) for _ in range(L)]
        s.n = nn.LayerNorm(d)
        s.out = nn.Linear(d, V)

    def forward(s, ids):
        x = s.e(ids) + s.p(ops.iota((ids.shape[1],), 0, "int64"))
        for b in s.blocks:
            x = b(x)
        return s.out(s.n(x))
