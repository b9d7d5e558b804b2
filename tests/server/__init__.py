"""What a client may ask of the runtime, over the wire."""
