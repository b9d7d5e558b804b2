"""Turnwright: an agent runtime that accounts for every turn."""

__version__ = "0.1.0"
