"""NeRF: positional encoding, volume rendering, and sampling by the inverse CDF (Mildenhall et al., 2020)."""

import torch
import torch.nn as nn
import torch.nn.functional as F

img2mse = lambda x, y: torch.mean((x - y) ** 2)
mse2psnr = lambda x: -10. * torch.log(x) / torch.log(torch.Tensor([10.]))


class Embedder:
    def __init__(self, max_freq_log2, num_freqs, input_dims=3):
        self.embed_fns = [lambda x: x]
        freq_bands = 2. ** torch.linspace(0., max_freq_log2, steps=num_freqs)
        for freq in freq_bands:
            for p_fn in [torch.sin, torch.cos]:
                self.embed_fns.append(lambda x, p_fn=p_fn, freq=freq: p_fn(x * freq))
        self.out_dim = input_dims * len(self.embed_fns)

    def embed(self, inputs):
        return torch.cat([fn(inputs) for fn in self.embed_fns], -1)


class NeRF(nn.Module):
    def __init__(self, D=4, W=16, input_ch=3, input_ch_views=3, skips=[2]):
        super(NeRF, self).__init__()
        self.skips = skips
        self.input_ch, self.input_ch_views = input_ch, input_ch_views
        self.pts_linears = nn.ModuleList(
            [nn.Linear(input_ch, W)] + [nn.Linear(W, W) if i not in self.skips else nn.Linear(W + input_ch, W) for i in range(D - 1)])
        self.views_linears = nn.ModuleList([nn.Linear(input_ch_views + W, W // 2)])
        self.feature_linear = nn.Linear(W, W)
        self.alpha_linear = nn.Linear(W, 1)
        self.rgb_linear = nn.Linear(W // 2, 3)

    def forward(self, x):
        input_pts, input_views = torch.split(x, [self.input_ch, self.input_ch_views], dim=-1)
        h = input_pts
        for i, l in enumerate(self.pts_linears):
            h = self.pts_linears[i](h)
            h = F.relu(h)
            if i in self.skips:
                h = torch.cat([input_pts, h], -1)
        alpha = self.alpha_linear(h)
        feature = self.feature_linear(h)
        h = torch.cat([feature, input_views], -1)
        for i, l in enumerate(self.views_linears):
            h = F.relu(self.views_linears[i](h))
        return torch.cat([self.rgb_linear(h), alpha], -1)


def raw2outputs(raw, z_vals, rays_d):
    raw2alpha = lambda raw, dists, act_fn=F.relu: 1. - torch.exp(-act_fn(raw) * dists)
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, torch.Tensor([1e10]).expand(dists[..., :1].shape)], -1)
    dists = dists * torch.norm(rays_d[..., None, :], dim=-1)
    rgb = torch.sigmoid(raw[..., :3])
    alpha = raw2alpha(raw[..., 3], dists)
    weights = alpha * torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1. - alpha + 1e-10], -1), -1)[:, :-1]
    rgb_map = torch.sum(weights[..., None] * rgb, -2)
    depth_map = torch.sum(weights * z_vals, -1)
    disp_map = 1. / torch.max(1e-10 * torch.ones_like(depth_map), depth_map / torch.sum(weights, -1))
    return rgb_map, disp_map, weights, depth_map


def sample_pdf(bins, weights, N_samples):
    weights = weights + 1e-5
    pdf = weights / torch.sum(weights, -1, keepdim=True)
    cdf = torch.cumsum(pdf, -1)
    cdf = torch.cat([torch.zeros_like(cdf[..., :1]), cdf], -1)
    u = torch.linspace(0., 1., steps=N_samples)
    u = u.expand(list(cdf.shape[:-1]) + [N_samples]).contiguous()
    inds = torch.searchsorted(cdf, u, right=True)
    below = torch.max(torch.zeros_like(inds - 1), inds - 1)
    above = torch.min((cdf.shape[-1] - 1) * torch.ones_like(inds), inds)
    inds_g = torch.stack([below, above], -1)
    matched_shape = [inds_g.shape[0], inds_g.shape[1], cdf.shape[-1]]
    cdf_g = torch.gather(cdf.unsqueeze(1).expand(matched_shape), 2, inds_g)
    bins_g = torch.gather(bins.unsqueeze(1).expand(matched_shape), 2, inds_g)
    denom = (cdf_g[..., 1] - cdf_g[..., 0])
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    t = (u - cdf_g[..., 0]) / denom
    return bins_g[..., 0] + t * (bins_g[..., 1] - bins_g[..., 0])


embed_pts, embed_dirs = Embedder(2, 3), Embedder(1, 2)


def build():
    return NeRF(input_ch=embed_pts.out_dim, input_ch_views=embed_dirs.out_dim)


def train_step(model, rng):
    rays_o, rays_d = (torch.Tensor(rng.standard_normal((5, 3))) for _ in range(2))
    target_s = torch.Tensor(rng.random((5, 3)))
    viewdirs = rays_d / torch.norm(rays_d, dim=-1, keepdim=True)

    def render(z_vals):
        pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
        dirs = viewdirs[:, None].expand(pts.shape)
        flat = torch.cat([embed_pts.embed(torch.reshape(pts, [-1, 3])), embed_dirs.embed(torch.reshape(dirs, [-1, 3]))], -1)
        raw = torch.reshape(model(flat), list(pts.shape[:-1]) + [4])
        return raw2outputs(raw, z_vals, rays_d)

    optimizer = torch.optim.Adam(params=list(model.parameters()), lr=5e-4, betas=(0.9, 0.999), eps=1e-2)
    z_vals = (2. * (1. - torch.linspace(0., 1., steps=6)) + 6. * torch.linspace(0., 1., steps=6)).expand([5, 6])
    rgb0, _, weights, _ = render(z_vals)
    z_vals_mid = .5 * (z_vals[..., 1:] + z_vals[..., :-1])
    z_samples = sample_pdf(z_vals_mid, weights[..., 1:-1], 4).detach()
    z_vals, _ = torch.sort(torch.cat([z_vals, z_samples], -1), -1)
    rgb, disp, _, depth = render(z_vals)
    optimizer.zero_grad()
    img_loss = img2mse(rgb, target_s)
    loss = img_loss + img2mse(rgb0, target_s)
    loss.backward()
    optimizer.step()
    optimizer.param_groups[0]['lr'] = 5e-4 * 0.1 ** (1 / 250)
    return loss, [rgb, depth, mse2psnr(img_loss.detach())]
