"""Tensors: what is a node of the graph, and what is known without one."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.functional import gelu as activation

from tests.dynamo.counting import counts, matrix


@counts
def a_chain_of_operators(x):
    return torch.sin(x) * 2 + x.cos() - x / 3


@counts
def shapes_are_known(x):
    rows, columns = x.shape
    if rows < columns and x.dim() == 2 and x.numel() == rows * columns:
        x = x * (rows + columns)
    return x.view(-1, x.size(0)) + x.stride(0)


@counts
def sizes_as_objects(x):
    size = x.shape + (4,)
    return x.new_zeros(size[1:]).sum() + len(size) + size.numel() + x[None].expand(torch.Size([5, *x.shape])).mean()


@counts
def dtypes_and_devices_are_compared(x):
    if x.dtype == torch.float32 and x.device.type == "cpu" and x.device == torch.device("cpu"):
        x = x.to(torch.float64)
    return x.to(x.device) * 2 if x.is_floating_point() else x


@counts
def questions_about_tensors(x):
    if torch.is_tensor(x) and isinstance(x, torch.Tensor) and torch.is_floating_point(x) and not x.requires_grad:
        return x + x.ndim + x.element_size()
    return x


@counts
def new_tensors_like_another(x):
    return x.new_ones(2, 3) + x.new_full((2, 3), 2.0) + x.new_zeros(3) + x.new_tensor([1.0, 2.0, 3.0])


@counts
def creation(x):
    y = torch.zeros(2, 3) + torch.arange(3) + torch.full_like(x, 2.0)
    return y + torch.eye(2, 3) + torch.empty_like(x).fill_(1)


@counts
def tensors_of_numbers(x):
    return x + torch.tensor([1.0, 2.0, 3.0]) + torch.tensor(2)


@counts
def indexing(x):
    return x[0], x[:, 1:], x[..., None], x[-1, ::2], x[[0, 1]], x[[1, 0], [2, 0]], x[None, :, 0], x[x > 1].shape[1:]


@counts
def indexing_with_tensors(x):
    rows = torch.tensor([1, 0])
    return x[rows] + x[rows, :], x[:, torch.arange(2)], x.index_select(0, rows)


@counts
def writing_to_items(x):
    y = x.clone()
    y[0] = 1
    y[:, 1] += 2
    y[..., 2] = y[..., 0] * 2
    return y


@counts
def writing_in_place(x):
    y = x + 1
    y.add_(2).mul_(x)
    y += x
    y *= 2
    return y


@counts(lambda torch: (matrix(torch), matrix(torch)))
def writing_to_an_argument(x, y):
    x.add_(1)
    y[0].zero_()
    return x + y


@counts
def several_results(x):
    top, where = x.max(dim=1)
    first, second, third = x.unbind(1)
    values, _ = torch.topk(x, 2)
    a, b = torch.split(x, [1, 2], dim=1)
    return top * first + where, second - third, values, a, b.sum()


@counts
def named_results(x):
    found = torch.sort(x, dim=1, descending=True)
    lowest = x.min(dim=0)
    return found.values + found.indices, lowest.values[0] + lowest.indices


@counts
def chunks_in_a_loop(x):
    total = 0
    for part in x.chunk(3, dim=1):
        total = total + part * part
    return total


@counts
def rows_of_a_tensor(x):
    rows = [row * i for i, row in enumerate(x)]
    return torch.stack(rows), len(x)


@counts
def unpacking_a_tensor(x):
    a, b = x
    first, *rest = x.T
    return a + b, first, len(rest)


@counts
def reductions_and_norms(x):
    return (x.softmax(-1).sum(0) + x.mean() + x.std(dim=0) + torch.norm(x) + x.var()).sum() / x.norm(dim=1).max()


@counts
def views(x):
    y = x.t().contiguous().view(6).reshape(3, 2).unsqueeze(0).transpose(1, 2).permute(2, 0, 1).squeeze()
    return y.flatten(), y.expand(1, *y.shape), x.T


@counts
def attributes_that_are_views(x):
    return x.T @ x, x.mT + 1, x.real * 2


@counts
def data_of_a_tensor(x):
    return x.data + 1, x.detach() * 2


@counts
def comparisons_of_tensors(x):
    return (x > 1) & (x < 2) | (x == 0), ~(x >= 1), x != x


@counts
def reflected_operators(x):
    return 1 - x, 2 / (x + 1), 2**x, 3 // (x + 1), 5 % (x + 1), -x, abs(x), +x


@counts
def where_and_masks(x):
    mask = x > x.mean()
    return torch.where(mask, x, -x), x.masked_fill(mask, 0.0), torch.where(mask, 1.0, 0.0)


@counts
def joining(x):
    return torch.cat([x, x * 2], dim=1), torch.stack((x, x)), torch.cat([*x.unbind(0), x[0]])


@counts
def einsum_and_matmul(x):
    return torch.einsum("ij,kj->ik", x, x) + x @ x.T + torch.matmul(x, x.mT) + F.linear(x, x)


@counts
def functional_activations(x):
    y = F.relu(x) + F.gelu(x) + torch.sigmoid(x)
    return y + F.softmax(x, dim=-1) + F.leaky_relu(x, 0.1) + nn.functional.silu(x)


@counts
def activations_in_place(x):
    return F.relu(x - 1, inplace=True), F.dropout(x, 0.5, training=False)


@counts
def losses(x):
    target = torch.tensor([0, 2])
    logistic = F.binary_cross_entropy_with_logits(x, torch.zeros_like(x))
    return F.cross_entropy(x, target) + F.mse_loss(x, x * 2) + logistic


@counts
def names_reached_in_many_ways(x):
    import torch as again

    function = getattr(torch, "sin")
    return function(x) + again.cos(x) + activation(x) + getattr(x, "exp")() + torch.nn.functional.relu(x)


@counts
def tensor_methods_as_functions(x):
    return torch.Tensor.add(x, 1) + torch.Tensor.relu(x)


@counts
def random_numbers(x):
    return x + torch.rand(2, 3) + torch.randn_like(x) + F.dropout(x, 0.5)


@counts
def a_number_of_a_shape(x):
    return x * x.shape[0] ** 2 + float(x.shape[1]) // 2 + max(x.shape) - min(x.shape[0], 5)


@counts(lambda torch: (matrix(torch), 3, 0.5))
def numbers_as_arguments(x, n, scale):
    return x * n + scale


@counts(lambda torch: (matrix(torch), None, "mean", True))
def other_constants_as_arguments(x, mask, reduction, keep):
    if mask is not None:
        x = x * mask
    return x.mean(dim=1, keepdim=keep) if reduction == "mean" else x.sum()


@counts
def an_argument_that_comes_back(x):
    return x, x + 1


@counts
def nothing_to_compute(x):
    return x.shape, 1


@counts(lambda torch: (matrix(torch), {"a": [matrix(torch), (matrix(torch), 2)]}))
def nested_arguments(x, tree):
    first, (second, factor) = tree["a"]
    return {"sum": x + first, "rest": [second * factor]}


@counts
def half_precision_and_back(x):
    return x.half().float() + x.double().to(x) + x.to(torch.bfloat16).type(torch.float32) + x.int().type_as(x)
