"""Random programs of writes and views, compiled against plain.

`program` grows them, `worlds` makes the arguments they start from, `observe` describes what they leave behind,
`shrink` makes a failing one small; `python -m tests.aot.aliasing --help` runs as many as wanted.
"""
