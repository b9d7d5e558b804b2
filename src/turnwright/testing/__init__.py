"""For tests of agents: a scripted model, a strict model server, transcripts."""
