"""The uses that function transforms are for: per-sample gradients, ensembles, models as functions."""

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import nn, vmap
from minitorch_compile.func import functional_call, grad, stack_module_state


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.norm = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 6, 3), nn.GroupNorm(2, 6)
        self.fc = nn.Linear(6 * 4, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return self.fc(F.gelu(self.norm(self.conv2(x))).flatten(1))


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(10, 8), nn.LayerNorm(8)
        self.attention, self.head = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 5)

    def forward(self, tokens):
        x = self.norm(self.embedding(tokens))
        return self.head(self.attention(x, x, x, need_weights=False)[0].mean(1))


MODELS = {
    "convolutions": (Net, lambda: torch.randn(6, 1, 10, 10)),
    "attention": (Text, lambda: torch.randint(0, 10, (6, 7))),
    "perceptron": (lambda: nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8).eval(), nn.Tanh(), nn.Linear(8, 5)),
                   lambda: torch.randn(6, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_per_sample_gradients_are_those_of_each_sample(name):
    torch.manual_seed(0)
    make, inputs = MODELS[name]
    model, x, y = make(), inputs(), torch.randint(0, 5, (6,))
    parameters = {key: p.detach() for key, p in model.named_parameters()}

    def loss(parameters, x, y):
        return F.cross_entropy(functional_call(model, parameters, (x[None],)), y[None])

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    for sample in range(6):
        model.zero_grad()
        F.cross_entropy(model(x[sample : sample + 1]), y[sample : sample + 1]).backward()
        for key, p in model.named_parameters():
            assert torch.allclose(found[key][sample], p.grad, atol=1e-5), key


@pytest.mark.parametrize("name", MODELS)
def test_an_ensemble_gives_what_each_model_gives(name):
    make, inputs = MODELS[name]
    models = [make() for _ in range(3)]
    x = inputs()
    parameters, buffers = stack_module_state(models)

    def predict(parameters, buffers, x):
        return functional_call(models[0], (parameters, buffers), (x,))

    found = vmap(predict, in_dims=(0, 0, None))(parameters, buffers, x)
    assert torch.allclose(found, torch.stack([model(x) for model in models]), atol=1e-5)
    own = vmap(predict)(parameters, buffers, torch.stack([x, x, x]))
    assert torch.allclose(own, found, atol=1e-5)
    found.sum().backward()
    assert all(p.grad is not None and p.is_leaf for p in parameters.values())


def test_stacking_checks_its_models():
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="Linear, ReLU"):
        stack_module_state([nn.Linear(1, 1), nn.ReLU()])
    with pytest.raises(RuntimeError, match="all be training"):
        stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).eval()])
    with pytest.raises(RuntimeError, match="in all of the models or in none"):
        stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)])


def test_functorchs_first_functions_of_modules():
    from minitorch_compile._functorch import combine_state_for_ensemble, make_functional, make_functional_with_buffers

    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).eval()
    x = torch.ones(4, 3)
    func, params, buffers = make_functional_with_buffers(model, disable_autograd_tracking=True)
    torch.testing.assert_close(func(params, buffers, x), model(x).detach())
    assert [p.requires_grad for p in params] == [False] * 4
    assert params[0] is not model[0].weight
    doubled = func([p * 2 for p in params], buffers, x)
    assert torch.equal(model(x), func(params, buffers, x)) and not torch.equal(doubled, model(x))
    with pytest.raises(RuntimeError, match="has buffers"):
        make_functional(model)
    plain, weights = make_functional(torch.nn.Linear(3, 2))
    assert plain([torch.ones_like(w) for w in weights], x).tolist() == [[4.0, 4.0]] * 4
    one, stacked, _ = combine_state_for_ensemble([torch.nn.Linear(3, 2) for _ in range(5)])
    assert torch.func.vmap(one, in_dims=(0, None, None))(stacked, (), x).shape == (5, 4, 2)
