"""What the writers of kernels for every target share: blocks of text, the handler that writes, sums."""
