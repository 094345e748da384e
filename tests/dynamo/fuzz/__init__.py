"""Random Python programs, plain against compiled: `make fuzz`, or python -m tests.dynamo.fuzz --count 5000."""
