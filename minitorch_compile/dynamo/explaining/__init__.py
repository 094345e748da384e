"""What compilation made of a call, to be read."""
