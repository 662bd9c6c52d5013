"""Conversations: trees of questions with their answers, told by events that outlast clients."""
