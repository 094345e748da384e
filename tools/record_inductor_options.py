"""Records which options PyTorch's kernel generator has: minitorch_compile/compiler/pytorch_options.json.

    /path/to/python-with-torch tools/record_inductor_options.py

Of `torch._inductor.config`: names and defaults, of those whose value is a word or a number, and which aren't about
PyTorch's own build, tests, or hardware that is neither a CPU nor NVIDIA's.
"""

from __future__ import annotations

import json
from pathlib import Path

WHERE = Path(__file__).resolve().parents[1] / "minitorch_compile" / "compiler" / "pytorch_options.json"
LEFT_OUT = (
    "_",
    "TYPE_CHECKING",
    "rocm.",
    "xpu",
    "halide.",
    "fx_wrapper",
    "is_nightly",
    "worker_log",
    "global_cache",
    "test_",
)


def main() -> None:
    from torch._inductor import config

    found = {
        name: value
        for name, value in config.get_config_copy().items()
        if isinstance(value, (bool, int, float, str, type(None)))
        and not name.startswith(LEFT_OUT)
        and "TESTING_ONLY" not in name
    }
    found |= {"compile_threads": None}  # the processors of the machine
    WHERE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
