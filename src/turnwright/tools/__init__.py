"""Tools that a model can call: the protocol, and those that touch the machine."""
