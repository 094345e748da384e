"""Programs for PyTorch whose graphs are counted; tests/dynamo/counting.py says how."""
