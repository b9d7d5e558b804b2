"""The speed yardstick: our runtime beside the least that a Python server can do on the same wire."""
