"""What the process with the learner's code may do to the machine: as little as the platform lets us say."""
