"""Code objects as programs of version-free instructions, and back."""
