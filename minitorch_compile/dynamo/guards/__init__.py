"""What must still hold for a compiled function to be used again, and how that is asked quickly."""
