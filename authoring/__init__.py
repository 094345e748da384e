"""The sources of the course: lessons, exercises, and how each exercise is judged."""
