"""A PyTorch 2 stack in one sitting: tensors, tracer, autograd, compiler. `from mini.front import compile` is its door."""
