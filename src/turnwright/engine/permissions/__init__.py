"""What a session may do: rules, what was allowed before, and the user."""
