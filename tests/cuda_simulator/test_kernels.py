"""What kernels may do: control flow, device functions, shared memory, atomics, shuffles, votes, bits."""

import math
import warnings

import numpy as np
import pytest

from minitorch_compile.cuda_simulator import cuda, simulate

F, ALL = np.float32, 0xFFFFFFFF


def each(function, *arrays, threads=32, dtype=np.int64):
    """What a device function gives for each thread, called with its number and the arrays."""
    compute = cuda.jit(device=True)(function)

    def of_none(out):
        out[cuda.grid(1)] = compute(cuda.grid(1))

    def of_one(out, x):
        out[cuda.grid(1)] = compute(cuda.grid(1), x)

    out = np.zeros(threads, dtype)
    simulate([of_none, of_one][len(arrays)])[1, threads](out, *arrays)
    return out.tolist()


# ------------------------------------------------------------------------------------------ control flow


def test_break_continue_and_else():
    def odd_before_seven(i):
        total = 0
        for k in range(i):
            if k % 2 == 0:
                continue
            if k == 7:
                break
            total += k
        else:
            total += 100
        return total

    assert each(odd_before_seven) == [odd_before_seven(i) for i in range(32)]


def test_returns_from_the_middle_of_loops():
    def first_factor(i):
        k = 2
        while True:
            if i < k * k:
                return i
            if i % k == 0:
                return k
            k += 1

    assert each(first_factor) == [first_factor(i) for i in range(32)]


def test_nested_loops_whose_lengths_differ():
    def pairs(i):
        found = 0
        for a in range(i, 0, -2):
            for b in (1, 2, 3):
                if a % b == i % b:
                    found += 10 * a + b
        return found

    assert each(pairs) == [pairs(i) for i in range(32)]


def test_both_sides_of_conditions_are_taken_by_those_they_concern():
    def guarded(i, x):
        value = x[i] if i < 4 else -1
        if i < 4 and x[i] > 1 or i == 9:
            value = 0 if (doubled := 2 * value) == 4 else doubled
        return value

    assert each(guarded, np.array([1, 2, 3, 4]), threads=11) == [1, 0, 6, 8, *[-1] * 5, -2, -1]


def test_tuples_are_values():
    def swap(i):
        a, b = i, -i
        for _ in range(i % 3):
            a, b = b, a
        pair = (a, b)
        return pair[0] - pair[1]

    assert each(swap) == [swap(i) for i in range(32)]


def test_a_device_function_knows_its_closure_and_calls_others():
    def scaled_by(factor):
        @cuda.jit(device=True)
        def times(x, more=1):
            return x * factor + more

        return times

    tenfold = scaled_by(10)
    smallest = cuda.jit(device=True)(
        lambda x: min(x, 3, 7),
    )

    def both(i):
        return tenfold(i, more=smallest(i)) + tenfold(0)

    assert each(both) == [10 * i + min(i, 3) + 1 for i in range(32)]


def test_grids_and_blocks_have_three_dimensions():
    def kernel(out):
        x, y, z = cuda.grid(3)
        out[z, y, x] = x + 10 * y + 100 * z + 1000 * cuda.gridsize(3)[2]
        out[z, y, x] += 10000 * cuda.blockDim.y + 100000 * cuda.gridDim.x + 1000000 * cuda.laneid

    out = np.zeros((4, 6, 4), np.int64)
    simulate(kernel)[(2, 3, 1), (2, 2, 4)](out)
    z, y, x = np.indices(out.shape)
    lane = x % 2 + 2 * (y % 2) + 4 * (z % 4)
    assert np.array_equal(out, x + 10 * y + 100 * z + 4000 + 20000 + 200000 + 1000000 * lane)


def test_rows_of_arrays_and_sizes():
    def kernel(out, x):
        i = cuda.grid(1)
        if i < len(x):
            row = x[i]
            for j in range(x.shape[1]):
                out[i] += row[j] * x.ndim
            out[i] += row[-1] + x.size + row.shape[0]

    x, out = np.arange(12).reshape(3, 4), np.zeros(3, np.int64)
    simulate(kernel)[1, 32](out, x)
    assert out.tolist() == (2 * x.sum(1) + x[:, -1] + 12 + 4).tolist()


def test_print_speaks_for_each_thread(capsys):
    def kernel():
        if cuda.threadIdx.x > 0:
            print("thread", cuda.threadIdx.x)

    simulate(kernel)[1, 3]()
    assert capsys.readouterr().out == "thread 1\nthread 2\n"


