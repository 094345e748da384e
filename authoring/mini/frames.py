"""Lesson 07. Calls taken over without the caller asking: what interpreted frames call goes to the compiler, too.

`Frame.apply` is how a frame of this interpreter calls anything. While a hook is entered, it is another function.

>>> def inner(x):
...     return (x + 1).relu()
>>> def outer(x):
...     print("largest:", x.sum().item())     # the graph of `outer` ends here, and before the call
...     return inner(x) * 2
>>> hook = FrameHook()
>>> hook.run(outer, tensor([1.0, -3.0]))
largest: -2.0
tensor([4.0, 0.0])
>>> [region.function.__name__ for region in hook.regions.values()]
['outer']
"""
