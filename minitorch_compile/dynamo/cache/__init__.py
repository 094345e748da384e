"""The compiled versions of each function, and the shortest way to the right one."""
