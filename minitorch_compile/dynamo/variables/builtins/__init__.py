"""Functions that are known by name: a row of a table says what a call of each gives."""
