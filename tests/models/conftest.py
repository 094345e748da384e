"""The files here are programs for PyTorch, which only tests/as_torch can run: pytest is not to import them."""

collect_ignore_glob = ["*.py"]
