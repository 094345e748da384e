"""A process that compiles kernels for another one, and keeps them where that one finds them (`object_store`).

    python -m minitorch_compile.inductor.runtime.compile_worker      started by `compile_pool`, which talks to it

A request is a line of JSON: `["read", text]` gives the definitions of a generated file, `["compile", name, key]` asks
for one of its kernels. The answer is a line `true` or `false`: whether the kernel lies on disk now under that key. (It
doesn't if this process sees another function under its name than the one that asks.) The process ends with its input,
or after a minute without a request.

>>> definitions("import math\\nx = 1\\ncall = NativeCall(\\n    steps=[],\\n)")
'import math\\nx = 1'
"""

from __future__ import annotations

from pathlib import Path

from minitorch_compile.inductor.runtime import code_cache, kernel_function, native_loop, object_store
from minitorch_compile.inductor.runtime.worker_answers import serve_over_pipes


def definitions(source: str) -> str:
    """The part of a generated file that defines kernels, without the list that calls them."""
    return source.partition("\ncall = NativeCall(")[0]


def compiled_here(name: str, key: str) -> bool:
    """Compiles a kernel that was read before; whether it is on disk now."""
    function = kernel_function.known(name)
    if function is None or function.key != key:
        return False
    return bool(function.address) and object_store.path_of(key).exists()


def answer(request: list[str]) -> bool:
    kind, *arguments = request
    if kind == "compile":
        return compiled_here(*arguments)
    text = definitions(*arguments)
    name = f"minitorch_compile_generated_{code_cache.cache_key(text)}"
    code_cache.run_module(text, Path(f"<{name}>"), name)
    return True


if __name__ == "__main__":
    native_loop.thread_functions()  # from now on they are known by name
    serve_over_pipes(object_store.environment(), answer)
