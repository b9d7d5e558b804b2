"""The tools on offer, and what becomes of a call."""
