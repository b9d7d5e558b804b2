"""One module for each namespace of methods; handlers look up, call and return."""
