"""Functions called with one input size after another: how often is each compiled? `counts.json` says it of PyTorch."""
