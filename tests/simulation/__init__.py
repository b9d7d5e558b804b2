"""A whole session in one process: chance alone decides what goes wrong, and a seed decides chance."""
