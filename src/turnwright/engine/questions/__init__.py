"""Questions to clients and their users, and what the log left open."""
