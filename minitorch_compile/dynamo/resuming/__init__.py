"""The rest of a function as a function: code objects that go on in the middle."""
