"""Which model answers, who serves it, and how requests get there."""
