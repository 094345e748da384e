"""What programs ask about GPUs, mixed precision and switches has the answers PyTorch gives on a machine without any."""

from __future__ import annotations

import pytest

import minitorch_compile as torch


def test_programs_that_ask_stay_on_the_cpu() -> None:
    device = torch.device(
        "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    )
    assert device.type == "cpu"
    assert (torch.cuda.device_count(), torch.cuda.memory_allocated(), torch.cuda.is_initialized()) == (0, 0, False)
    torch.cuda.manual_seed_all(0)
    torch.cuda.empty_cache()


@pytest.mark.parametrize("name", ["current_device", "synchronize", "get_device_name", "get_device_properties"])
def test_programs_that_do_not_ask_are_told(name: str) -> None:
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        getattr(torch.cuda, name)(*([0] if name.startswith("get") else []))
    with pytest.raises(AssertionError, match="cuda"):
        torch.ones(1).cuda()


def test_switches_can_be_set() -> None:
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(True)
    assert torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    with pytest.raises(RuntimeError, match="expected one of"):
        torch.set_float32_matmul_precision("low")
    torch.set_default_device("cuda")
    try:
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            torch.ones(2)
    finally:
        torch.set_default_device(None)
    assert torch.ones(2).device == torch.get_default_device() == torch.device("cpu")


def test_mixed_precision_for_a_gpu_warns_and_is_off() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.warns(UserWarning, match="not available"):
        scaler = torch.cuda.amp.GradScaler()
    with pytest.warns(UserWarning, match="CUDA is not available"), torch.cuda.amp.autocast():
        loss = model(torch.ones(1, 2)).sum()
    assert loss.dtype is torch.float32
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    before = model.weight.clone()
    scaler.step(optimizer)
    scaler.update()
    assert not torch.equal(model.weight, before)
    assert (scaler.is_enabled(), scaler.get_scale(), scaler.state_dict()) == (False, 1.0, {})


def test_data_parallel_calls_the_one_module() -> None:
    model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    assert torch.equal(model(torch.ones(1, 2)), model.module(torch.ones(1, 2)))
    with pytest.raises(RuntimeError, match="no GPUs"):
        torch.nn.DataParallel(torch.nn.Linear(2, 1), device_ids=[0, 1])


def test_modules_are_applied_to_their_own_inputs_and_not_copied_to_gpus() -> None:
    parallel, models, x = torch.nn.parallel, [torch.nn.Linear(2, 1), torch.nn.Softmax(-1)], torch.ones(1, 2)
    results = parallel.parallel_apply(models, [x, (x,)], [{}, {}], [None, None])
    assert all(map(torch.equal, results, (models[0](x), models[1](x))))
    for arguments in ([x], [x, x], [{}]), ([x, x], None, [None]):
        with pytest.raises(AssertionError):
            parallel.parallel_apply(models, *arguments)
    with pytest.raises(RuntimeError, match="is_available"):
        parallel.parallel_apply(models, [x, x], devices=[0, 1])
    with pytest.raises(AssertionError, match="Broadcast function not implemented for CPU tensors"):
        parallel.replicate(models[0], [0, 1])


def test_no_library_of_a_gpu_is_preferred() -> None:
    cuda = torch.backends.cuda
    default = cuda.preferred_linalg_library("default")
    assert cuda.preferred_linalg_library(default) is cuda.preferred_linalg_library() is default
    assert cuda.preferred_blas_library("hipblas") is cuda.preferred_blas_library("cublas")
    for choose, name in (cuda.preferred_linalg_library, "magma"), (cuda.preferred_blas_library, "ck"):
        for wrong, message in (name, "compiled with"), ("best", "Choose from: default"), (1, "value type"):
            with pytest.raises(RuntimeError, match=message):
                choose(wrong)


def test_accelerators_are_asked_for_as_on_a_machine_without_one() -> None:
    assert (torch.accelerator.is_available(), torch.accelerator.device_count()) == (False, 0)
    assert torch.accelerator.current_accelerator() is None
    with torch.accelerator.device_index(None):
        pass
    with pytest.raises(RuntimeError, match="when none is available"):
        torch.accelerator.synchronize()


def test_classes_of_a_gpu_can_be_named_and_not_made() -> None:
    def record(event: torch.cuda.Event | None, stream: torch.cuda.Stream | None) -> torch.cuda.FloatTensor | None:
        return None

    assert record(None, None) is None
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    with torch.cuda.stream(None), torch.cuda.device_of(torch.ones(1)):
        pass
    with pytest.raises(RuntimeError, match="requires CUDA"):
        torch.cuda.Event(enable_timing=True)
    with pytest.raises(TypeError, match="not available"):
        torch.cuda.FloatTensor(3)
    with pytest.raises(TypeError, match="not available"):
        torch.ones(1).type(torch.cuda.LongTensor)


def test_other_gpus_are_not_there_either() -> None:
    assert not (torch.mps.is_available() or torch.xpu.is_available())
    torch.mps.manual_seed(0)
    torch.xpu.empty_cache()
    assert torch.cpu.is_available() and torch.cpu.device_count() == 1
    with pytest.raises(RuntimeError, match="backends.mps.is_available"):
        torch.mps.synchronize()
    with pytest.raises(AssertionError, match="xpu.is_available"):
        torch.xpu.synchronize()


def test_the_processor_says_which_vectors_it_has():
    assert torch.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")


def test_what_a_compiled_function_asks_about_backends_is_traced():
    def program(x):
        backends = torch.backends
        if backends.mps.is_available() or (backends.cuda.is_built() and backends.cudnn.is_available()):
            x = x + 1
        return x * 2 if backends.cuda.math_sdp_enabled() else x

    compiled = torch.compile(program, backend="eager", fullgraph=True)
    assert compiled(torch.ones(2)).tolist() == [2, 2]
    torch.backends.cuda.enable_math_sdp(False)
    try:
        assert compiled(torch.ones(2)).tolist() == [1, 1]
    finally:
        torch.backends.cuda.enable_math_sdp(True)


def test_the_older_choice_of_attention_kernels():
    cuda = torch.backends.cuda
    with pytest.warns(FutureWarning, match="sdp_kernel") as warned:
        chosen = cuda.sdp_kernel(enable_flash=False, enable_cudnn=False)
    assert warned[0].filename == __file__  # whose line is to be changed
    with pytest.raises(KeyError):
        with chosen:
            assert (cuda.flash_sdp_enabled(), cuda.math_sdp_enabled()) == (False, True)
            assert (cuda.mem_efficient_sdp_enabled(), cuda.cudnn_sdp_enabled()) == (True, False)
            raise KeyError
    assert cuda.flash_sdp_enabled() and cuda.cudnn_sdp_enabled()
