"""What a profile shows of compilation and of compiled code; and that it changes neither."""

import minitorch_compile as torch
from minitorch_compile import logs
from minitorch_compile.profiler import profile, record_function


def compiled_program():
    def program(x, y):
        return torch.relu(x + y).sum()

    return torch.compile(program)


def test_a_first_call_shows_the_stages_and_no_operations_on_fakes():
    program, x = compiled_program(), torch.ones(7, 3)
    with profile() as recorded:
        program(x, x)
    events = recorded.events()
    stages = [event.name.removeprefix("torch.compile: ") for event in events if event.category == "compiler"]
    assert stages[1:] == [
        "backend", "differentiating", "decomposing", "lowering", "scheduling", "writing", "machine code",
    ]  # fmt: skip
    assert not [event for event in events if event.name.startswith("aten::")]
    code = next(event for event in events if event.name.endswith("machine code"))
    assert code.details["file"] in ("in memory", "loaded")


def test_a_later_call_shows_guards_graph_and_kernels():
    program, x = compiled_program(), torch.ones(50, 40)
    expected = program(x, x)
    with profile() as recorded:
        result = program(x, x)
    assert result.item() == expected.item()
    lookup, region, *kernels = recorded.events()
    assert lookup.name == "TorchDynamo Cache Lookup" and lookup.details == {"guards": "held"}
    assert region.name == "Torch-Compiled Region: 0/0"
    assert kernels and all(event.category == "kernel" and event.cpu_parent is region for event in kernels)
    assert kernels[0].details["bytes"] == 2 * 4 * 2000 + 4 or kernels[0].details["bytes"] == 4 * 2000 + 4
    assert kernels[0].details["GB/s"] > 0 and kernels[0].details["of roofline"] > 0
    assert "GB/s" in recorded.key_averages().table()


def test_a_failed_guard_is_seen():
    program = torch.compile(lambda x: x * 2, backend="eager", dynamic=False)
    program(torch.ones(2))
    with profile() as recorded:
        program(torch.ones(3))
    lookups = [event for event in recorded.events() if event.name == "TorchDynamo Cache Lookup"]
    assert [event.details["guards"] for event in lookups] == ["failed", "held"]
    with profile() as recorded:
        program(torch.ones(2))
        program(torch.ones(3))
    regions = [event.name for event in recorded.events() if "Region" in event.name]
    assert regions == ["Torch-Compiled Region: 0/0", "Torch-Compiled Region: 0/1"]


def test_profiling_compiles_nothing_again():
    layer = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    @torch.compile
    def step(x):
        optimizer.zero_grad()
        loss = layer(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = torch.ones(5, 4)
    for _ in range(3):
        step(x)
    with logs.capture("recompiles") as recompiled:
        with profile() as recorded:
            step(x)
        step(x)
    assert recompiled == []
    assert not [event for event in recorded.events() if event.category == "compiler"]


def test_the_plain_version_is_back_afterwards():
    program, x = compiled_program(), torch.ones(5)
    program(x, x)
    dispatcher = program._dynamo_dispatcher
    run = dispatcher.run
    with profile():
        program(x, x)
        assert dispatcher.run is not run
    assert dispatcher.run is run and dispatcher.bound[0][1] is run


def test_record_function_in_a_compiled_function_does_nothing():
    @torch.compile(fullgraph=True)
    def program(x):
        with record_function("inside"):
            return x.exp()

    x = torch.ones(3)
    program(x)
    with profile() as recorded:
        program(x)
    assert "inside" not in [event.name for event in recorded.events()]


def test_kernels_one_by_one_give_what_they_give_together():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 33), torch.nn.GELU(), torch.nn.Linear(33, 4), torch.nn.LayerNorm(4))
    compiled, x = torch.compile(model), torch.randn(20, 16)
    expected = compiled(x)
    with profile():
        result = compiled(x)
    assert torch.equal(result, expected)
