"""Damaged and hostile files, made at random, for everything in the package that reads files.

A reader gives a value or its one error, whatever is in the file; takes little more memory than the file has bytes; and
gives no tensor that reaches outside of its storage. `readers.py` is the table of readers, `mutations.py` damages bytes,
`structured.py` knows the formats and damages what they say, `outcome.py` judges one file, and `__main__.py` reads many
in child processes, which may crash.
"""
