"""torch.distributed.algorithms: what several processes need to keep in step."""
