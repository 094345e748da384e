"""The viewer: one compilation as one HTML page. `stages.py` gathers the data, `page.py` writes the page."""
