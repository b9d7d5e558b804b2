"""How sessions are described, copied, cut back, and let go."""
