"""The drawings of the lessons: SVG that a notebook shows, and tables."""
