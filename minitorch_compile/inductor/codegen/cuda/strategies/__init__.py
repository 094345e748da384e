"""How a group's points and rows are dealt out to threads: a file for each shape of group, chosen in `choose.py`.

- `points.py`: vectors of 16 bytes, several under way.
- `held_rows.py`: rows in the registers of a warp or a block, as `row_shapes.py` says; `long_rows.py`: longer ones, read
  once a pass.
- `next_row.py`: the next row in registers, which is fetched while one is computed.
- `rows_and_columns.py`: rows in registers, with sums down the columns of these rows in further registers.
- `columns.py`: a thread goes down several columns; `strips.py`, `shared_columns.py`: of few, a block's threads share
  out the lines, as vectors or one by one; `squares.py`: transposes through shared memory.
- `walk.py`: element by element, whatever has none of these shapes.
- `lanes.py`: the loop over a vector's elements, which they share.

Reductions that leave few numbers were split into steps before (`device_calls/split_for_device.py`).
"""
