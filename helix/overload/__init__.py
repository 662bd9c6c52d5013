"""The way from a socket to an answer: connections, limits, turns, places, early refusal."""
