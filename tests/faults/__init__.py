"""Faults that are forced upon logs, and the counting of what they lose: see scripts/faults."""
