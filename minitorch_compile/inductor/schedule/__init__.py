"""From loops to kernels to be: which loops fuse, in which order they run, and where their buffers lie."""
