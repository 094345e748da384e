"""Kernels with one fault each, beside the same kernel without it.

`# here` marks the line that is reported, `# and here` the one that it collides with.
"""

import numpy as np

from minitorch_compile.cuda_simulator import cuda

N = 128  # threads of a block
PLANTED = {}


def planted(kind, *arguments, blocks=1):
    """Enters a pair: a class with kernels `faulty` and `right`; `arguments` are functions that make arrays."""

    def enter(pair):
        PLANTED[pair.__name__] = (kind, pair.faulty, pair.right, blocks, arguments)
        return pair

    return enter


def numbers():
    return np.arange(N, dtype=np.float32)


def zeros():
    return np.zeros(N, np.float32)


def short():
    return np.zeros(100, np.float32)


def counter():
    return np.zeros(4, np.int64)


@planted("data race", numbers, zeros)
class reading_a_neighbours_value:
    def faulty(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread = cuda.threadIdx.x
        shared[thread] = x[thread]  # and here
        out[thread] = shared[N - 1 - thread]  # here

    def right(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread = cuda.threadIdx.x
        shared[thread] = x[thread]
        cuda.syncthreads()
        out[thread] = shared[N - 1 - thread]


@planted("data race", numbers, zeros)
class a_tree_without_barriers:
    def faulty(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread, step = cuda.threadIdx.x, N // 2
        shared[thread] = x[thread]
        cuda.syncthreads()
        while step > 0:
            if thread < step:
                value = shared[thread] + shared[thread + step]  # here
                shared[thread] = value  # and here
            step //= 2
        if thread == 0:
            out[0] = shared[0]

    def right(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread, step = cuda.threadIdx.x, N // 2
        shared[thread] = x[thread]
        cuda.syncthreads()
        while step > 0:
            if thread < step:
                shared[thread] += shared[thread + step]
            cuda.syncthreads()
            step //= 2
        if thread == 0:
            out[0] = shared[0]


@planted("data race", numbers, zeros)
class overwriting_what_others_still_read:
    def faulty(x, out):
        shared = cuda.shared.array(1, np.float32)
        thread = cuda.threadIdx.x
        for turn in range(2):
            if thread == 0:
                shared[0] = x[turn]  # here
            cuda.syncthreads()
            out[thread] += shared[0]  # and here

    def right(x, out):
        shared = cuda.shared.array(1, np.float32)
        thread = cuda.threadIdx.x
        for turn in range(2):
            if thread == 0:
                shared[0] = x[turn]
            cuda.syncthreads()
            out[thread] += shared[0]
            cuda.syncthreads()


@planted("data race", numbers)
class shifting_in_place:
    def faulty(x):
        i = cuda.grid(1)
        if i + 1 < x.size:
            value = x[i + 1]  # and here
            x[i] = value  # here

    def right(x):
        i = cuda.grid(1)
        value = x[i + 1] if i + 1 < x.size else x[i]
        cuda.syncthreads()
        x[i] = value


@planted("data race", numbers, zeros, blocks=3)
class summing_over_blocks_without_atomics:
    def faulty(x, out):
        if cuda.threadIdx.x == 0:
            out[0] += x[cuda.blockIdx.x]  # here # and here

    def right(x, out):
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(out, 0, x[cuda.blockIdx.x])


@planted("data race", numbers, counter)
class a_histogram_without_atomics:
    def faulty(x, out):
        i = cuda.grid(1)
        out[int(x[i]) % 4] = i  # here # and here

    def right(x, out):
        i = cuda.grid(1)
        cuda.atomic.add(out, int(x[i]) % 4, 1)


@planted("data race", numbers, zeros)
class a_warp_that_does_not_wait_for_itself:
    def faulty(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread = cuda.threadIdx.x
        shared[thread] = x[thread]  # and here
        out[thread] = shared[thread ^ 1]  # here

    def right(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread = cuda.threadIdx.x
        shared[thread] = x[thread]
        cuda.syncwarp()
        out[thread] = shared[thread ^ 1]


@planted("data race", numbers, zeros, counter, blocks=3)
class the_last_block_without_a_fence:
    def faulty(x, out, done):
        block = cuda.blockIdx.x
        if cuda.threadIdx.x == 0:
            out[block] = x[block]  # and here
            if cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1:
                out[3] = out[0] + out[1] + out[2]  # here

    def right(x, out, done):
        block = cuda.blockIdx.x
        if cuda.threadIdx.x == 0:
            out[block] = x[block]
            cuda.threadfence()
            if cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1:
                out[3] = out[0] + out[1] + out[2]


@planted("out of bounds", numbers, short)
class more_threads_than_elements:
    def faulty(x, out):
        i = cuda.grid(1)
        out[i] = x[i]  # here

    def right(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i]


@planted("out of bounds", numbers, zeros)
class a_neighbour_beyond_the_end:
    def faulty(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread = cuda.threadIdx.x
        shared[thread] = x[thread]
        cuda.syncthreads()
        out[thread] = shared[thread + 1]  # here

    def right(x, out):
        shared = cuda.shared.array(N + 1, np.float32)
        thread = cuda.threadIdx.x
        shared[thread] = x[thread]
        if thread == 0:
            shared[N] = 0
        cuda.syncthreads()
        out[thread] = shared[thread + 1]


@planted("out of bounds", numbers, zeros)
class a_local_array_that_is_too_small:
    def faulty(x, out):
        mine = cuda.local.array(4, np.float32)
        for k in range(5):
            mine[k] = x[k]  # here
        out[cuda.grid(1)] = mine[0]

    def right(x, out):
        mine = cuda.local.array(5, np.float32)
        for k in range(5):
            mine[k] = x[k]
        out[cuda.grid(1)] = mine[0]


@planted("divergent barrier", numbers, zeros)
class a_barrier_for_half_of_the_threads:
    def faulty(x, out):
        thread = cuda.threadIdx.x
        if thread < N // 2:
            out[thread] = x[thread]
            cuda.syncthreads()  # here

    def right(x, out):
        thread = cuda.threadIdx.x
        if thread < N // 2:
            out[thread] = x[thread]
        cuda.syncthreads()


@planted("divergent barrier", numbers, short)
class a_barrier_after_an_early_return:
    def faulty(x, out):
        i = cuda.grid(1)
        if i >= out.size:
            return
        cuda.syncthreads()  # here
        out[i] = x[i]

    def right(x, out):
        i = cuda.grid(1)
        cuda.syncthreads()
        if i >= out.size:
            return
        out[i] = x[i]


@planted("divergent barrier", numbers, zeros)
class a_barrier_in_a_loop_that_some_leave_early:
    def faulty(x, out):
        thread = cuda.threadIdx.x
        for k in range(thread % 3 + 1):
            out[thread] += x[k]
            cuda.syncthreads()  # here

    def right(x, out):
        thread = cuda.threadIdx.x
        for k in range(3):
            if k < thread % 3 + 1:
                out[thread] += x[k]
            cuda.syncthreads()


@planted("inactive lane", numbers, zeros)
class a_shuffle_that_half_of_a_warp_misses:
    def faulty(x, out):
        thread = cuda.threadIdx.x
        value = x[thread]
        if thread % 32 < 16:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, 16)  # here
        out[thread] = value

    def right(x, out):
        thread = cuda.threadIdx.x
        value = x[thread]
        other = cuda.shfl_down_sync(0xFFFFFFFF, value, 16)
        if thread % 32 < 16:
            value += other
        out[thread] = value


@planted("inactive lane", numbers, zeros)
class a_shuffle_from_a_lane_outside_its_mask:
    def faulty(x, out):
        thread = cuda.threadIdx.x
        if thread % 32 < 16:
            out[thread] = cuda.shfl_sync(0xFFFF, x[thread], 20)  # here

    def right(x, out):
        thread = cuda.threadIdx.x
        if thread % 32 < 16:
            out[thread] = cuda.shfl_sync(0xFFFF, x[thread], 12)


@planted("uninitialised read", numbers, zeros)
class reading_what_nobody_wrote:
    def faulty(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread = cuda.threadIdx.x
        if thread % 2 == 0:
            shared[thread] = x[thread]
        cuda.syncthreads()
        out[thread] = shared[thread]  # here

    def right(x, out):
        shared = cuda.shared.array(N, np.float32)
        thread = cuda.threadIdx.x
        shared[thread] = x[thread] if thread % 2 == 0 else 0
        cuda.syncthreads()
        out[thread] = shared[thread]
