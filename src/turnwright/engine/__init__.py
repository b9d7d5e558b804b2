"""The loop, the session, and everything that decides."""