# ------------------------------------------------------------------------------------------ memory


def test_dynamic_shared_memory_has_the_size_of_the_launch():
    def kernel(out):
        shared = cuda.shared.array(0, np.float32)
        shared[cuda.threadIdx.x] = cuda.threadIdx.x
        cuda.syncthreads()
        out[cuda.threadIdx.x] = shared[shared.size - 1 - cuda.threadIdx.x]

    out = np.zeros(64)
    simulate(kernel)[1, 64, 0, 64 * 4](out)
    assert out.tolist() == list(range(63, -1, -1))


def test_local_arrays_are_each_threads_own_and_constants_are_everyones():
    table = np.array([5, 6, 7])

    def kernel(out):
        constants, mine = cuda.const.array_like(table), cuda.local.array((2, 2), np.int64)
        mine[1, 0] = cuda.threadIdx.x
        out[cuda.threadIdx.x] = constants[mine[1, 0] % 3] + table[0]

    out = np.zeros(6, np.int64)
    simulate(kernel)[1, 6](out)
    assert out.tolist() == [10, 11, 12, 10, 11, 12]


ATOMICS = {
    "add": 10 + sum(range(32)), "sub": 10 - sum(range(32)), "max": 31, "min": 0, "and_": 0, "or_": 31,
    "xor": 10, "exch": 31, "nanmax": 31, "nanmin": 0,
}  # fmt: skip


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics(name, space):
    change = getattr(cuda.atomic, name)

    def kernel(cell, olds, use_shared):
        shared = cuda.shared.array(1, np.int64)
        if cuda.threadIdx.x == 0:
            shared[0] = cell[0]
        cuda.syncthreads()
        if use_shared:
            olds[cuda.threadIdx.x] = change(shared, 0, cuda.threadIdx.x)
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                cell[0] = shared[0]
        else:
            olds[cuda.threadIdx.x] = change(cell, 0, cuda.threadIdx.x)

    cell, olds = np.array([10]), np.zeros(32, np.int64)
    simulate(kernel)[1, 32](cell, olds, space == "shared")
    assert cell[0] == ATOMICS[name] and olds[0] == 10


def test_counters_that_wrap_and_compare_and_swap():
    def counting(cells):
        cuda.atomic.inc(cells, 0, 2)
        cuda.atomic.dec(cells, 1, 2)
        cuda.atomic.cas(cells, 2, 0, cuda.threadIdx.x + 5)

    cells = np.zeros(3, np.uint64)
    simulate(counting)[1, 4](cells)
    assert cells.tolist() == [1, 2, 5]


# ------------------------------------------------------------------------------------------ warps


def test_shuffles():
    lanes = list(range(32))
    assert each(lambda i: cuda.shfl_sync(ALL, i, 5)) == [5] * 32
    assert each(lambda i: cuda.shfl_up_sync(ALL, i, 3)) == [i - 3 if i >= 3 else i for i in lanes]
    assert each(lambda i: cuda.shfl_down_sync(ALL, i, 3)) == [i + 3 if i < 29 else i for i in lanes]
    assert each(lambda i: cuda.shfl_xor_sync(ALL, i, 1)) == [i ^ 1 for i in lanes]
    assert each(lambda i: cuda.shfl_sync(ALL, i, 1), threads=64) == [1] * 32 + [33] * 32
    with pytest.raises(TypeError, match="shfl_xor_sync passes on numbers of 4 and 8 bytes, not bool"):
        each(lambda i: cuda.shfl_xor_sync(ALL, i > 3, 1))


