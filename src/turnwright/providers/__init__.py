"""Model providers: the protocol, and the endpoints that speak it."""
