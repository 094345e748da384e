"""The files here import torch, which only the benchmark's workers provide: pytest is not to import them."""

collect_ignore_glob = ["*.py"]
