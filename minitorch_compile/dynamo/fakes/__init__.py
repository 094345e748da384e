"""What calls on tensors give while tracing, without data: shapes, unknown sizes, histories, what may fail."""
