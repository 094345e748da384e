"""The bytecode interpreter: one handler an instruction, and plain Python as its first domain."""
