"""JSON-RPC 2.0 over any pair of byte streams; knows no method by name."""
