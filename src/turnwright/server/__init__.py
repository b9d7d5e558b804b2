"""The wire: connections and the methods that they may call."""
