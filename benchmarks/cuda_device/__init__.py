"""What is to be seen on a GPU: `python -m benchmarks.cuda_device`."""
