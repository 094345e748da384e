"""Where the learner's files are, and how they are read in whatever state they are in."""
