"""From fused groups to source text: kernels for each target, and the wrapper that calls them."""
