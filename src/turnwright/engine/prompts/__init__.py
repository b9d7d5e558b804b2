"""What the model reads before the conversation, and with each message."""
