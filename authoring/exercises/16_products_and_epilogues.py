# %% [markdown]
# # 16 Exercises: products and epilogues
#
# Six exercises, an hour and three quarters: four about products, an hour, and two steps of your own `mini/products.py`, three
# quarters of an hour. Each is a sentence, a signature, an
# example and a check. Write your answer in place of the `raise` line or the `...`, run the cell, run the check below it. If
# you are stuck, `hint("16.1")` gives the first of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.inductor.ir.dependencies import Access
from minitorch_compile.inductor.ir.iteration import Axis


# %% [markdown]
# ## 16.1 Under the roof: predict
#
# x and y are (64, 64) of float32, v is (64,). How many operations does each program do, and how many bytes does it
# move? An addition or a multiplication is one operation, and so is the maximum of relu. A sum of n products is n
# multiplications and n additions. Each product is a kernel, which reads each input once and writes its result once;
# relu is an epilogue on hot blocks. And on a machine whose roof bends at 4 operations a byte, what limits the program,
# "memory" or "arithmetic"? Write triples before you compute anything. `x * 2` would be (4096, 32768, "memory").

# %% tags=["stub"]
predicted = {
    "x + y": ...,
    "x @ v": ...,
    "x @ y": ...,
    "(x @ y).relu()": ...,
    "(x @ y) @ v": ...,
    "x @ (y @ v)": ...,
}

# %% tags=["solution"]
predicted = {
    "x + y": (4096, 49152, "memory"),
    "x @ v": (8192, 16896, "memory"),
    "x @ y": (524288, 49152, "arithmetic"),
    "(x @ y).relu()": (528384, 49152, "arithmetic"),
    "(x @ y) @ v": (532480, 66048, "arithmetic"),
    "x @ (y @ v)": (16384, 33792, "memory"),
}

# %%
check("16.1")

# %% tags=["wrong"] says="so memory is the limit"
predicted = predicted | {"x + y": (4096, 49152, "arithmetic")}

# %% tags=["wrong"] says="and write the result, 256 bytes, too"
predicted = predicted | {"x @ v": (8192, 16640, "memory")}

# %% tags=["wrong"] says="are two operations"
predicted = predicted | {"x @ y": (262144, 49152, "arithmetic")}

# %% tags=["wrong"] says="but no byte"
predicted = predicted | {"(x @ y).relu()": (528384, 81920, "arithmetic")}

# %% tags=["wrong"] says="and read again by the second product"
predicted = predicted | {"(x @ y) @ v": (532480, 49664, "arithmetic")}

# %% tags=["wrong"] says="no product of matrices"
predicted = predicted | {"x @ (y @ v)": (532480, 66048, "arithmetic")}

# %% [markdown]
# ## 16.2 An order for the cache
#
# A product of n by n matrices does `c[i, j] += a[i, k] * b[k, j]` for all (i, j, k). Write a generator that yields
# these triples, each once, in an order that suits a small cache. It holds 32 lines of 8 numbers, of all three matrices
# together, and gives up the line that wasn't used for longest. Each row of a matrix begins a new line. For n = 40,
# fetch at most 3,000 lines. For n = 1 there is one triple, (0, 0, 0).


# %%
def order(n: int):
    """Yields (i, j, k), each below n, each combination once."""
    ### BEGIN SOLUTION
    starts = range(0, n, 8)
    for top in starts:
        for left in starts:
            for deep in starts:
                for i in range(top, min(top + 8, n)):
                    for k in range(deep, min(deep + 8, n)):
                        for j in range(left, min(left + 8, n)):
                            yield i, j, k
    ### END SOLUTION


# %%
check("16.2")


# %% tags=["wrong"] says="walks down a column of b"
def order(n):
    return ((i, j, k) for i in range(n) for j in range(n) for k in range(n))


# %% tags=["wrong"] says="for each row of c all of b passes by"
def order(n):
    return ((i, j, k) for i in range(n) for k in range(n) for j in range(n))


# %% tags=["wrong"] says="Blocks that are narrower"
def order(n):
    starts = range(0, n, 4)
    for top, left, deep in ((t, l, d) for t in starts for l in starts for d in starts):
        for i in range(top, min(top + 4, n)):
            for j in range(left, min(left + 4, n)):
                for k in range(deep, min(deep + 4, n)):
                    yield i, j, k


# %% tags=["wrong"] says="must fit into the 32 lines together"
def order(n):
    starts = range(0, n, 20)
    for top, left, deep in ((t, l, d) for t in starts for l in starts for d in starts):
        for i in range(top, min(top + 20, n)):
            for j in range(left, min(left + 20, n)):
                for k in range(deep, min(deep + 20, n)):
                    yield i, j, k


# %% tags=["wrong"] says="The last blocks are smaller"
def order(n):
    starts = range(0, n - 7, 8)
    for top, left, deep in ((t, l, d) for t in starts for l in starts for d in starts):
        for i in range(top, top + 8):
            for j in range(left, left + 8):
                for k in range(deep, deep + 8):
                    yield i, j, k
    if n < 8:
        yield from ((i, j, k) for i in range(n) for j in range(n) for k in range(n))


