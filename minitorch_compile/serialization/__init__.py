"""save() and load(): tensors in files, and never code.

`save` writes the safetensors format: a header in JSON and the bytes of the tensors. `load` reads it, and PyTorch's own
`.pt` and `.pth` files as well; those are pickles, of which only a short list of names is followed. A file that can't be
read, or asks for more than data, is an UnreadableFileError.

>>> import io
>>> from minitorch_compile import nn, tensor
>>> file = io.BytesIO()
>>> save({"epoch": 3, "model": nn.Linear(2, 1).state_dict()}, file)
>>> _ = file.seek(0)
>>> checkpoint = load(file)
>>> checkpoint["epoch"], list(checkpoint["model"])
(3, ['weight', 'bias'])
"""

from minitorch_compile.serialization import config
from minitorch_compile.serialization.allowed_names import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from minitorch_compile.serialization.byte_order import (
    LoadEndianness,
    get_default_load_endianness,
    set_default_load_endianness,
)
from minitorch_compile.serialization.config import (
    get_crc32_options,
    get_default_mmap_options,
    set_crc32_options,
    set_default_mmap_options,
)
from minitorch_compile.serialization.file_reader import PyTorchFileReader
from minitorch_compile.serialization.locations import (
    default_restore_location,
    location_tag,
    register_package,
    validate_cuda_device,
)
from minitorch_compile.serialization.save_load import MAP_LOCATION, load, save
from minitorch_compile.serialization.skipped_data import skip_data
from minitorch_compile.serialization.torch_file import get_unsafe_globals_in_checkpoint
from minitorch_compile.serialization.unreadable_file import UnreadableFileError

__all__ = [
    "MAP_LOCATION",
    "LoadEndianness",
    "PyTorchFileReader",
    "UnreadableFileError",
    "add_safe_globals",
    "clear_safe_globals",
    "config",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
    "validate_cuda_device",
]
