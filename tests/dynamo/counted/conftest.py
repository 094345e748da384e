"""The files here are programs for PyTorch, which only tests/dynamo/counting.py can load: pytest is not to."""

collect_ignore_glob = ["*.py"]
