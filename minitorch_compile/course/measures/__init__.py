"""What the exercises measure: programs as loops that can be counted, joint graphs that can be cut."""
