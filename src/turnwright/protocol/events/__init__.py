"""Event types, one module for each family, and the table of them all."""
