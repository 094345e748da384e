"""The loop IR: what a kernel computes, as loops over index expressions, and what that means."""
