"""The log as the one way in which anything happens, and who hears of it."""
