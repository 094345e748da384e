"""A CUDA device for machines without one: it runs kernels of numba.cuda, finds their faults and counts their cost."""

from minitorch_compile.cuda_simulator import cuda
from minitorch_compile.cuda_simulator.counts import Counts, LineCounts
from minitorch_compile.cuda_simulator.counts_drawing import draw_counts
from minitorch_compile.cuda_simulator.faults import KernelFault, Place
from minitorch_compile.cuda_simulator.recorder import Recorder
from minitorch_compile.cuda_simulator.simulate import Run, simulate

__all__ = ["Counts", "KernelFault", "LineCounts", "Place", "Recorder", "Run", "cuda", "draw_counts", "simulate"]
