"""Types of the wire and of the log: msgspec structs and nothing else."""
