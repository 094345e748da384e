"""torch.distributed.algorithms._checkpoint: its `checkpoint_wrapper` is `utils/checkpoint_wrapper.py`."""
