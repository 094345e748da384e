"""torch.distributed.checkpoint: a file for each process. One process has torch.save and torch.load.

>>> load({}, checkpoint_id="folder")
Traceback (most recent call last):
NotImplementedError: distributed.checkpoint.load: processes can't work together here; with one, leave it out, ...
"""

from minitorch_compile.distributed.across_processes import refused_class, refused_function

DefaultLoadPlanner = refused_class("DefaultLoadPlanner")
DefaultSavePlanner = refused_class("DefaultSavePlanner")
FileSystemReader = refused_class("FileSystemReader")
FileSystemWriter = refused_class("FileSystemWriter")
HuggingFaceStorageReader = refused_class("HuggingFaceStorageReader")
HuggingFaceStorageWriter = refused_class("HuggingFaceStorageWriter")
load = refused_function("distributed.checkpoint.load")
load_state_dict = refused_function("distributed.checkpoint.load_state_dict")
save = refused_function("distributed.checkpoint.save")
save_state_dict = refused_function("distributed.checkpoint.save_state_dict")