# %% tags=["wrong"] says="a block ends where the matrix ends"
def order(n):
    side = min(8, n)
    starts = range(0, n, side)
    for top, left, deep in ((t, l, d) for t in starts for l in starts for d in starts):
        for i in range(top, top + side):
            for j in range(left, left + side):
                for k in range(deep, deep + side):
                    yield i, j, k


# %% [markdown]
# ## 16.3 Find the bug: an epilogue on blocks
#
# This computes gelu(x @ w + bias) in blocks of rows, and cuts the sums as well. It gets two functions. `product(top,
# bottom, start, end)` adds x[top:bottom, start:end] @ w[start:end] to those rows of the result, which begin as zeros.
# `finish(top, bottom)` puts bias and gelu on those rows. It is right for small matrices, and wrong for others. Repair
# it so that each block is finished while it's hot: after its last product, and before the next rows have their first.


# %% tags=["stub"]
def linear(product, finish, rows, inner, tall, deep):
    for start in range(0, inner, deep):
        for top in range(0, rows, tall):
            product(top, top + tall, start, start + deep)
            finish(top, top + tall)


# %% tags=["solution"]
def linear(product, finish, rows, inner, tall, deep):
    for top in range(0, rows, tall):
        bottom = min(top + tall, rows)
        for start in range(0, inner, deep):
            product(top, bottom, start, min(start + deep, inner))
        finish(top, bottom)


# %%
check("16.3")


# %% tags=["wrong"] says="is not a part of gelu of the sum"
def linear(product, finish, rows, inner, tall, deep):
    for start in range(0, inner, deep):
        for top in range(0, rows, tall):
            bottom = min(top + tall, rows)
            product(top, bottom, start, min(start + deep, inner))
            finish(top, bottom)


# %% tags=["wrong"] says="those rows have left the cache"
def linear(product, finish, rows, inner, tall, deep):
    for start in range(0, inner, deep):
        for top in range(0, rows, tall):
            product(top, min(top + tall, rows), start, min(start + deep, inner))
    finish(0, rows)


# %% tags=["wrong"] says="The last block is shorter"
def linear(product, finish, rows, inner, tall, deep):
    for top in range(0, rows, tall):
        for start in range(0, inner, deep):
            product(top, top + tall, start, min(start + deep, inner))
        finish(top, top + tall)


