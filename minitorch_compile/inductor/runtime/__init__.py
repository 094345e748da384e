"""What compiled graphs stand on: native calls, threads, memory, processes that compile, files on disk."""
