"""Custom agents: who they are, where they are written down, and which of them answers in a session."""