# %% tags=["wrong"] says="The rest that is no whole block"
def linear(product, finish, rows, inner, tall, deep):
    for block in range(rows // tall):
        top = block * tall
        for start in range(0, inner, deep):
            product(top, top + tall, start, min(start + deep, inner))
        finish(top, top + tall)


# %% tags=["wrong"] says="gelu of gelu"
def linear(product, finish, rows, inner, tall, deep):
    for top in range(0, rows, tall):
        bottom = min(top + tall, rows)
        for start in range(0, inner, deep):
            product(top, bottom, start, min(start + deep, inner))
        for start in range(0, inner, deep):
            finish(top, bottom)


# %% [markdown]
# ## 16.4 The piece that was just made
#
# A product is made in pieces of `piece` numbers: in step n those from n * piece up to, but not including, (n + 1) *
# piece. After each piece comes a step of the group that follows, whose outermost loop is `axis`; `axis.variable` is its
# n. May the group make this read? `access.address` is an index expression. It has `bounds()`, its least and greatest
# value, and you can add and multiply it. A read that is `masked`, or whose address `is_indirect`, may be anywhere. With
# pieces of 16, the address `16*i0 + i1` stays in its piece if i1 is below 16, and `8*i1 + i0` doesn't.


# %%
def stays_in_piece(access: Access, axis: Axis, piece: int) -> bool:
    """Whether in step n only numbers of piece n are read."""
    ### BEGIN SOLUTION
    if access.masked or access.address.is_indirect:
        return False
    least, most = (access.address - axis.variable * piece).bounds()
    return 0 <= least and most < piece
    ### END SOLUTION


# %%
check("16.4")

# %% [markdown]
# The scheduler asks this about every group that follows a product. With your rule in it:

# %%
if passed("16.4"):
    with splice("inductor.stays_in_piece", stays_in_piece):
        x = torch.ones(256, 256)
        for program in (lambda x: (x @ x).relu(), lambda x: (x @ x).flip(0).exp()):
            print(torch.compiler.inspect(program, x).schedule.kernel_count)


# %% tags=["wrong"] says="are a row too far"
def stays_in_piece(access, axis, piece):
    known = not access.masked and not access.address.is_indirect
    return known and access.address.coefficient(axis.variable) == piece


# %% tags=["wrong"] says="the first one of the next piece"
def stays_in_piece(access, axis, piece):
    least, most = (access.address - axis.variable * piece).bounds()
    return not access.masked and not access.address.is_indirect and 0 <= least and most <= piece


# %% tags=["wrong"] says="the last one of the piece before"
def stays_in_piece(access, axis, piece):
    inside = access.address - axis.variable * piece
    if access.masked or access.address.is_indirect or inside.depends_on(axis.variable):
        return False
    return inside.bounds()[1] < piece


# %% tags=["wrong"] says="Most rows are still to be made"
def stays_in_piece(access, axis, piece):
    least, most = access.address.bounds()
    return 0 <= least and most < piece * axis.size


# %% tags=["wrong"] says="and then overwritten"
def stays_in_piece(access, axis, piece):
    if access.masked or access.address.is_indirect:
        return False
    least, most = (access.address - axis.variable * piece).bounds()
    return most < piece


# %% tags=["wrong"] says="where the mask is false"
def stays_in_piece(access, axis, piece):
    least, most = (access.address - axis.variable * piece).bounds()
    return not access.address.is_indirect and 0 <= least and most < piece


# %% tags=["wrong"] says="don't vouch for it"
def stays_in_piece(access, axis, piece):
    least, most = (access.address - axis.variable * piece).bounds()
    return not access.masked and 0 <= least and most < piece


# %% [markdown]
# ## Your own stack: `mini/products.py`
#
# What a product is when it runs, and what may follow it while its rows are in the cache. The file imports your `emit` and
# `index`. Its grown-up version is `inductor/schedule/fused_call.py`.

# %% [markdown]
# ## 16.5 A product, and what follows it block by block
#
# A `ProductStep` is made of a `Call`: `call.buffer` is the result's buffer, `call.arguments` are two pairs of a buffer and a
# layout. It notes the call, no `epilogue`, and its `buffers`. `launch(batch)` gives a function of the memory, which has a flat
# array for each buffer: that one computes the product with `np.matmul`. `Tensor(Storage(array, dtype), layout).numpy()` is an
# array of flat memory as a layout sees it. What depends on the batch alone is found out before, once: `at(layout, batch)` is a layout in numbers. If there is
# an epilogue, the product is made in blocks of `block` rows, and after each `self.epilogue.run_part(memory, low, high)` runs
# the rows that belong to it. They are counted in rows of its kernel, `at(self.epilogue.rows, batch)` in all.

# %% step="16.5"
class ProductStep:
    """out = x @ y; and where a kernel follows that works on its rows, block by block, while they are in the cache."""

    block = 64

    def __init__(self, call):
        """call.buffer: of the result; call.arguments: two pairs of buffer and layout."""


# %%
check("16.5")

# %% tags=["wrong"] step="16.5" says="must still be in the cache"
# -             for low in range(0, count, self.block):
# -                 high = min(low + self.block, count)
# -                 np.matmul(x[low:high], y, out=out[low:high])
# +             np.matmul(x, y, out=out)
# +             for low in range(0, count, self.block):
# +                 high = min(low + self.block, count)

# %% tags=["wrong"] step="16.5" says="The last rows do not fill a block"
# -             for low in range(0, count, self.block):
# +             for low in range(0, count - self.block + 1, self.block):

# %% tags=["wrong"] step="16.5" says="kernel.rows // len(out) of them"
# -                 self.epilogue.run_part(memory, low * rows // count, high * rows // count)
# +                 self.epilogue.run_part(memory, low, high)

# %% tags=["wrong"] step="16.5" says="what this step touches"
# -         self.buffers = [call.buffer, *[buffer for buffer, _ in call.arguments]]
# +         self.buffers = [call.buffer]

# %% [markdown]
# ## 16.6 What may be an epilogue
#
# `takes(step)`: may this kernel run block by block after the product? Only a `Kernel`, only if there is no epilogue yet,
# only after a product of two matrices that is not empty, and only if it reads the product. Then what counts is this: each of
# its rows may read only what belongs to that row. If the kernel has `rows` rows, row r has `size = numel(out.sizes) // rows`
# elements of the product, from r * size on. `loop.reads(step.group.rows)` are pairs of a buffer and an `Index` in the variables i0,
# i1, ... of the row and j0, ... inside; your `flatten` and `bounds` say how far an index may lie from the row's beginning.

# %% step="16.6"
def takes(self, step):
    """Whether a kernel's rows are the product's, one by one or each in equally many parts."""


# %%
check("16.6")

# %% tags=["wrong"] step="16.6" says="reads elements of other rows"
# -         return all((index - row * size).within(size) for index in reads) and not rows % out.sizes[0]
# +         return not rows % out.sizes[0]

# %% tags=["wrong"] step="16.6" says="The product has an epilogue already"
# -         if self.epilogue or not isinstance(step, Kernel) or len(out.sizes) != 2 or 0 in out.sizes:
# +         if not isinstance(step, Kernel) or len(out.sizes) != 2 or 0 in out.sizes:

# %% tags=["wrong"] step="16.6" says="there is nothing to keep in the cache"
# -         if not reads or not rows or type(rows) is not type(out.sizes[0]):  # both depend on the batch, or none
# +         if not rows:

# %% tags=["wrong"] step="16.6" says="a batch is left alone"
# -         if self.epilogue or not isinstance(step, Kernel) or len(out.sizes) != 2 or 0 in out.sizes:
# +         if self.epilogue or not isinstance(step, Kernel) or 0 in out.sizes:

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("16")

# %%
with own_parts():
    print(torch.compile(lambda x: (x @ x).softmax(1))(torch.ones(2, 2)))