def test_votes():
    odd = sum(1 << i for i in range(1, 32, 2))
    assert each(lambda i: cuda.ballot_sync(ALL, i % 2 == 1)) == [odd - 2**32] * 32  # a number with a sign
    assert each(lambda i: cuda.any_sync(ALL, i == 40), threads=64) == [0] * 32 + [1] * 32
    assert each(lambda i: cuda.all_sync(ALL, i < 32), threads=64) == [1] * 32 + [0] * 32
    assert each(lambda i: cuda.eq_sync(ALL, i < 40), threads=64) == [1] * 32 + [0] * 32
    assert each(lambda i: cuda.match_any_sync(ALL, i % 2))[1] == odd - 2**32
    assert each(lambda i: cuda.match_all_sync(ALL, i // 32)[1], threads=64) == [1] * 64
    assert each(lambda i: cuda.activemask() if i % 2 == 1 else 0) == [odd if i % 2 else 0 for i in range(32)]
    assert each(lambda i: cuda.lanemask_lt())[5] == 31


def test_barriers_that_count():
    assert each(lambda i: cuda.syncthreads_count(np.int32(i < 5)), threads=64) == [5] * 64
    assert each(lambda i: cuda.syncthreads_and(np.int32(i < 5))) == [0] * 32
    assert each(lambda i: cuda.syncthreads_or(np.int32(i < 5))) == [1] * 32


def test_bits():
    numbers = np.array([0, 1, 6, -1, 2**31 - 1, -(2**31)], np.int32)
    assert each(lambda i, x: cuda.popc(x[i]), numbers, threads=6) == [0, 1, 2, 32, 31, 1]
    assert each(lambda i, x: cuda.ffs(x[i]), numbers, threads=6) == [0, 1, 2, 1, 1, 32]
    assert each(lambda i, x: cuda.clz(x[i]), numbers, threads=6) == [32, 31, 29, 0, 1, 0]
    assert each(lambda i, x: cuda.brev(x[i]), numbers, threads=6) == [0, 2**31, 6 << 28, 2**32 - 1, 2**32 - 2, 1]
    assert each(lambda i: cuda.selp(i > 1, i, 7), threads=4) == [7, 7, 2, 3]


def test_fma_rounds_once():
    x = np.array([1 + 2**-12], F)
    assert each(lambda i, x: cuda.fma(x[0], x[0], -x[0]), x, threads=1, dtype=F) == [F(float(x[0]) ** 2 - float(x[0]))]
    assert each(lambda i: cuda.cbrt(27.0), threads=1, dtype=F) == [3]


# ------------------------------------------------------------------------------------------ numbers


def test_float32_stays_float32_and_literals_are_float64():
    x = np.array([0.1, 3.0], F)
    assert each(lambda i, x: x[0] * x[1], x, threads=1, dtype=np.float64) == [float(F(0.1) * F(3))]
    assert each(lambda i, x: x[0] * 3.0, x, threads=1, dtype=np.float64) == [float(F(0.1)) * 3.0]
    assert each(lambda i, x: x[0] ** 2, x, threads=1, dtype=np.float64) == [float(F(0.1) * F(0.1))]
    assert each(lambda i, x: math.exp(x[1]), x, threads=1, dtype=np.float64) == [float(np.exp(F(3)))]
    assert each(lambda i, x: math.sqrt(i + 2), x, threads=1, dtype=np.float64) == [math.sqrt(2)]


def test_integers_wrap_and_are_computed_in_64_bits():
    x = np.array([2**31 - 1, 2**31 - 1], np.int32)
    assert each(lambda i, x: x[0] + x[1], x, threads=1) == [2**32 - 2]
    assert each(lambda i, x: np.int32(x[0] + 1), x, threads=1) == [-(2**31)]
    assert each(lambda i: (2**63 - 1) + i, threads=2) == [2**63 - 1, -(2**63)]
    assert each(lambda i: -7 // (i + 2), threads=2) == [-4, -3]
    assert each(lambda i: -7 % (i + 2), threads=2) == [1, 2]


def test_zero_divisors_infinities_and_nans_warn_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert each(lambda i: 1 // i, threads=2) == [0, 1]
        assert each(lambda i: 1.0 / i, threads=2, dtype=F) == [math.inf, 1]
        assert each(lambda i: math.exp(1000.0 * i) - 1.0, threads=2, dtype=F) == [0, math.inf]
        assert each(lambda i: math.log(float(-i)) == 0, threads=2) == [0, 0]
        assert each(lambda i: F(1e38) * F(10.0 + i), threads=1, dtype=F) == [math.inf]


def test_conversions_saturate_as_the_devices_do():
    x = np.array([3.9, -3.9, 1e30, -1e30, np.nan, np.inf])
    assert each(lambda i, x: int(x[i]), x, threads=6) == [3, -3, 2**63 - 1, -(2**63), -(2**63), 2**63 - 1]
    assert each(lambda i, x: np.int32(x[i]), x, threads=6)[2:5] == [2**31 - 1, -(2**31), 0]
    assert each(lambda i, x: np.uint8(300 + i), x, threads=2) == [44, 45]
    assert each(lambda i, x: bool(x[i]) + True, x, threads=2) == [2, 2]


# ------------------------------------------------------------------------------------------ what is refused


def refused(kernel, *arguments, threads=1):
    with pytest.raises((TypeError, NotImplementedError, NameError, AttributeError, RuntimeError, ValueError)) as raised:
        simulate(kernel)[1, threads](*arguments)
    return str(raised.value)


def test_what_kernels_cannot_do_is_said_with_its_line():
    def slices(x):
        x[0:2] = 1

    def comprehension(x):
        x[0] = sum([2 * i for i in range(3)])

    def host_function(x):
        x[0] = refused(x)

    def float_index(x):
        x[1.0] = 1

    def unsigned_only(x):
        cuda.atomic.inc(x, 0, 1)

    def yes_or_no(x):
        cuda.syncthreads_count(x[0] > 1)

    def unknown(x):
        x[0] = cuda.warp_speed

    def of_all_threads(x):
        x[0] = np.matmul(x[cuda.threadIdx.x], x[cuda.threadIdx.x])

    def into_a_register(x):
        np.add(cuda.threadIdx.x, 1, cuda.threadIdx.x)

    def of_pythons_bools(x):
        cuda.shared.array(4, bool)[0] = x[0] > 1

    says_so = type("SaysSo", (), {"__class__": np.ndarray, "shape": (1,), "__getitem__": lambda self, at: 1.0})()

    def no_array(x):
        x[0] = says_so[0]

    x = np.zeros(3)
    assert "is Python's bool, which Numba refuses; use numba.boolean" in refused(of_pythons_bools, x)
    assert "knows no <ufunc 'matmul'>" in refused(of_all_threads, x)
    assert "knows no <ufunc 'add'>" in refused(into_a_register, x)
    assert "only arrays and tuples have elements" in refused(no_array, x)
    assert "has no slices in kernels" in refused(slices, x) and "x[0:2] = 1" in refused(slices, x)
    assert "doesn't run ListComp" in refused(comprehension, x)
    assert "refused is for the host; cuda.jit(device=True)" in refused(host_function, x)
    assert "an index must be a whole number" in refused(float_index, x)
    assert "atomic.inc: x is float64, but has to be uint32, uint64" in refused(unsigned_only, x)
    assert "takes a whole number, got bool: int32(...)" in refused(yes_or_no, x)
    assert "the simulator knows no cuda.warp_speed" in refused(unknown, x)
    assert "a kernel takes arrays and numbers, got 'text'" in refused(slices, "text")


def test_launches_are_checked():
    def kernel():
        pass

    def two(x, *more):
        x[0] = more[0][0] + more[1]

    x = np.zeros(1)
    assert simulate(two)[1, 1](x, np.ones(1), 2).faults == [] and x[0] == 3
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        simulate(two)[1, 1]()
    with pytest.raises(TypeError, match="too many positional arguments"):
        simulate(kernel)[1, 1](3)
    with pytest.raises(ValueError, match="a block has 1 to 1024 threads, got"):
        simulate(kernel)[1, 2048]
    with pytest.raises(ValueError, match="blocks: expected one to three numbers of at least 1, got 0"):
        simulate(kernel)[0, 32]
    with pytest.raises(ValueError, match=r"expected \[blocks, threads\]"):
        simulate(kernel)[3]
    with pytest.raises(ValueError, match=r"launched as kernel\[blocks, threads\]"):
        simulate(kernel)()
    with pytest.raises(TypeError, match="expected a Python function or a kernel"):
        simulate(3)
    with pytest.raises(RuntimeError, match="cuda.syncthreads is for kernels"):
        cuda.syncthreads()


def test_a_kernel_of_numba_runs_here():
    numba = pytest.importorskip("numba")
    from numba import cuda as numbas

    @numbas.jit(device=True)
    def half(x):
        return x / numba.float32(2)

    @numbas.jit
    def kernel(out, x):
        shared = numbas.shared.array(32, numba.float32)
        thread = numbas.threadIdx.x
        shared[thread] = half(x[numbas.grid(1)])
        numbas.syncthreads()
        numbas.atomic.add(out, 0, shared[31 - thread])

    out = np.zeros(1, F)
    simulate(kernel)[2, 32](out, np.ones(64, F))
    assert out.tolist() == [32.0]
