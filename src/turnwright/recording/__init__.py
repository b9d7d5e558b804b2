"""Recordings: the model's side of a session in one file, to be looked at, compared and run again."""
