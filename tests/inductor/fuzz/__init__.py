"""Random programs made of the lines of the call sheets, compiled and compared. See __main__.py."""
